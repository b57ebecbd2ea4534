//! Packets that know since when they wait.

use units::{Span, Time};

use crate::{Advertised, Packet, View};

/// A packet and the instant at which it came.
#[derive(Debug)]
pub(crate) struct Stamped<P> {
    pub(crate) packet: P,
    since: Time,
}

impl<P> Stamped<P> {
    pub(crate) const fn new(packet: P, since: Time) -> Self {
        Self { packet, since }
    }

    /// For how long it has waited at `now`.
    pub(crate) fn sojourn(&self, now: Time) -> Span {
        now.since(self.since).unwrap_or_default()
    }
}

impl<P: Packet> Packet for Stamped<P> {
    fn view(&self) -> View {
        self.packet.view()
    }

    fn live(&self) -> u32 {
        self.packet.live()
    }

    fn advertised(&self) -> Advertised {
        self.packet.advertised()
    }

    fn mark(&mut self) -> bool {
        self.packet.mark()
    }
}
