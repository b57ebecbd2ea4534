//! The interface of every queue discipline.

use alloc::vec::{Drain, Vec};

use units::{Bytes, Time};

use crate::{Limit, Packet};

/// A queue with a rule for which packet leaves next and which is dropped.
///
/// Times never decrease from call to call.
pub trait Discipline<P: Packet> {
    /// Adds a packet. Every packet that is dropped to do so, the arrival or
    /// another one, goes to `drops`.
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut Drops<P>);

    /// The next packet to go; the rule may drop others before it finds one.
    fn dequeue(&mut self, now: Time, drops: &mut Drops<P>) -> Option<P>;

    /// The limit that an arrival must fit if the queue is empty and the link is
    /// idle. Such an arrival may be sent at once, without a call of
    /// [`Discipline::enqueue`], and leaves no trace in the state. `None` where the
    /// law must see every packet.
    fn open(&self) -> Option<Limit> {
        None
    }

    /// The time from which [`Discipline::dequeue`] returns a packet: the
    /// beginning of time if it does so at once, `None` if the queue is empty. It
    /// depends on the packets in the queue only.
    fn ready_at(&self) -> Option<Time>;

    /// The packets and bytes in the queue.
    fn backlog(&self) -> Backlog;

    /// Reports that the link behind the queue has been idle since `since`, when
    /// it finished its last packet. Laws whose average decays on an idle link need
    /// it; a [`Discipline::dequeue`] of an empty queue reports the same of now.
    fn rest(&mut self, _since: Time) {}

    /// The average queue after the latest arrival; `None` for disciplines
    /// without one.
    fn average(&self) -> Option<AverageQueue> {
        None
    }
}

/// The average of what waits, with the weight of the discipline. Disciplines
/// count it in frames, bytes or packets inside of frames (`unit`), so that the
/// number on which they decide has no unit of its own.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct AverageQueue {
    /// Frames, a bundle counted once.
    pub frames: f64,
    /// The bytes of these frames.
    pub bytes: f64,
    /// The number on which the discipline decides relative to its upper
    /// threshold, both in its own unit.
    pub of_max: f64,
}

/// The contents of a queue, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Backlog {
    /// Packets, bundles counted once.
    pub packets: u32,
    /// The bytes of their frames.
    pub bytes: Bytes,
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Reason {
    /// There was no room.
    Full,
    /// A law saw congestion coming and drew this packet.
    Early,
    /// The queue was so long on average that a law let nothing in.
    Forced,
    /// Packets waited too long for too long.
    Late,
}

impl Reason {
    /// Every reason.
    pub const ALL: [Self; 4] = [Self::Full, Self::Early, Self::Forced, Self::Late];
}

/// The packets that a queue gave up, until its driver takes them away.
#[derive(Debug)]
pub struct Drops<P> {
    dropped: Vec<(P, Reason)>,
    /// Out of bundles that go on without them.
    inner_dropped: Vec<(P, Reason)>,
}

impl<P> Drops<P> {
    /// Room for drops; it grows to what one call drops at most, and stays.
    pub const fn new() -> Self {
        Self {
            dropped: Vec::new(),
            inner_dropped: Vec::new(),
        }
    }

    /// Gives `packet` up.
    pub fn push(&mut self, packet: P, reason: Reason) {
        self.dropped.push((packet, reason));
    }

    /// Gives `packet` up, which was in a bundle that goes on without it.
    pub fn push_inner(&mut self, packet: P, reason: Reason) {
        self.inner_dropped.push((packet, reason));
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.inner_dropped.is_empty()
    }

    /// Takes away all that were dropped with all that is in them, in the order
    /// in which they were dropped.
    pub fn drain(&mut self) -> Drain<'_, (P, Reason)> {
        self.dropped.drain(..)
    }

    /// Takes away all that were dropped out of bundles which go on, in the order
    /// in which they were dropped.
    pub fn drain_inner(&mut self) -> Drain<'_, (P, Reason)> {
        self.inner_dropped.drain(..)
    }
}

impl<P> Default for Drops<P> {
    fn default() -> Self {
        Self::new()
    }
}
