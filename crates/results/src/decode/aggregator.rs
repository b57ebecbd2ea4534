//! Aggregates the records of all flows of a packet log.

mod clock_offset;
mod slice;

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use anyhow::{Result, bail};
use meter::ditg::{DitgLosses, DitgRecorder};
use meter::streaming_recorder::{Arrival, DelayRecorder, FlowSummary, StreamingFlowRecorder};
use wire::log::{Clock, Estimate, Facts, Flow, Record, Role, Sent};

use super::merger::{Merger, Waiting};
use super::row::{Departures, Row, RowStats, Scope};
use super::{Definitions, MOST_FLOWS, MOST_ROWS, Request};
use clock_offset::ClockOffset;
use slice::SliceAggregator;

/// Accumulates statistics while records are read.
pub(super) struct LogAggregator {
    pub(super) facts: Option<Facts>,
    definitions: Definitions,
    by_flow: bool,
    /// The length of an interval in nanoseconds.
    interval: Option<u64>,
    flows: Vec<FlowAggregator>,
    /// The index in `flows` by flow number.
    places: BTreeMap<u32, usize>,
    /// Number and index of the flow of the previous record.
    latest: Option<(u32, usize)>,
    /// All flows mixed, in the order of time.
    ditg: DitgRecorder,
    /// The first arrival of the log in nanoseconds, if intervals are requested.
    first: Option<u64>,
    /// The interval of the latest arrival, counted from the first arrival.
    current: u64,
    slice: SliceAggregator,
    slices: Vec<Row>,
}

/// The accumulated state of one flow.
#[derive(Default)]
struct FlowAggregator {
    flow: Option<Flow>,
    sent: Option<Sent>,
    estimates: Vec<Estimate>,
    /// The clock offset derived from the estimates.
    offset: ClockOffset,
    recorder: Option<StreamingFlowRecorder>,
    ditg: DitgRecorder,
    losses: DitgLosses,
    slice: SliceAggregator,
    /// One more than the highest number in a log of round trips.
    asked: u64,
}

impl LogAggregator {
    pub(super) fn new(request: &Request) -> Self {
        Self {
            facts: None,
            definitions: request.definitions,
            by_flow: request.by_flow,
            interval: request.interval.map(|interval| interval.as_nanos().max(1)),
            flows: Vec::new(),
            places: BTreeMap::new(),
            latest: None,
            ditg: DitgRecorder::default(),
            first: None,
            current: 0,
            slice: SliceAggregator::default(),
            slices: Vec::new(),
        }
    }

    pub(super) fn describe(&mut self, flow: Flow) -> Result<()> {
        let number = flow.number;
        self.flow(number)?.flow = Some(flow);
        Ok(())
    }

    pub(super) fn sent(&mut self, sent: Sent) -> Result<()> {
        self.flow(sent.flow)?.sent = Some(sent);
        Ok(())
    }

    /// Takes an estimate of the clock offset. Only the earliest and the latest one
    /// count.
    pub(super) fn estimate(&mut self, estimate: Estimate) -> Result<()> {
        let flow = self.flow(estimate.flow)?;
        flow.estimates.push(estimate);
        flow.estimates.sort_by_key(|estimate| estimate.at);
        if flow.estimates.len() > 2 {
            flow.estimates.remove(1);
        }
        flow.offset = ClockOffset::of(&flow.estimates);
        Ok(())
    }

    /// The earliest time of a block's records.
    ///
    /// # Errors
    /// The log has too many flows.
    pub(super) fn earliest(&mut self, records: impl Iterator<Item = Record>) -> Result<u64> {
        let role = self.role();
        let mut earliest = u64::MAX;
        let mut latest = None;
        for record in records {
            if latest != Some(record.flow) {
                self.place(record.flow)?;
                latest = Some(record.flow);
            }
            earliest = instant(role, &record).map_or(earliest, |at| earliest.min(at));
        }
        Ok(earliest)
    }

    /// Adds the records of a block to those that wait for their turn.
    ///
    /// # Errors
    /// Too many records wait.
    pub(super) fn queue(
        &mut self,
        records: impl Iterator<Item = Record>,
        merger: &mut Merger,
    ) -> Result<()> {
        let role = self.role();
        let mut pieces: BTreeMap<u32, Vec<Waiting>> = BTreeMap::new();
        for record in records {
            let Some(at) = instant(role, &record) else {
                // A request without an answer.
                let asked = &mut self.flow(record.flow)?.asked;
                *asked = record.sequence.saturating_add(1).max(*asked);
                continue;
            };
            let waiting = Waiting::of(at, &record);
            pieces.entry(record.flow).or_default().push(waiting);
        }
        for (flow, records) in pieces {
            merger.push(flow, records)?;
        }
        Ok(())
    }

    /// Adds the records of a block in their order.
    ///
    /// # Errors
    /// There are too many rows.
    pub(super) fn take(&mut self, records: impl Iterator<Item = Record>) -> Result<()> {
        let role = self.role();
        for record in records {
            if let Some(at) = instant(role, &record) {
                self.record(record.flow, &Waiting::of(at, &record))?;
            }
        }
        Ok(())
    }

    /// Adds a record of `flow`, in the order of time.
    ///
    /// # Errors
    /// There are too many rows.
    #[inline]
    pub(super) fn record(&mut self, flow: u32, record: &Waiting) -> Result<()> {
        // Usually the flow of the previous record.
        let place = match self.latest {
            Some((number, place)) if number == flow => place,
            _ => self.place(flow)?,
        };
        self.latest = Some((flow, place));
        let at = record.at;
        if let Some(interval) = self.interval {
            let first = *self.first.get_or_insert(at);
            let now = at.saturating_sub(first) / interval;
            if now > self.current {
                self.end_of_interval(interval)?;
                self.current = now;
            }
        }
        let role = self.role();
        let flow = &mut self.flows[place];
        let after = |instant: u64| instant.wrapping_sub(record.sent).cast_signed();
        let delay = match role {
            Role::Sender => None,
            Role::Receiver => record
                .arrived
                .then(|| after(at).wrapping_sub(flow.offset.when(at))),
            Role::RoundTrip => Some(after(at)),
        };
        let expected = flow.sent.map(|sent| sent.packets);
        let recorder = flow
            .recorder
            .get_or_insert_with(|| StreamingFlowRecorder::new(expected));
        let place = recorder.record(Arrival {
            sequence: record.sequence,
            at,
            delay,
            size: record.size,
        });
        let ditg = self.definitions == Definitions::Ditg;
        if ditg {
            let delay = delay.unwrap_or_default();
            self.ditg.record(at, delay, record.size);
            flow.ditg.record(at, delay, record.size);
            flow.losses.record(record.sequence.saturating_add(1));
        }
        if self.interval.is_some() {
            self.slice.record(place, at, delay, record.size, ditg);
            if self.by_flow {
                flow.slice.record(place, at, delay, record.size, ditg);
            }
        }
        Ok(())
    }

    fn role(&self) -> Role {
        self.facts.map_or(Role::Receiver, |facts| facts.role)
    }

    /// Completes the rows of the current interval.
    fn end_of_interval(&mut self, interval: u64) -> Result<()> {
        let definitions = self.definitions;
        let role = self.role();
        let start = self.current.saturating_mul(interval);
        let mut row = |scope: Scope, slice: &mut SliceAggregator| {
            if slice.packets > 0 {
                self.slices.push(Row {
                    log: String::new(),
                    scope,
                    start: Some(seconds(start)),
                    stats: std::mem::take(slice).stats(definitions, role, interval),
                });
            }
        };
        row(Scope::All, &mut self.slice);
        for (number, place) in self.places.iter().filter(|_| self.by_flow) {
            let flow = &mut self.flows[*place];
            row(flow.scope(*number), &mut flow.slice);
        }
        if self.slices.len() > MOST_ROWS {
            bail!("--interval: more than {MOST_ROWS} rows; use a longer interval");
        }
        Ok(())
    }

    /// The kind and the writer of the log, in one line.
    pub(super) fn title(&self, name: &str) -> String {
        let Some(facts) = self.facts else {
            return name.into();
        };
        let role = match facts.role {
            Role::Sender => "sender's log",
            Role::Receiver => "receiver's log",
            Role::RoundTrip => "log of round trips",
        };
        let clock = |what: &str, clock| {
            let clock = match clock {
                Clock::None => return None,
                Clock::Program => "the program",
                Clock::Kernel => "the kernel",
                Clock::Hardware => "the interface",
                Clock::Simulation => "the simulation",
            };
            Some(format!("{what} stamped by {clock}"))
        };
        let began = (facts.wall > 0).then(|| {
            let instant = SystemTime::UNIX_EPOCH + Duration::from_nanos(facts.wall);
            format!("began {}", humantime::format_rfc3339_millis(instant))
        });
        let parts = [
            Some(format!("{name}: {role}")),
            began,
            clock("sending", facts.sent),
            clock("arrival", facts.received),
            clock("return", facts.returned),
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
    }

    /// The rows of the whole log, then of intervals.
    pub(super) fn rows(mut self, name: &str) -> Result<Vec<Row>> {
        if let Some(interval) = self.interval {
            self.end_of_interval(interval)?;
        }
        let role = self.role();
        let mut rows = vec![Row {
            log: name.into(),
            scope: Scope::All,
            start: None,
            stats: self.all(role),
        }];
        let mut each = self.places.iter().map(|(number, place)| {
            let flow = &self.flows[*place];
            Row {
                log: name.into(),
                scope: flow.scope(*number),
                start: None,
                stats: flow.stats(self.definitions, role),
            }
        });
        if self.places.len() == 1 {
            // With a single flow, its row replaces the row of all flows.
            rows = each.collect();
        } else if self.by_flow {
            rows.extend(each.by_ref());
        }
        rows.extend(self.slices.into_iter().map(|row| Row {
            log: name.into(),
            ..row
        }));
        Ok(rows)
    }

    /// The statistics of all flows together.
    fn all(&self, role: Role) -> RowStats {
        let mut delays = DelayRecorder::default();
        let mut total: Option<FlowSummary> = None;
        let mut span: Option<(u64, u64)> = None;
        // The first packet's bytes of the flow that began first.
        let mut first_bytes = 0;
        let mut bound = None;
        let mut losses = DitgLosses::default();
        for place in self.places.values() {
            let flow = &self.flows[*place];
            let (summary, recorder) = flow.recorded(role);
            delays.add(recorder.delays());
            losses.add(&flow.losses);
            bound = bound.max(flow.offset.bound);
            if let Some((first, last)) = recorder.span() {
                let (start, end) = span.unwrap_or((first, last));
                if span.is_none() || first < start {
                    first_bytes = recorder.first_bytes();
                }
                span = Some((start.min(first), end.max(last)));
            }
            match &mut total {
                None => total = Some(summary),
                Some(total) => {
                    total.received += summary.received;
                    total.bytes = total.bytes.saturating_add(summary.bytes);
                    total.unstamped += summary.unstamped;
                    total.order.add(&summary.order);
                }
            }
        }
        let mut total = total.unwrap_or_else(|| StreamingFlowRecorder::new(None).summary(None));
        total.seconds = span.map_or(0.0, |(first, last)| seconds(last - first));
        // Flows may differ in duration, so the sum of their rates may exceed
        // the rate of any link.
        let timed = total.bytes.saturating_sub(first_bytes);
        total.goodput = (total.seconds > 0.0).then(|| timed as f64 * 8.0 / total.seconds);
        total.delay = delays.summary();
        by_definitions(self.definitions, role, total, bound, (&self.ditg, losses))
    }

    fn flow(&mut self, number: u32) -> Result<&mut FlowAggregator> {
        let place = self.place(number)?;
        Ok(&mut self.flows[place])
    }

    /// The index of a flow in `flows`; new flows are added.
    fn place(&mut self, number: u32) -> Result<usize> {
        if let Some(place) = self.places.get(&number) {
            return Ok(*place);
        }
        let place = self.flows.len();
        if place == MOST_FLOWS {
            bail!("this log has more than {MOST_FLOWS} flows; write several logs");
        }
        self.flows.push(FlowAggregator::default());
        self.places.insert(number, place);
        Ok(place)
    }
}

impl FlowAggregator {
    fn scope(&self, number: u32) -> Scope {
        self.flow
            .as_ref()
            .map_or(Scope::Number(number), |flow| Scope::Flow(flow.clone()))
    }

    fn recorded(&self, role: Role) -> (FlowSummary, StreamingFlowRecorder) {
        let expected = self.sent.map(|sent| sent.packets);
        let asked = (self.asked > 0).then_some(self.asked);
        let recorder = self
            .recorder
            .clone()
            .unwrap_or_else(|| StreamingFlowRecorder::new(expected));
        let mut summary = recorder.summary(expected.max(asked));
        if role == Role::Sender {
            // The log cannot state this.
            summary.unstamped = 0;
        }
        (summary, recorder)
    }

    fn stats(&self, definitions: Definitions, role: Role) -> RowStats {
        let (summary, _) = self.recorded(role);
        let ditg = (&self.ditg, self.losses);
        by_definitions(definitions, role, summary, self.offset.bound, ditg)
    }
}

/// The time at which a record was made; `None` for a request without an answer.
fn instant(role: Role, record: &Record) -> Option<u64> {
    match role {
        Role::Sender => Some(record.sent),
        Role::Receiver => Some(record.received.unwrap_or(record.sent)),
        Role::RoundTrip => record.returned,
    }
}

/// The statistics to report for a log or one of its flows. A sender's log has
/// no arrivals.
fn by_definitions(
    definitions: Definitions,
    role: Role,
    summary: FlowSummary,
    bound: Option<u64>,
    (ditg, losses): (&DitgRecorder, DitgLosses),
) -> RowStats {
    match (definitions, role) {
        (Definitions::Standard, Role::Sender) => RowStats::Departures(Departures {
            sent: summary.order.expected,
            logged: summary.received,
            bytes: summary.bytes,
            seconds: summary.seconds,
            rate: summary.goodput,
        }),
        (Definitions::Standard, _) => RowStats::Standard(Box::new(summary), bound.map(seconds)),
        (Definitions::Ditg, Role::Sender) => RowStats::Ditg(ditg.stats().of_departures(), None),
        (Definitions::Ditg, _) => RowStats::Ditg(ditg.stats(), Some(losses)),
    }
}

/// Converts nanoseconds to seconds.
fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}
