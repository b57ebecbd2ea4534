//! Flows as configured at their sender.

use std::net::{IpAddr, SocketAddr};

use crate::machine::control::FlowBounds;
use meter::departures::{Distribution, Schedule};
use units::{Bytes, Rate, Seed, Span, Time};
use wire::control::{Codec, Meter, Name, Protocol};

use super::options::{Options, sizes};
use super::payload::Payload;

/// A flow as configured at its sender.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Name of the flow.
    pub name: Name,
    /// The transport; `None`: ICMP echoes.
    pub transport: Option<Protocol>,
    /// The delay that is measured.
    pub meter: Meter,
    /// Departures and sizes of messages, relative to the start of the flow.
    pub schedule: Schedule,
    /// Whether gaps are kept. Otherwise messages leave at full speed, or, if round
    /// trips are measured, each after the previous one is back.
    pub paced: bool,
    /// The start of the flow, relative to the common start.
    pub delay: Span,
    /// The warm-up, from the start of the flow on, which its results leave out. Limits of
    /// messages and bytes count from its end.
    pub omit: Span,
    /// The duration of the flow, warm-up included, regardless of its schedule.
    pub length: Option<Span>,
    /// Bytes of its largest message, if its sizes have a limit.
    pub largest: Option<Bytes>,
    /// The bytes of its messages behind the header; zeros without it.
    pub payload: Option<Payload>,
    /// The codec, if the flow is a call.
    pub codec: Option<Codec>,
    /// The options of its socket.
    pub options: Options,
    /// The highest rate of its payload.
    pub limit: Option<Rate>,
    /// The source of its messages if the receiver sends it.
    pub reverse: Option<Source>,
}

impl Flow {
    /// Gives a flow of SCTP the local address `here`, unless it has one or a receiver's address
    /// of its own: an association without one moves to other paths of this host after losses
    /// [RFC9260 s6.4].
    pub(super) fn choose_path(&mut self, here: IpAddr) {
        let options = &mut self.options;
        let is_free = options.socket.bind.is_none() && options.destination.is_none();
        if is_free && matches!(self.transport, Some(Protocol::Sctp { .. })) {
            options.socket.bind = Some(SocketAddr::new(here, 0));
        }
    }

    /// What reports of the flow to or from `peer` cannot exceed, but for the time.
    pub(super) fn bounds(&self, peer: IpAddr) -> FlowBounds {
        let (least, most) = sizes(self.transport, self.meter, peer);
        let largest = self.largest.map_or(most, |largest| largest.min(most));
        let source = self.reverse.as_ref();
        let gap = source.filter(|_| self.paced);
        FlowBounds {
            elapsed: 0,
            clock_bound: 0,
            sizes: (least.get(), largest.get()),
            packets: source.and_then(|source| source.packets),
            bytes: source.and_then(|source| source.bytes),
            length: self.length.map(Span::as_nanos),
            gap: gap.map_or(0.0, |source| source.gaps.range().0 / 1e3),
        }
    }
}

/// The distributions of a flow's messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Gaps in picoseconds.
    pub gaps: Distribution,
    /// Sizes in bytes.
    pub sizes: Distribution,
    /// Seed of the random numbers.
    pub seed: Seed,
    /// The most messages.
    pub packets: Option<u64>,
    /// The most bytes of messages that the protocol can carry.
    pub bytes: Option<u64>,
}

impl Source {
    /// The messages of a flow over `transport` to `to`.
    pub fn schedule(&self, transport: Option<Protocol>, meter: Meter, to: IpAddr) -> Schedule {
        let Self {
            gaps,
            sizes: lengths,
            ..
        } = self.clone();
        let mut schedule = Schedule::new(Time::ZERO, gaps, lengths, self.seed);
        if let Some(packets) = self.packets {
            schedule = schedule.packets(packets);
        }
        if let Some(bytes) = self.bytes {
            let (least, most) = sizes(transport, meter, to);
            schedule = schedule.carried(least..=most).bytes(bytes);
        }
        schedule
    }
}
