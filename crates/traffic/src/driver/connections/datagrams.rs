//! Datagrams on schedules, in both ends' own threads.
//!
//! A sender does not poll the clock before a time: many hosts share few processors.
//! Datagrams that are due by then leave at once, and their timing error is recorded.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::sync::Arc;

use meter::departures::{Bursts, Distribution, PathMtu, Schedule};
use meter::streaming_recorder::Delays;
use meter::{FlowRecorder, Summary};
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, send};
use units::{Bytes, Seed, Span, Time};
use wire::control::Meter;
use wire::numbered::{LEN, Numbered};

use crate::driver::sessions::{Protocol, sizes};
use crate::driver::timeline::Timeline;
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::interrupt;
use os::pacing::Pacer;
use os::socket::{Kind, Options, UDP_RECEIVE_BUFFER, connect, open};
use os::sys::inbox::Inbox;
use os::sys::option;
use os::{clock, kernel_clock};

/// The longest wait without a look at the signals of the user.
const LOOK: Span = Span::from_millis(50);

/// Bytes behind the header, which mean nothing.
static NOTHING: [u8; 1 << 16] = [0; 1 << 16];

/// A flow of datagrams that begins at a host.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Departing {
    /// Its number in the trial.
    pub flow: u32,
    /// The address of this host, and the port of the flow.
    pub from: SocketAddr,
    /// The other end.
    pub to: SocketAddr,
    /// When its schedule begins.
    pub start: Span,
    /// From when on nothing is sent.
    pub stop: Span,
    /// Picoseconds from one datagram to the next.
    pub gaps: Distribution,
    /// Bytes of payload.
    pub payloads: Distribution,
    /// The on and off periods; `None`: always on.
    pub bursts: Option<Bursts>,
    /// The most datagrams.
    pub packets: Option<u64>,
    /// The bytes of payload after which it ends.
    pub bytes: Option<u64>,
    /// The seed of its schedule.
    pub seed: u64,
    /// The treatment of the path's MTU.
    pub path_mtu: PathMtu,
    /// SO_SNDBUF; `None` leaves it to the kernel.
    pub send_buffer: Option<Bytes>,
}

/// The end of a host at which flows of datagrams arrive.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Arriving {
    /// The port of all of them.
    pub at: SocketAddr,
    /// Their numbers.
    pub flows: Vec<u32>,
    /// How long what is in flight at the end is waited for.
    pub linger: Span,
    /// SO_RCVBUF; `None`: that of Jumbolab's receivers.
    pub receive_buffer: Option<Bytes>,
}

/// The departures of a flow of datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Departed {
    /// Datagrams that were due.
    pub offered: u64,
    /// Those of them that the kernel took, and their bytes.
    pub sent: u64,
    /// Bytes of payload sent.
    pub bytes: u64,
    /// Datagrams that the kernel rejected, or without room for the header.
    pub rejected: u64,
    /// When the first was due.
    pub first: Option<Span>,
    /// From the first to the last departure.
    pub lasted: Span,
    /// The median and the 99th percentile of the time from due to sent, and the longest.
    pub timing_error: Option<[Span; 3]>,
}

/// The arrivals of a flow of datagrams.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Arrived {
    /// Its number.
    pub flow: u32,
    /// Delays from just before sending to the kernel's stamp; it counts as lost what is
    /// missing up to the highest number that arrived.
    pub summary: Summary,
    /// The bytes of the first arrival.
    pub first_bytes: u64,
    /// The first and the last arrival.
    pub span: Option<[Span; 2]>,
    /// Arrivals without a stamp of the kernel.
    pub unstamped: u64,
}

/// The arrivals at a host.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Arrivals {
    /// The flows of which something did.
    pub flows: Vec<Arrived>,
    /// Datagrams for which the socket had no room.
    pub overflowed: u64,
}

/// The departures of a host.
pub(super) struct Departures(Vec<Flow>);

struct Flow {
    socket: OwnedFd,
    spec: Departing,
    schedule: Schedule,
    departed: Departed,
    begun: Option<Time>,
    timing_error: Delays,
}

impl Departures {
    /// Opens a socket for each flow.
    pub(super) fn open(flows: Vec<Departing>) -> Result<Self> {
        flows
            .into_iter()
            .map(Flow::open)
            .collect::<Result<_>>()
            .map(Self)
    }

    /// Sends what is due from `begin` on until all flows have stopped.
    pub(super) fn run(mut self, begin: Time) -> Result<Vec<Departed>> {
        let pacer = Pacer::sleeping()?;
        let mut queue = BinaryHeap::new();
        for (place, flow) in self.0.iter_mut().enumerate() {
            queue.extend(flow.next(begin).map(|next| Reverse((next, place))));
        }
        while let Some(Reverse(((due, size), place))) = queue.pop() {
            let mut now = clock::monotonic();
            while now < due && !interrupt::asked() {
                now = pacer.wait_until(due.min(now + LOOK));
            }
            if interrupt::asked() {
                return Err(Error::new("sending datagrams", "interrupted"));
            }
            let flow = &mut self.0[place];
            flow.send(begin, due, now, size);
            queue.extend(flow.next(begin).map(|next| Reverse((next, place))));
        }
        Ok(self.0.into_iter().map(Flow::finish).collect())
    }
}

impl Flow {
    fn open(spec: Departing) -> Result<Self> {
        let options = Options {
            bind: Some(spec.from),
            path_mtu: spec.path_mtu,
            send_buffer: spec.send_buffer,
            ..Options::default()
        };
        let socket = open(Kind::Datagram, spec.to.ip(), &options)?;
        connect(&socket, spec.to).during(|| format!("connecting to {}", spec.to))?;
        let least = Bytes::new(LEN as u64);
        let (_, most) = sizes(Some(Protocol::Udp), Meter::OneWay, spec.to.ip());
        let (gaps, payloads) = (spec.gaps.clone(), spec.payloads.clone());
        let mut schedule = Schedule::new(Time::ZERO, gaps, payloads, Seed::new(spec.seed));
        if let Some(bursts) = spec.bursts.clone() {
            schedule = schedule
                .bursts(bursts)
                .map_err(|bad| Error::new("a flow's periods", bad.to_string()))?;
        }
        if let Some(packets) = spec.packets {
            schedule = schedule.packets(packets);
        }
        if let Some(bytes) = spec.bytes {
            schedule = schedule.carried(least..=most).bytes(bytes);
        }
        Ok(Self {
            socket,
            schedule,
            departed: Departed::default(),
            begun: None,
            timing_error: Delays::default(),
            spec,
        })
    }

    /// The next datagram: when it is due, and its size.
    fn next(&mut self, begin: Time) -> Option<(Time, Bytes)> {
        let (at, size) = self.schedule.next()?;
        let later = Span::from_picos(at.as_picos());
        let due = begin + self.spec.start + later;
        (due < begin + self.spec.stop).then_some((due, size))
    }

    /// Sends the datagram that was `due`, unless the flow has stopped by now.
    fn send(&mut self, begin: Time, due: Time, now: Time, size: Bytes) {
        let departed = &mut self.departed;
        let first = due.since(begin).unwrap_or_default();
        departed.first.get_or_insert(first);
        departed.offered += 1;
        if now >= begin + self.spec.stop {
            return;
        }
        let mut room = [0; LEN];
        let numbered = Numbered {
            flow: self.spec.flow,
            number: u32::try_from(departed.sent).unwrap_or(u32::MAX),
            sent: now.since(begin).unwrap_or_default().as_nanos(),
        };
        let rest = usize::try_from(size.get()).unwrap_or(usize::MAX);
        let rest = rest.checked_sub(LEN).and_then(|rest| NOTHING.get(..rest));
        let (Some(rest), Ok(())) = (rest, numbered.emit(&mut room)) else {
            departed.rejected += 1;
            return;
        };
        let flags = MsgFlags::MSG_DONTWAIT;
        if send(self.socket.as_raw_fd(), &[&room, rest].concat(), flags).is_err() {
            departed.rejected += 1;
            return;
        }
        departed.sent += 1;
        departed.bytes += size.get();
        let begun = *self.begun.get_or_insert(now);
        departed.lasted = now.since(begun).unwrap_or_default();
        let late = now.since(due).unwrap_or_default();
        self.timing_error.record(late.as_nanos());
    }

    fn finish(mut self) -> Departed {
        let at = |quantile| self.timing_error.quantile_in_nanos(quantile);
        let most = self.timing_error.max_in_nanos();
        let nanos = at(0.5).zip(at(0.99)).zip(most);
        self.departed.timing_error =
            nanos.map(|((median, p99), most)| [median, p99, most].map(Span::from_nanos));
        self.departed
    }
}

/// The port of a host at which datagrams arrive.
pub(super) struct Receiver {
    socket: OwnedFd,
    flows: BTreeMap<u32, Flowing>,
    linger: Span,
}

#[derive(Default)]
struct Flowing {
    recorder: FlowRecorder,
    /// One more than the highest number.
    expected: u64,
    first_bytes: u64,
    span: Option<[Span; 2]>,
    unstamped: u64,
}

impl Receiver {
    pub(super) fn open(arriving: &Arriving) -> Result<Self> {
        let options = Options {
            bind: Some(arriving.at),
            receive_buffer: arriving.receive_buffer.or(Some(UDP_RECEIVE_BUFFER)),
            timeout: Some(LOOK),
            stamps: true,
            ..Options::default()
        };
        let socket = open(Kind::Datagram, arriving.at.ip(), &options)?;
        Ok(Self {
            socket,
            flows: arriving
                .flows
                .iter()
                .map(|flow| (*flow, Flowing::default()))
                .collect(),
            linger: arriving.linger,
        })
    }

    /// Records what arrives of a trial from `begin` to `end`, and a while later.
    pub(super) fn run(mut self, begin: Time, end: Time) -> Result<Arrivals> {
        let deadline = Deadline::new(end + self.linger, &Arc::default());
        let mut inbox = Inbox::of_datagrams(LEN);
        let mut timeline = Timeline::new(kernel_clock::nanos_of(begin));
        while let Ok(permit) = deadline.permit() {
            match inbox.take(self.socket.as_fd(), false, permit) {
                Ok(_) => {}
                Err(Errno::EAGAIN | Errno::EINTR) => continue,
                Err(error) => return Err(error).during(|| "receiving datagrams"),
            }
            let now = clock::monotonic();
            for (place, taken) in inbox.taken().iter().enumerate() {
                let stamp = taken.stamp;
                let stamp = stamp.and_then(|stamp| timeline.nanos_of_stamp(stamp, now));
                let read = timeline.nanos(now);
                self.record(inbox.bytes(place), taken.length, stamp, read);
            }
        }
        let overflowed = option::dropped(self.socket.as_fd());
        let overflowed = overflowed.during(|| "asking how many datagrams found no room")?;
        let flows = self
            .flows
            .into_iter()
            .filter(|(_, flow)| flow.span.is_some());
        Ok(Arrivals {
            flows: flows.map(|(number, flow)| flow.finish(number)).collect(),
            overflowed: overflowed.into(),
        })
    }

    /// Records a datagram of `length` bytes with the kernel's `stamp`, read at `read`.
    fn record(&mut self, bytes: &[u8], length: usize, stamp: Option<u64>, read: u64) {
        let Ok(header) = Numbered::parse(bytes) else {
            return;
        };
        let Some(flow) = self.flows.get_mut(&header.flow) else {
            return;
        };
        flow.unstamped += u64::from(stamp.is_none());
        let at = Span::from_nanos(stamp.unwrap_or(read));
        let number = u64::from(header.number);
        let size = Bytes::new(length as u64);
        let (sent, received) = (Time::from_nanos(header.sent), Time::ZERO + at);
        flow.recorder.record(number, sent, received, size);
        flow.expected = flow.expected.max(number + 1);
        flow.span = match flow.span {
            None => {
                flow.first_bytes = size.get();
                Some([at, at])
            }
            Some([first, last]) => Some([first.min(at), last.max(at)]),
        };
    }
}

impl Flowing {
    fn finish(self, flow: u32) -> Arrived {
        Arrived {
            flow,
            summary: self.recorder.finish(self.expected),
            first_bytes: self.first_bytes,
            span: self.span,
            unstamped: self.unstamped,
        }
    }
}

#[cfg(test)]
mod tests;
