//! MRED's store: frames in the order of their arrival, and what is to be taken
//! out of them later.

use alloc::collections::VecDeque;
use core::ops::{AddAssign, SubAssign};

use units::{Bytes, Span, Time};

use super::SizeOf;
use crate::{Backlog, Drops, InnerDrop, Packet, Reason, Selection, Unit};

/// Frames that wait, with what is in them.
#[derive(Debug)]
pub(super) struct Frames<P> {
    waiting: VecDeque<Frame<P>>,
    live: Counted,
    advertised: Counted,
    /// How many ever came.
    came: u64,
    /// Drops that are marked already, in the order in which they fall due.
    marked: VecDeque<Marked>,
    selection: Selection,
}

#[derive(Debug)]
struct Frame<P> {
    packet: P,
    number: u64,
    /// Packets in it that are marked for a later drop.
    marked: u32,
}

/// A packet of a frame that is to be dropped.
#[derive(Clone, Copy, Debug)]
struct Marked {
    at: Time,
    frame: u64,
    met: DropAction,
}

/// Packets and their bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    packets: u64,
    bytes: Bytes,
}

/// The treatment of packets that are selected for dropping.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct DropAction {
    pub(super) reason: Reason,
    /// They are marked where that is possible.
    pub(super) mark: bool,
}

impl<P: Packet> Frames<P> {
    pub(super) const fn new(selection: Selection) -> Self {
        const NONE: Counted = Counted {
            packets: 0,
            bytes: Bytes::ZERO,
        };
        Self {
            waiting: VecDeque::new(),
            live: NONE,
            advertised: NONE,
            came: 0,
            marked: VecDeque::new(),
            selection,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.waiting.len()
    }

    pub(super) fn backlog(&self) -> Backlog {
        Backlog {
            packets: u32::try_from(self.waiting.len()).unwrap_or(u32::MAX),
            bytes: self.live.bytes,
        }
    }

    /// The length of the queue in `unit`, taken from the source `size`.
    pub(super) fn queue(&self, unit: Unit, size: SizeOf) -> f64 {
        let counted = match size {
            SizeOf::Header => self.advertised,
            SizeOf::Live => self.live,
        };
        match unit {
            Unit::Frames => self.waiting.len() as f64,
            Unit::Bytes => counted.bytes.get() as f64,
            Unit::Inner => counted.packets as f64,
        }
    }

    /// Puts a frame behind all others.
    pub(super) fn push(&mut self, packet: P) {
        self.live += live(&packet);
        self.advertised += advertised(&packet);
        self.waiting.push_back(Frame {
            packet,
            number: self.came,
            marked: 0,
        });
        self.came += 1;
    }

    /// Takes the frame before which `older` others wait.
    pub(super) fn take(&mut self, older: usize) -> Option<P> {
        let packet = self.waiting.remove(older)?.packet;
        self.live -= live(&packet);
        self.advertised -= advertised(&packet);
        Some(packet)
    }

    /// The frames that wait, the oldest first.
    pub(super) fn iter(&self) -> impl Iterator<Item = &P> {
        self.waiting.iter().map(|frame| &frame.packet)
    }

    /// The frame at `place`.
    pub(super) fn frame(&self, place: usize) -> Option<&P> {
        self.waiting.get(place).map(|frame| &frame.packet)
    }

    /// How many packets of the frame at `place` live and are not marked.
    pub(super) fn unmarked(&self, place: usize) -> u32 {
        let frame = self.waiting.get(place);
        frame.map_or(0, |frame| frame.packet.live().saturating_sub(frame.marked))
    }

    /// Drops or marks `count` packets of the frame at `place` now.
    pub(super) fn meet(&mut self, place: usize, count: u32, met: DropAction, drops: &mut Drops<P>) {
        let Some(frame) = self.waiting.get_mut(place) else {
            return;
        };
        let before = live(&frame.packet);
        let left = meet(&mut frame.packet, count, self.selection, met, drops);
        frame.marked = frame.marked.min(frame.packet.live());
        self.live -= before;
        self.live += live(&frame.packet);
        if !left && let Some(whole) = self.take(place) {
            drops.push(whole, met.reason);
        }
    }

    /// Marks `count` packets of the frame at `place` for later: they are met one
    /// after the other, each `apart` after the one before it, behind all that
    /// are marked already.
    pub(super) fn mark(
        &mut self,
        now: Time,
        place: usize,
        count: u32,
        met: DropAction,
        apart: Span,
    ) {
        let last = self.marked.back().map_or(now, |last| last.at.max(now));
        let Some(frame) = self.waiting.get_mut(place) else {
            return;
        };
        frame.marked += count;
        let frame = frame.number;
        let due = (1..=u64::from(count)).map(|turn| last + apart * turn);
        self.marked.extend(due.map(|at| Marked { at, frame, met }));
    }

    /// Meets what is due by `now`, in frames that still wait.
    pub(super) fn meet_due(&mut self, now: Time, drops: &mut Drops<P>) {
        while let Some(first) = self.marked.pop_front_if(|first| first.at <= now) {
            self.meet_marked(first, drops);
        }
    }

    /// Drops the packet that falls due next, before its time; returns whether
    /// there was one.
    pub(super) fn hasten(&mut self, drops: &mut Drops<P>) -> bool {
        while let Some(first) = self.marked.pop_front_if(|first| !first.met.mark) {
            if self.meet_marked(first, drops) {
                return true;
            }
        }
        false
    }

    /// Meets a marked packet; returns whether its frame still waits.
    fn meet_marked(&mut self, marked: Marked, drops: &mut Drops<P>) -> bool {
        let older = |frame: &Frame<P>| frame.number < marked.frame;
        let place = self.waiting.partition_point(older);
        let found = self.waiting.get_mut(place);
        let Some(frame) = found.filter(|frame| frame.number == marked.frame) else {
            return false;
        };
        frame.marked = frame.marked.saturating_sub(1);
        self.meet(place, 1, marked.met, drops);
        true
    }
}

/// Drops or marks `count` of the packets in `packet`; returns whether any is
/// left of it, else it is to be dropped as a whole.
pub(super) fn meet<P: Packet>(
    packet: &mut P,
    count: u32,
    selection: Selection,
    met: DropAction,
    drops: &mut Drops<P>,
) -> bool {
    if count == 0 {
        return true;
    }
    if packet.advertised().packets == 1 {
        return met.mark && packet.mark();
    }
    if count >= packet.live() && !met.mark {
        return false;
    }
    let inner_drop = InnerDrop {
        packets: count,
        selection,
        mark: met.mark,
    };
    let before = packet.live();
    let marked = packet.drop_inner(inner_drop, &mut |lost| drops.push_inner(lost, met.reason));
    if marked == 0 && packet.live() == before {
        // It holds pieces only.
        return met.mark && packet.mark();
    }
    packet.live() > 0
}

/// How many packets a frame was packed of, or has alive.
pub(super) fn packets<P: Packet>(packet: &P, size: SizeOf) -> u32 {
    match size {
        SizeOf::Header => packet.advertised().packets,
        SizeOf::Live => packet.live(),
    }
}

fn live<P: Packet>(packet: &P) -> Counted {
    Counted {
        packets: packet.live().into(),
        bytes: packet.view().size,
    }
}

fn advertised<P: Packet>(packet: &P) -> Counted {
    let advertised = packet.advertised();
    let packets = advertised.packets.into();
    Counted {
        packets,
        bytes: advertised.average * packets,
    }
}

impl AddAssign for Counted {
    fn add_assign(&mut self, other: Self) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
}

impl SubAssign for Counted {
    fn sub_assign(&mut self, other: Self) {
        self.packets -= other.packets;
        self.bytes = self.bytes - other.bytes;
    }
}
