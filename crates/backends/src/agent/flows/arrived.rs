//! The receiver's observations of flows: metrics over all messages, computed by
//! a thread that receives the records of a session.

use std::collections::BTreeMap;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use anyhow::{Context, Result, anyhow};
use meter::time_series::TimeSeries;
use meter::{FlowRecorder, Summary};
use serde::{Deserialize, Serialize};
use traffic::driver::sessions::{
    Asked, Entry, KeepSession, Meter, OutOfOrder, Record, Records, Report, SETTLING, Session,
};
use units::{Bytes, Span, Time};

use traffic::driver::packet_log::{LogOwner, PacketLog, Zero};

/// Capacity of the queue in bundles of records.
const WAITING: usize = 64;

/// The receiver's observations of a flow; times in nanoseconds.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Arrived {
    pub(crate) messages: u64,
    pub(crate) bytes: u64,
    pub(crate) overflowed: u64,
    pub(crate) unstamped: u64,
    /// How late this program stamps arrivals over loopback; `None` where the kernel stamps them.
    pub(crate) stamps_late: Option<u64>,
    pub(crate) merged: u64,
    /// Delays from just before the write to the kernel's stamp of the last
    /// byte.
    pub(crate) summary: Summary,
    /// Delays from just before the write until the program has the last byte.
    pub(crate) by_program: Summary,
    /// The first arrival, since the session's start.
    pub(crate) first: Option<u64>,
    /// Received bytes and the time in which they arrived; `None` if that time
    /// is zero.
    pub(crate) counted: Option<(u64, u64)>,
    /// Bytes and one-way delays over time, duplicates excluded.
    pub(crate) over_time: TimeSeries,
    /// Every n-th message.
    pub(crate) samples: Vec<Sample>,
    /// CPU time of the receiving process for all flows.
    pub(crate) cpu: u64,
}

/// The arrival of a message.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Sample {
    pub(crate) sequence: u64,
    pub(crate) bytes: u32,
    pub(crate) received: u64,
}

#[cfg(test)]
impl Arrived {
    /// The observations of a flow of which no message was recorded.
    pub(super) fn of(report: &Report) -> Self {
        FlowArrivals::default().finish(report)
    }
}

/// Receives the records of the next session.
pub(super) struct Collector {
    every: NonZero<u64>,
    log: Option<PathBuf>,
    thread: Arc<Mutex<Option<Collecting>>>,
}

struct Collecting {
    thread: JoinHandle<BTreeMap<u16, FlowArrivals>>,
    log: Option<PacketLog>,
}

/// The received messages of one flow.
#[derive(Default)]
struct FlowArrivals {
    expected: u64,
    stamped: FlowRecorder,
    read: FlowRecorder,
    arrivals: Vec<Arrival>,
    /// The latest read by the program.
    latest_read: u64,
    out_of_order: Option<OutOfOrder>,
    samples: Vec<Sample>,
}

/// A message that arrived; times in nanoseconds.
struct Arrival {
    sequence: u64,
    sent: u64,
    at: u64,
    bytes: u64,
}

const NO_PANIC: &str = "nobody panics with it in hand";

impl Collector {
    pub(super) fn new(every: NonZero<u64>, log: Option<PathBuf>) -> Self {
        Self {
            every,
            log,
            thread: Arc::default(),
        }
    }

    /// The callback for a session that opens its first flow.
    pub(super) fn keep(&self) -> KeepSession {
        let (every, log, thread) = (self.every, self.log.clone(), Arc::clone(&self.thread));
        Box::new(move |session| {
            let (collecting, records) =
                begin(every, log.as_deref(), session).map_err(|error| format!("{error:#}"))?;
            thread.lock().expect(NO_PANIC).replace(collecting);
            Ok(Some(records))
        })
    }

    /// The observations of all flows, in the order of their numbers.
    pub(super) fn end(self, reports: &[(Asked, Report)]) -> Result<Vec<Arrived>> {
        let collecting = self.thread.lock().expect(NO_PANIC).take();
        let collecting = collecting.context("no flow was opened")?;
        let flows = collecting.thread.join();
        let mut flows = flows.map_err(|_| anyhow!("the thread that takes arrivals panicked"))?;
        if let Some(log) = collecting.log {
            log.end()?;
        }
        let arrived = reports.iter().map(|(flow, report)| {
            let arrivals = flows.remove(&flow.flow).unwrap_or_default();
            match flow.meter {
                Meter::OneWay => arrivals.finish(report),
                // Its messages are timed by round trip, and their one-way times
                // are by this program's clock instead of the kernel's stamps.
                Meter::RoundTrip => FlowArrivals::default().finish(report),
            }
        });
        Ok(arrived.collect())
    }
}

fn begin(
    every: NonZero<u64>,
    log: Option<&Path>,
    session: &Session,
) -> Result<(Collecting, Records)> {
    let zero = Zero {
        sender: session.epoch,
        here: session.offset.to_other(session.epoch),
    };
    let opened = match log {
        Some(path) => Some(PacketLog::create(path, LogOwner::Receiver, zero)?),
        None => None,
    };
    let (log, onward) = opened.unzip();
    let (records, entries) = sync_channel(WAITING);
    let body = move || collect(&entries, every, onward.as_ref());
    let thread = thread::Builder::new().name("arrivals".to_owned());
    let thread = thread.spawn(body).context("starting a thread")?;
    Ok((Collecting { thread, log }, records))
}

fn collect(
    entries: &Receiver<Entry>,
    every: NonZero<u64>,
    onward: Option<&Records>,
) -> BTreeMap<u16, FlowArrivals> {
    let mut flows: BTreeMap<u16, FlowArrivals> = BTreeMap::new();
    for entry in entries {
        match &entry {
            Entry::Records(records) => {
                for record in records {
                    flows.entry(record.flow).or_default().take(record, every);
                }
            }
            Entry::Sent { flow, messages, .. } => {
                flows.entry(*flow).or_default().expected = *messages;
            }
            Entry::OutOfOrder(noted) => {
                flows.entry(noted.flow).or_default().out_of_order = Some(*noted);
            }
            Entry::Flow(_) | Entry::Clocks(..) => {}
        }
        if let Some(onward) = onward {
            // A failed writer has reported its own error.
            let _ = onward.send(entry);
        }
    }
    flows
}

impl FlowArrivals {
    fn take(&mut self, record: &Record, every: NonZero<u64>) {
        let Some(received) = record.received else {
            return;
        };
        let at = |nanos: u64| Time::from_picos(nanos.saturating_mul(1_000));
        let (sent, size) = (at(record.sent), Bytes::new(record.size.into()));
        let number = record.sequence;
        self.stamped.record(number, sent, at(received), size);
        let read = record.read.unwrap_or(received);
        self.read.record(number, sent, at(read), size);
        self.latest_read = self.latest_read.max(read);
        self.arrivals.push(Arrival {
            sequence: number,
            sent: record.sent,
            at: received,
            bytes: record.size.into(),
        });
        if number.is_multiple_of(every.get()) {
            self.samples.push(Sample {
                sequence: number,
                bytes: record.size,
                received,
            });
        }
    }

    fn finish(self, report: &Report) -> Arrived {
        let (counted, over_time) = (self.counted(), self.over_time());
        let first = self.arrivals.iter().map(|arrival| arrival.at).min();
        let expected = self.expected.max(report.messages);
        Arrived {
            messages: report.messages,
            bytes: report.bytes,
            overflowed: report.overflowed.unwrap_or(0),
            unstamped: report.unstamped,
            stamps_late: report.stamps.map(|stamps| stamps.late),
            merged: report.merged,
            summary: self.stamped.finish(expected),
            by_program: self.read.finish(expected),
            first,
            counted,
            over_time,
            samples: self.samples,
            cpu: 0,
        }
    }

    /// The bytes between the first and the last arrival, and the time between
    /// them. The bytes of the first arrival are excluded: they were carried before
    /// it. If segments of a stream arrived out of order, all that had arrived by then
    /// are excluded, and the time ends when the program has the last message: the
    /// kernel's stamp may be that of an earlier segment.
    fn counted(&self) -> Option<(u64, u64)> {
        let instants = || self.arrivals.iter().map(|arrival| arrival.at);
        let (first, last) = (instants().min()?, instants().max()?);
        let long = last - first > SETTLING * 2;
        let point = self.out_of_order.and_then(|noted| match long {
            true => noted.settled,
            false => noted.at_first,
        });
        let end = match self.out_of_order {
            Some(_) => last.max(self.latest_read),
            None => last,
        };
        let (begin, bytes) = match point {
            Some(point) => {
                // No message had arrived before it was sent.
                let sent = self.bytes_of(|arrival| arrival.sent <= point.at);
                let arrived = sent.min(point.bytes);
                (point.at, self.bytes_of(|_| true).saturating_sub(arrived))
            }
            None => {
                let from = if long { first + SETTLING } else { first };
                let begin = instants().filter(|at| *at >= from).min()?;
                (begin, self.bytes_of(|arrival| arrival.at > begin))
            }
        };
        (end > begin).then(|| (bytes, end - begin))
    }

    /// The first arrival of each message over time, since the start of the session.
    fn over_time(&self) -> TimeSeries {
        let mut series = TimeSeries::default();
        let mut firsts: Vec<&Arrival> = self.arrivals.iter().collect();
        // The sort is stable: of equal numbers the first arrival stays first.
        firsts.sort_by_key(|arrival| arrival.sequence);
        firsts.dedup_by_key(|arrival| arrival.sequence);
        for arrival in firsts {
            let at = Time::from_nanos(arrival.at);
            series.carried(at, Bytes::new(arrival.bytes));
            if let Some(delay) = arrival.at.checked_sub(arrival.sent) {
                series.took(at, Span::from_nanos(delay));
            }
        }
        series
    }

    fn bytes_of(&self, counts: impl Fn(&Arrival) -> bool) -> u64 {
        let arrivals = self.arrivals.iter().filter(|arrival| counts(arrival));
        arrivals.map(|arrival| arrival.bytes).sum()
    }
}

#[cfg(test)]
mod tests;
