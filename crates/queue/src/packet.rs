//! What a queue may know of a packet, and do to it.

use units::Bytes;

use crate::Victims;

/// What a queue sees of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The octets that it takes in the queue: those of its frame.
    pub size: Bytes,
    /// Which flow it belongs to; packets of one flow have the same number.
    pub flow: u64,
    /// Its class: the higher the number, the better it is to be treated, as
    /// the class selectors order them, 0 to 7 [RFC2474 s4.2.2.2].
    pub class: u8,
    /// Its drop precedence: 0 is inside of what its sender may send, more is
    /// outside and dropped sooner [RFC2597 s2].
    pub precedence: u8,
}

/// The packets in a bundle as its header advertises them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advertised {
    /// How many it was packed of: one, unless it is a bundle. Inner drops leave
    /// it as it was.
    pub packets: u32,
    /// Their octets on average, as they were packed.
    pub average: Bytes,
}

/// Which packets are dropped out of a bundle, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerDrop {
    /// How many of its packets are met, at most.
    pub packets: u32,
    /// Which.
    pub victims: Victims,
    /// Whether those that can be are marked instead of dropped.
    pub mark: bool,
}

/// Anything that can wait in a queue.
pub trait Packet {
    /// Its size, flow and class.
    fn view(&self) -> View;

    /// The octets of its VLAN tags, which count on a wire and in no MTU.
    fn tags(&self) -> Bytes {
        Bytes::ZERO
    }

    /// How many packets of senders it carries that are still alive: one,
    /// unless it is a bundle. Nothing but [`Packet::drop_inner`] changes it.
    fn live(&self) -> u32 {
        1
    }

    /// The packets that its header advertises.
    fn advertised(&self) -> Advertised {
        Advertised {
            packets: 1,
            average: self.view().size,
        }
    }

    /// Whether [`Packet::mark`] would be possible.
    fn markable(&self) -> bool {
        false
    }

    /// Marks it as having met congestion (CE) [RFC3168 s5]. Returns whether
    /// that was possible.
    fn mark(&mut self) -> bool {
        false
    }

    /// Drops some of the packets in it, each handed to `lost` as a packet by
    /// itself, and becomes shorter by their lengths. Returns how many were
    /// marked instead. A packet that is no bundle stays as it is.
    fn drop_inner(&mut self, _thinning: InnerDrop, _lost: &mut dyn FnMut(Self)) -> u32
    where
        Self: Sized,
    {
        0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::Numbered;

    #[test]
    fn a_packet_that_is_no_bundle_is_one_live_packet_that_stays_as_it_is() {
        let mut packet = Numbered(1, 1_500);
        let advertised = Advertised {
            packets: 1,
            average: Bytes::new(1_500),
        };
        assert_eq!(
            (packet.live(), packet.advertised(), packet.tags()),
            (1, advertised, Bytes::ZERO)
        );
        assert!(!packet.markable() && !packet.mark());
        for mark in [false, true] {
            let inner = InnerDrop {
                packets: 1,
                victims: Victims::Front,
                mark,
            };
            let marked = packet.drop_inner(inner, &mut |lost| panic!("{lost:?} was dropped"));
            assert_eq!((marked, packet), (0, Numbered(1, 1_500)));
        }
    }
}
