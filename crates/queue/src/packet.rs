//! The packet as a queue sees it: the properties it reads and the changes it makes.

use units::Bytes;

use crate::Selection;

/// The properties of a packet that a queue may use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The bytes of its frame, which count in the queue.
    pub size: Bytes,
    /// Which flow it belongs to; packets of one flow have the same number.
    pub flow: u64,
    /// Its class, 0 to 7: a higher number gets better treatment, in the order of
    /// the class selectors [RFC2474 s4.2.2.2].
    pub class: u8,
    /// Its drop precedence: 0 is within the sender's profile, more is outside
    /// and dropped sooner [RFC2597 s2].
    pub precedence: u8,
}

/// The packets in a bundle as its header advertises them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Advertised {
    /// The packets at the time of packing: one, unless it is a bundle. Inner
    /// drops do not change it.
    pub packets: u32,
    /// Their mean size at the time of packing.
    pub average: Bytes,
}

/// Which packets are dropped out of a bundle, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InnerDrop {
    /// The most packets to drop or mark.
    pub packets: u32,
    /// Which of its packets are chosen.
    pub selection: Selection,
    /// Whether packets that support ECN are marked instead of dropped.
    pub mark: bool,
}

/// The share of an IP packet that an entry of a bundle holds. A packet that is larger than
/// a bundle is cut into pieces [RFC9347 s2.2].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// All of it.
    #[default]
    Whole,
    /// Its first bytes, with the IP header.
    First {
        /// The bytes of the packet that follow in later bundles.
        missing: Bytes,
    },
    /// Bytes behind another piece.
    Rest {
        /// Whether the packet ends with them.
        last: bool,
    },
}

impl Part {
    /// Becomes the part behind a cut, with the last `rest` bytes; returns the one before it.
    pub fn cut(&mut self, rest: Bytes) -> Self {
        let before = match *self {
            Self::Whole => Self::First { missing: rest },
            Self::First { missing } => Self::First {
                missing: missing + rest,
            },
            Self::Rest { .. } => Self::Rest { last: false },
        };
        *self = match *self {
            Self::Whole => Self::Rest { last: true },
            Self::First { .. } => Self::Rest { last: false },
            rest @ Self::Rest { .. } => rest,
        };
        before
    }

    /// The part of which the next `bytes` were appended.
    pub const fn joined(self, bytes: Bytes) -> Self {
        match self {
            Self::First { missing } if missing.get() > bytes.get() => Self::First {
                missing: Bytes::new(missing.get() - bytes.get()),
            },
            Self::First { .. } => Self::Whole,
            part @ (Self::Whole | Self::Rest { .. }) => part,
        }
    }
}

/// Anything that can wait in a queue.
pub trait Packet {
    /// Its size, flow and class.
    fn view(&self) -> View;

    /// The bytes of its VLAN tags, which count on the link but not in the MTU.
    fn tags(&self) -> Bytes {
        Bytes::ZERO
    }

    /// The part of a packet that it is.
    fn part(&self) -> Part {
        Part::Whole
    }

    /// Cuts the first `size` bytes of IP off, as a piece. The remaining bytes stay here
    /// and are the piece behind it. `None`: it cannot be cut, and stays as it is.
    fn cut(&mut self, _size: Bytes) -> Option<Self>
    where
        Self: Sized,
    {
        None
    }

    /// Appends the next piece of the packet of which this is [`Part::First`].
    fn join(&mut self, _rest: Self)
    where
        Self: Sized,
    {
    }

    /// The senders' packets that it carries and that were not dropped: one,
    /// unless it is a bundle. Only [`Packet::drop_inner`] changes it.
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
        assert_eq!(
            (packet.part(), packet.cut(Bytes::new(1))),
            (Part::Whole, None)
        );
        for mark in [false, true] {
            let inner = InnerDrop {
                packets: 1,
                selection: Selection::Front,
                mark,
            };
            let marked = packet.drop_inner(inner, &mut |lost| panic!("{lost:?} was dropped"));
            assert_eq!((marked, packet), (0, Numbered(1, 1_500)));
        }
    }
}
