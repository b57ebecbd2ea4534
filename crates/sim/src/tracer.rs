//! Tracers: observation of single packets.

use link::QueueState;
use queue::{Part, Reason, Tick};
use tcp::{Counts, State};
use units::{Bytes, Span, Time};

use crate::Segment;

/// A packet in the form that tracers see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Index of the flow in the scenario.
    pub flow: usize,
    /// Number of its message in the flow, from 0; for TCP the sequence number of a data
    /// segment, or the number that an acknowledgement expects next.
    pub sequence: u64,
    /// Bytes of the IP packet.
    pub size: Bytes,
    /// Bytes of the datagram in front of this packet's, if it is a fragment.
    pub offset: Bytes,
    /// Bytes of the datagram in this packet.
    pub length: Bytes,
    /// Bytes of the whole datagram, its UDP header included.
    pub whole: Bytes,
    /// Whether it is a router's ICMP error to the flow's source.
    pub answer: bool,
    /// The TCP segment, if it is one.
    pub segment: Option<Segment>,
    /// Number of senders' packets in it: 1, unless it is a bundle. For a bundle all
    /// fields but its size are those of its first packet.
    pub live: u32,
    /// Number among the packets that arrived at this direction of the link, from 1; of
    /// a packet dropped out of a bundle that of the bundle. 0 elsewhere.
    pub number: u64,
    /// Whether it is a bundle.
    pub is_bundle: bool,
    /// The time at which its sender sent it; for a datagram, its message.
    pub sent: Time,
    /// The marks of the links that it has passed ([`Tracer::mark`]).
    pub marks: u64,
}

/// The contents of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Number among the bundles from the same ingress to the same egress, from 0.
    pub number: u64,
    /// Outer source and destination: nodes, by their indices in the scenario.
    pub ends: [usize; 2],
    /// Its label, from 0, which replaces the addresses.
    pub label: Option<u32>,
    /// The unit of [`Inside::waited`].
    pub tick: Tick,
    /// The packets that were packed into it.
    pub inside: Vec<Inside>,
}

impl Opened {
    /// Whether it begins with a later piece of a packet.
    pub fn begins_within(&self) -> bool {
        let first = self.inside.first();
        first.is_some_and(|inside| matches!(inside.part, Part::Rest { .. }))
    }

    /// Whether another piece of its last packet follows in the next bundle.
    pub fn ends_within(&self) -> bool {
        let last = self.inside.last();
        last.is_some_and(|inside| {
            matches!(inside.part, Part::First { .. } | Part::Rest { last: false })
        })
    }
}

/// A packet in a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inside {
    /// The packet, unless it was dropped or is a later piece of one.
    pub packet: Option<Seen>,
    /// The share of its packet that it is.
    pub part: Part,
    /// Bytes of its IP packet, or of the piece, when it was packed.
    pub size: Bytes,
    /// Waiting time before it was packed, in units of [`Opened::tick`].
    pub waited: u16,
}

impl Seen {
    /// Whether it is an acknowledgement of TCP.
    pub const fn is_ack(&self) -> bool {
        matches!(self.segment, Some(Segment::Ack(_)))
    }
}

/// The place of an event. Numbers are indices in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Location {
    /// At a node.
    Node(usize),
    /// On a link, in direction 0 or 1.
    Direction(usize, usize),
}

/// The reason of a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// The packet was larger than the link carries.
    TooBig,
    /// The queue of a link dropped it.
    Queue(Reason),
    /// It was lost on the wire at random.
    Chance,
    /// A bit error damaged it.
    Damage,
    /// A host's receive buffer was full.
    Buffer,
    /// The edge of a domain did not get all pieces of it.
    Incomplete,
}

/// Observes the events of every packet, without influence on them. All methods do
/// nothing by default.
///
/// The times of one element never decrease. Between elements they may, by less than
/// the time that a packet takes to cross a link, because a link computes the actions of
/// its queue when it is polled next.
pub trait Tracer {
    /// Whether to report packets on this direction of this link; called before the
    /// first event. The events reported are the same as if all were, without the
    /// others.
    fn wants(&self, _link: (usize, usize)) -> bool {
        true
    }

    /// Mark bits for packets that leave this direction of this link, those in bundles
    /// included; [`Seen::marks`] accumulates them. Called before the first event, for
    /// observed links.
    fn mark(&self, _link: (usize, usize)) -> u64 {
        0
    }

    /// Whether it uses [`Tracer::delivered`], which is otherwise not called for all
    /// messages. Called before the first event.
    fn wants_deliveries(&self) -> bool {
        true
    }

    /// Whether to report the contents of bundles on this link, and of those that its queue
    /// drops; called for observed links.
    fn opens(&self, _link: (usize, usize)) -> bool {
        false
    }

    /// A bundle with these contents begins transmission at `begins`; [`Tracer::sent`]
    /// reports it next.
    fn opened(&mut self, _begins: Time, _link: (usize, usize), _bundle: &Opened) {}

    /// A packet arrives at a link and finds its queue in this state.
    fn queued(&mut self, _at: Time, _link: (usize, usize), _packet: Seen, _state: QueueState) {}

    /// A packet is in the bundle that [`Tracer::queued`] reported last; called where
    /// [`Tracer::opens`] says so.
    fn queued_inside(&mut self, _at: Time, _link: (usize, usize), _packet: Seen) {}

    /// A packet is transmitted from `begins` until `ends`, after this waiting time.
    fn sent(
        &mut self,
        _begins: Time,
        _ends: Time,
        _link: (usize, usize),
        _packet: Seen,
        _waited: Span,
    ) {
    }

    /// A packet is lost.
    fn lost(&mut self, _at: Time, _location: Location, _packet: Seen, _why: Loss) {}

    /// A packet is in the bundle that a queue dropped and [`Tracer::lost`] reported last;
    /// called where [`Tracer::opens`] says so.
    fn lost_inside(&mut self, _at: Time, _link: (usize, usize), _packet: Seen) {}

    /// A packet is dropped out of a bundle, which stays in the queue. The packet
    /// arrived and waited with the bundle, and no other method reports it.
    fn inner_dropped(&mut self, _at: Time, _link: (usize, usize), _packet: Seen, _why: Reason) {}

    /// A message, or a TCP segment with new data, has arrived completely and was
    /// processed. The arguments describe its last packet.
    fn delivered(&mut self, _at: Time, _node: usize, _packet: Seen) {}

    /// The sender of a TCP flow, by its index in the scenario, has acted; these are its
    /// new state and its counters.
    fn acted(&mut self, _at: Time, _flow: usize, _state: State, _counts: Counts) {}
}

/// The tracer of an untraced simulation, which calls none.
impl Tracer for () {}
