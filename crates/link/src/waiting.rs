//! A waiting packet, as queues and records see it.

use queue::{Advertised, InnerDrop, Packet, View};
use units::{Bytes, Time};

use super::{Arrival, Entered, Header};

/// A packet in the queue, with the time of its arrival.
pub(super) struct Waiting<P> {
    pub(super) packet: P,
    pub(super) arrival: Time,
    pub(super) marked: bool,
    /// Number of packets that had arrived, this one included.
    pub(super) number: u64,
}

impl<P: Packet> Packet for Waiting<P> {
    fn view(&self) -> View {
        self.packet.view()
    }

    fn tags(&self) -> Bytes {
        self.packet.tags()
    }

    fn live(&self) -> u32 {
        self.packet.live()
    }

    fn markable(&self) -> bool {
        self.packet.markable()
    }

    fn mark(&mut self) -> bool {
        let marked = self.packet.mark();
        self.marked |= marked;
        marked
    }

    fn advertised(&self) -> Advertised {
        self.packet.advertised()
    }

    fn drop_inner(&mut self, inner_drop: InnerDrop, lost: &mut dyn FnMut(Self)) -> u32 {
        let (arrival, number) = (self.arrival, self.number);
        let marked = self.packet.drop_inner(inner_drop, &mut |packet| {
            lost(Self {
                packet,
                arrival,
                marked: false,
                number,
            });
        });
        self.marked |= marked > 0;
        marked
    }
}

impl<P> Waiting<P> {
    /// The arrival, as observers see it.
    pub(super) const fn entered(&self) -> Entered {
        Entered {
            at: self.arrival,
            number: self.number,
        }
    }
}

impl<P: Packet> Waiting<P> {
    /// The arrival, as a record holds it.
    pub(super) fn arrival(&self) -> Arrival {
        let view = self.packet.view();
        Arrival {
            at: self.arrival,
            size: view.size.get(),
            flow: view.flow,
            header: Header {
                number: self.number,
                served: Time::ZERO,
                class: view.class,
                precedence: view.precedence,
                markable: self.packet.markable(),
                tags: self.packet.tags().get(),
                live: self.packet.live(),
            },
        }
    }
}
