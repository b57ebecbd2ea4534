//! Letting packets out of bundles with the gaps with which they came in.

use units::{Span, Time};

use crate::{Bundle, Packet};

/// The end of a way that was shared: when each packet of a bundle goes on
/// [Mulahuwaish s2.B].
#[derive(Clone, Debug, Default)]
pub struct Release {
    shaping: bool,
    /// When the last packet went on.
    last: Time,
}

impl Release {
    /// With `shaping`, packets leave with the spacing that they had at the ingress
    /// [Mulahuwaish s2.B]; without it, all leave at once.
    pub const fn new(shaping: bool) -> Self {
        Self {
            shaping,
            last: Time::ZERO,
        }
    }

    /// The packets left in a bundle that arrived at `now`, in order, each with the
    /// time at which it leaves. The first leaves at once, unless packets of
    /// earlier bundles are still waiting: the order is kept.
    pub fn unpack<P: Packet>(
        &mut self,
        now: Time,
        bundle: Bundle<P>,
    ) -> impl Iterator<Item = (Time, P)> {
        self.schedule(now, bundle.unpack())
    }

    /// The same for packets, each with how long it waited.
    pub fn schedule<P>(
        &mut self,
        now: Time,
        packets: impl Iterator<Item = (P, Span)>,
    ) -> impl Iterator<Item = (Time, P)> {
        let start = now.max(self.last);
        let mut first = None;
        packets.map(move |(packet, waited)| {
            // Who came later waited less.
            let after = *first.get_or_insert(waited) - waited;
            let at = start + if self.shaping { after } else { Span::ZERO };
            self.last = self.last.max(at);
            (at, packet)
        })
    }
}

#[cfg(test)]
mod tests;
