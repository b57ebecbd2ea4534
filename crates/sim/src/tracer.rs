//! Looking at single packets while they are in flight.

use proto::link::QueueState;
use proto::tcp::{Counts, State};
use queue::{Reason, Tick};
use units::{Bytes, Span, Time};

use crate::Segment;

/// A packet as a tracer sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// The flow, by its place in the scenario.
    pub flow: usize,
    /// The number of its message in the flow, from 0 on; of a segment of TCP
    /// its number, of an acknowledgement the number that it waits for.
    pub sequence: u64,
    /// The octets of its IP packet.
    pub size: Bytes,
    /// Octets of the datagram before those of this packet, if it is a fragment.
    pub offset: Bytes,
    /// Octets of the datagram in it.
    pub length: Bytes,
    /// Octets of the whole datagram, its UDP header included.
    pub whole: Bytes,
    /// Whether it is a router's answer to the flow's source.
    pub answer: bool,
    /// What it is in its connection, if it is a segment of TCP.
    pub segment: Option<Segment>,
    /// How many packets of senders live in it: 1, unless it is a bundle. Of a
    /// bundle all else but its size is said of the first.
    pub live: u32,
    /// Whether it is a bundle.
    pub is_bundle: bool,
    /// When its sender sent it; of a datagram, when its message was sent.
    pub sent: Time,
    /// The marks of the links that it came out of ([`Tracer::mark`]).
    pub marks: u64,
}

/// What is in a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opened {
    /// Which one it is of those with the same ends and egress, from 0 on.
    pub number: u64,
    /// Whence and to whom it is addressed: nodes, by their places in the scenario.
    pub ends: [usize; 2],
    /// Its label in place of that, from 0 on.
    pub label: Option<u32>,
    /// The unit of [`Inside::waited`].
    pub tick: Tick,
    /// What it was packed of.
    pub inside: Vec<Inside>,
}

/// A packet in a bundle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inside {
    /// The packet, while it lives.
    pub packet: Option<Seen>,
    /// Its octets of IP as it was packed.
    pub size: Bytes,
    /// How long it waited to be packed.
    pub waited: u16,
}

impl Seen {
    /// Whether it is an acknowledgement of TCP.
    pub const fn is_ack(&self) -> bool {
        matches!(self.segment, Some(Segment::Ack(_)))
    }
}

/// Where something happens. Numbers are places in the scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Location {
    /// At a node.
    Node(usize),
    /// On a link, in direction 0 or 1.
    Direction(usize, usize),
}

/// Why a packet is lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Loss {
    /// It was larger than the link carries.
    TooBig,
    /// The queue in front of a link dropped it.
    Queue(Reason),
    /// Chance took it on the wire.
    Chance,
    /// A bit of it was wrong behind the wire.
    Damage,
    /// A host's buffer had no room for it.
    Buffer,
}

/// Sees what happens to every packet. All methods do nothing unless written
/// otherwise, and a tracer never changes what happens; `()` records nothing,
/// and costs nothing.
///
/// Within one element instants never go back; between elements they may, by
/// less than it takes a packet to cross a link, because a link works out what
/// a queue did when it is asked next.
pub trait Tracer {
    /// Whether it looks at anything at all.
    const AWAKE: bool = true;

    /// Whether packets on this link, in this direction, are to be reported. It is
    /// asked before anything happens; what is reported then is the same as if all
    /// were, without the others.
    fn wants(&self, _link: (usize, usize)) -> bool {
        true
    }

    /// Bits that packets keep from then on that come out of this link in this
    /// direction, also those in bundles; [`Seen::marks`] has them all. It is
    /// asked before anything happens, of links that it looks at.
    fn mark(&self, _link: (usize, usize)) -> u64 {
        0
    }

    /// Whether it wants to know what is in bundles on this link, of those that
    /// it looks at.
    fn opens(&self, _link: (usize, usize)) -> bool {
        false
    }

    /// A bundle takes the wire at `begins`, as [`Tracer::sent`] reports next, with
    /// this in it.
    fn opened(&mut self, _begins: Time, _link: (usize, usize), _bundle: &Opened) {}

    /// A packet comes to a link and finds this in its queue.
    fn queued(&mut self, _at: Time, _link: (usize, usize), _packet: Seen, _state: QueueState) {}

    /// A packet takes the wire from `begins` until `ends`, having waited so long.
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

    /// A packet is taken out of a bundle, which stays where it is. It came and
    /// waited with that, and is reported by no other method.
    fn inner_dropped(&mut self, _at: Time, _link: (usize, usize), _packet: Seen, _why: Reason) {}

    /// A message is there as a whole, or a segment of TCP that brings something
    /// new, and worked on. What is said is said of the packet that came last.
    fn delivered(&mut self, _at: Time, _node: usize, _packet: Seen) {}

    /// The sender of a flow of TCP, by its place in the scenario, has acted,
    /// and now stands here and has done this.
    fn acted(&mut self, _at: Time, _flow: usize, _state: State, _counts: Counts) {}
}

impl Tracer for () {
    const AWAKE: bool = false;
}
