//! Frames with bundles inside, as queues see them: the counterpart of `queue::Bundle`
//! on bytes.

use queue::{Advertised, InnerDrop, Selection};
use units::{Bytes, Framing};
use wire::bundle::{Carried, Inner, Part};
use wire::frame::Ports;

use super::{Body, Buffer, Frame, HEADER};

/// The bytes to send; the first piece includes the virtio header.
pub(super) fn pieces(bundle: &Carried<Buffer>) -> [&[u8]; 2] {
    let mut parts = bundle.parts();
    let first = parts.next().unwrap_or_default().len();
    [
        &bundle.inside().bytes[..HEADER + first],
        parts.next().unwrap_or_default(),
    ]
}

pub(super) fn advertised(bundle: &Carried<Buffer>) -> Advertised {
    let header = bundle.header();
    Advertised {
        packets: u32::from(header.count),
        average: Bytes::new(u64::from(header.average)),
    }
}

/// Whether each of its packets can be marked. A piece without an IP header cannot.
pub(super) fn markable(bundle: &Carried<Buffer>) -> bool {
    bundle.live() > 0 && bundle.packets().all(|inner| is_capable(&inner))
}

/// The packets that may be dropped: those of which this bundle has all.
fn droppable(bundle: &Carried<Buffer>) -> impl Iterator<Item = Inner<'_>> {
    bundle.packets().filter(|inner| inner.part == Part::Whole)
}

/// Marks all its packets, or none.
pub(super) fn mark(bundle: &mut Carried<Buffer>) -> bool {
    let able = markable(bundle);
    if able {
        (0..bundle.header().count).for_each(|index| {
            bundle.mark(index);
        });
    }
    able
}

/// Drops or marks packets; the dropped ones are appended to `lost`. Returns the number
/// of marked packets.
pub(super) fn drop_inner(
    bundle: &mut Carried<Buffer>,
    inner_drop: InnerDrop,
    lost: &mut dyn FnMut(Frame),
) -> u32 {
    let marked = match inner_drop {
        InnerDrop {
            packets,
            selection: Selection::Front,
            mark: false,
        } => {
            let packets = u16::try_from(packets).unwrap_or(u16::MAX);
            let selection = droppable(bundle).take(usize::from(packets));
            selection.for_each(|inner| lost(dropped(&inner)));
            bundle.drop_inner(packets);
            0
        }
        _ => drop_one_by_one(bundle, inner_drop, lost),
    };
    // A packet socket takes at most two pieces.
    if bundle.parts().nth(2).is_some() {
        bundle.compact();
    }
    marked
}

fn drop_one_by_one(
    bundle: &mut Carried<Buffer>,
    inner_drop: InnerDrop,
    lost: &mut dyn FnMut(Frame),
) -> u32 {
    let living: Vec<(usize, u64)> = droppable(bundle)
        .map(|inner| (usize::from(inner.index), inner.flow()))
        .collect();
    let InnerDrop {
        packets, selection, ..
    } = inner_drop;
    let met = selection.among(living.into_iter(), packets).into_iter();
    let mut marked = 0;
    for index in met.filter_map(|place| u16::try_from(place).ok()) {
        if inner_drop.mark && bundle.mark(index) {
            marked += 1;
            continue;
        }
        let victim = bundle.packets().find(|inner| inner.index == index);
        victim.iter().for_each(|inner| lost(dropped(inner)));
        bundle.discard(index);
    }
    marked
}

/// A packet dropped out of a bundle, without its bytes.
fn dropped(inner: &Inner<'_>) -> Frame {
    let size = Framing::MAC_HEADER + Bytes::new(inner.bytes.len() as u64) + Framing::FCS;
    Frame {
        body: Body::Dropped(
            size.max(Framing::SMALLEST_FRAME),
            Ports::of_packet(inner.bytes),
        ),
        flow: inner.flow(),
        service: inner.service().unwrap_or(0),
        bare: false,
    }
}

fn is_capable(inner: &Inner<'_>) -> bool {
    let service = match inner.part {
        Part::Rest { .. } => None,
        Part::Whole | Part::First => inner.service(),
    };
    service.is_some_and(|service| service & 0b11 != 0)
}

#[cfg(test)]
mod tests {
    use std::net::Ipv6Addr;

    use queue::Packet;
    use wire::bundle::{Encapsulation, Packing, Piece, Unit};
    use wire::protocol::ip::Addresses;

    use super::super::{Pool, virtio};
    use super::*;

    /// A bundle of four packets of 50 bytes in UDP over IPv6, in a frame.
    fn bytes() -> Vec<u8> {
        bytes_within(false)
    }

    /// The same, within packets at both ends or not.
    fn bytes_within(within: bool) -> Vec<u8> {
        let packets: Vec<[u8; 50]> = (0..4).map(|number| [0x40 + number; 50]).collect();
        let pieces: Vec<Piece<'_>> = packets
            .iter()
            .map(|bytes| Piece { bytes, waited: 0 })
            .collect();
        let ends = [1, 2].map(|end| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, end));
        let packing = Packing {
            encapsulation: Encapsulation::Udp {
                addresses: Addresses::V6(ends),
                service: 0,
                port: 49_152,
            },
            begins_within: within,
            ends_within: within,
            unit: Unit::Microsecond,
            sequence: 0,
        };
        let mut bytes = vec![0; HEADER + 14 + packing.packet_len(4, 200)];
        bytes[HEADER + 12..HEADER + 14].copy_from_slice(&[0x86, 0xdd]);
        packing.emit(&pieces, &mut bytes[HEADER + 14..]).unwrap();
        bytes
    }

    fn inner_drop(packets: u32) -> InnerDrop {
        InnerDrop {
            packets,
            selection: Selection::Front,
            mark: false,
        }
    }

    #[test]
    fn a_checksum_that_was_left_to_the_interface_is_there_before_anything_is_dropped() {
        let mut bytes = bytes();
        bytes[virtio::FLAGS] = virtio::NEEDS_CHECKSUM;
        // The sum of the pseudo-header alone, as the kernel leaves it.
        bytes[HEADER + 14 + 46..HEADER + 14 + 48].copy_from_slice(&[0x12, 0x34]);
        let mut kept = Pool::default().keep(&bytes, None);
        kept.drop_inner(inner_drop(1), &mut |_| {});
        let sent = kept.pieces().concat();
        assert_eq!(sent[..HEADER], [0; HEADER]);
        let arrived = Carried::parse_frame(&sent[HEADER..]).unwrap();
        assert!(arrived.checksum_holds() && arrived.live() == 3);
    }

    #[test]
    fn pieces_are_neither_dropped_nor_marked() {
        for selection in [Selection::Front, Selection::Spread] {
            let mut kept = Pool::default().keep(&bytes_within(true), None);
            let mut lost = 0;
            let inner_drop = InnerDrop {
                selection,
                ..inner_drop(4)
            };
            kept.drop_inner(inner_drop, &mut |_| lost += 1);
            assert_eq!((lost, kept.live()), (2, 2));
            kept.drop_inner(inner_drop, &mut |packet| panic!("{packet:?}"));
            assert!(!kept.markable() && !kept.mark());
            let sent = kept.pieces().concat();
            let arrived = Carried::parse_frame(&sent[HEADER..]).unwrap();
            let indices = arrived.packets().map(|inner| inner.index);
            assert!(arrived.checksum_holds() && indices.eq([0, 3]));
        }
    }

    #[test]
    fn what_is_left_is_sent_from_where_it_was_and_what_died_has_a_size() {
        let mut kept = Pool::default().keep(&bytes(), None);
        let whole = kept.view().size;
        let [before, nothing] = kept.pieces().map(<[u8]>::as_ptr_range);
        assert!(nothing.is_empty());
        let mut lost = Vec::new();
        assert_eq!(
            kept.drop_inner(inner_drop(3), &mut |packet| lost.push(packet)),
            0
        );
        // Framing adds 14 bytes in front and 4 behind.
        let sizes: Vec<u64> = lost.iter().map(|packet| packet.view().size.get()).collect();
        assert_eq!(sizes, [68; 3]);
        assert!(lost.iter().all(|packet| packet.bytes().is_empty()));
        assert_eq!(
            (kept.live(), kept.view().size),
            (1, whole - Bytes::new(150))
        );
        let [head, tail] = kept.pieces().map(<[u8]>::as_ptr_range);
        assert_eq!((head.start, tail.end), (before.start, before.end));
        assert_eq!(kept.pieces()[1], [0x43; 50]);
    }
}
