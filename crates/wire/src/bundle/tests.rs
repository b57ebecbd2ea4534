mod known;

use std::vec;
use std::vec::Vec;

use core::net::{Ipv4Addr, Ipv6Addr};
use proptest::prelude::*;

use super::*;
use crate::protocol::ip::Addresses;

/// Packets and their waiting times.
pub(super) type Packets = Vec<(Vec<u8>, u16)>;

pub(super) const V4: Addresses =
    Addresses::V4([Ipv4Addr::new(198, 18, 0, 1), Ipv4Addr::new(198, 18, 0, 2)]);
pub(super) const V6: Addresses = Addresses::V6([
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 2),
]);

/// Every kind of encapsulation.
pub(super) const ENCAPSULATIONS: [Encapsulation; 5] = [
    Encapsulation::Ip {
        addresses: V4,
        service: 0xb8,
    },
    Encapsulation::Ip {
        addresses: V6,
        service: 0x2e,
    },
    Encapsulation::Udp {
        addresses: V4,
        service: 0,
        port: 49_152,
    },
    Encapsulation::Udp {
        addresses: V6,
        service: 2,
        port: 65_535,
    },
    Encapsulation::Label {
        label: 0xf_abcd,
        class: 5,
    },
];

/// A bundle with the start of a parse that fits its encapsulation.
pub(super) fn pack(packing: Packing, packets: &[(Vec<u8>, u16)]) -> Result<Vec<u8>, Error> {
    let pieces: Vec<Piece<'_>> = packets
        .iter()
        .map(|(bytes, waited)| Piece {
            bytes,
            waited: *waited,
        })
        .collect();
    let total = packets.iter().map(|(bytes, _)| bytes.len()).sum();
    let mut bytes = vec![0xee; packing.packet_len(packets.len(), total)];
    let length = packing.emit(&pieces, &mut bytes)?;
    assert_eq!(length, bytes.len());
    Ok(bytes)
}

pub(super) fn parse<T: AsRef<[u8]>>(
    encapsulation: Encapsulation,
    bytes: T,
) -> Result<Carried<T>, Error> {
    match encapsulation {
        Encapsulation::Label { .. } => Carried::parse_labelled(bytes),
        Encapsulation::Ip { .. } | Encapsulation::Udp { .. } => Carried::parse(bytes),
    }
}

fn packing() -> impl Strategy<Value = Packing> {
    let unit = prop_oneof![Just(Unit::Microsecond), Just(Unit::TenMicroseconds)];
    let within = any::<[bool; 2]>();
    (0..ENCAPSULATIONS.len(), within, unit, 0..SEQUENCES).prop_map(
        |(encapsulation, [begins_within, ends_within], unit, sequence)| Packing {
            encapsulation: ENCAPSULATIONS[encapsulation],
            begins_within,
            ends_within,
            unit,
            sequence,
        },
    )
}

/// Packets of a few flows, some with marks that may be set.
fn packets() -> impl Strategy<Value = Packets> {
    let bytes = (prop::collection::vec(any::<u8>(), 1..200), any::<bool>()).prop_map(
        |(mut bytes, sixth)| {
            bytes[0] = if sixth { 0x60 | bytes[0] & 0xf } else { 0x45 };
            bytes
        },
    );
    prop::collection::vec((bytes, any::<u16>()), 1..40)
}

/// The bytes that are sent.
fn sent(carried: &Carried<Vec<u8>>) -> Vec<u8> {
    let bytes = carried.parts().collect::<Vec<_>>().concat();
    assert_eq!(bytes.len(), carried.sent_len());
    bytes
}

fn left(carried: &Carried<Vec<u8>>) -> Vec<(u16, Span, Vec<u8>)> {
    let packets = carried.packets();
    let left: Vec<_> = packets
        .map(|inner| (inner.index, inner.waited, inner.bytes.to_vec()))
        .collect();
    assert_eq!(left.len(), usize::from(carried.live()));
    let bytes: usize = left.iter().map(|(_, _, bytes)| bytes.len()).sum();
    assert_eq!(bytes, carried.live_bytes());
    left
}

/// The survivors as an independent implementation packs them: a new bundle, with zero
/// lengths in the entries of dropped packets.
fn packed_anew(packing: Packing, packets: &Packets, dead: &[bool]) -> Vec<u8> {
    let survivors: Packets = packets
        .iter()
        .zip(dead)
        .map(|((bytes, waited), dead)| (if *dead { vec![] } else { bytes.clone() }, *waited))
        .collect();
    let total: usize = survivors.iter().map(|(bytes, _)| bytes.len()).sum();
    let mut bytes = vec![0; packing.packet_len(packets.len(), total)];
    let place = packing.encapsulation.emit(&mut bytes).unwrap();
    let before = pack(packing, packets).unwrap();
    bytes[place.bundle..place.bundle + HEADER_LEN]
        .copy_from_slice(&before[place.bundle..place.bundle + HEADER_LEN]);
    let mut at = place.bundle + HEADER_LEN;
    for (survivor, waited) in &survivors {
        let length = u16::try_from(survivor.len()).unwrap();
        bytes[at..at + 2].copy_from_slice(&length.to_be_bytes());
        bytes[at + 2..at + 4].copy_from_slice(&waited.to_be_bytes());
        at += ENTRY_LEN;
    }
    for (survivor, _) in &survivors {
        bytes[at..at + survivor.len()].copy_from_slice(survivor);
        at += survivor.len();
    }
    place.seal(&mut bytes).unwrap();
    bytes
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_rejected(
        start in 0usize..5, rest in prop::collection::vec(any::<u8>(), 0..120),
    ) {
        let starts: [&[u8]; 5] = [&[], &[0x45], &[0x60], &[0; 12], &[0, 0, 1, 64, 0, 2]];
        let bytes = [starts[start], &rest].concat();
        let read = [
            Carried::parse(bytes.clone()),
            Carried::parse_labelled(bytes.clone()),
            Carried::parse_frame(bytes.clone()),
        ];
        for mut carried in read.into_iter().flatten() {
            let live = carried.live();
            carried.drop_inner(1);
            carried.discard(1);
            carried.compact();
            prop_assert_eq!(carried.packets().count(), usize::from(carried.live()));
            prop_assert!(carried.live() <= live && carried.sent_len() <= bytes.len());
        }
    }

    #[test]
    fn any_packets_come_out_as_they_went_in(packing in packing(), packets in packets()) {
        let bytes = pack(packing, &packets).unwrap();
        let carried = parse(packing.encapsulation, bytes.clone()).unwrap();
        prop_assert_eq!(carried.encapsulation().unwrap(), packing.encapsulation);
        prop_assert!(carried.checksum_holds());
        let header = carried.header();
        prop_assert_eq!((header.unit, header.sequence), (packing.unit, packing.sequence));
        let within = (header.begins_within, header.ends_within);
        prop_assert_eq!(within, (packing.begins_within, packing.ends_within));
        let body = Body::parse(&bytes[packing.encapsulation.header_len()..], false).unwrap();
        let parts = body.packets().map(|(part, _, _)| part);
        prop_assert!(parts.eq(carried.packets().map(|inner| inner.part)));
        let total: usize = packets.iter().map(|(bytes, _)| bytes.len()).sum();
        prop_assert_eq!(usize::from(header.average), total / packets.len());
        let expected: Vec<_> = (0..)
            .zip(&packets)
            .map(|(index, (bytes, waited))| (index, packing.unit.span(*waited), bytes.clone()))
            .collect();
        prop_assert_eq!(left(&carried), expected);
        prop_assert_eq!(sent(&carried), bytes);
    }

    #[test]
    fn a_bundle_that_is_filled_up_to_an_mtu_never_passes_it(
        packing in packing(), packets in packets(), mtu in 300usize..3_000,
    ) {
        let length = |count: usize| {
            let bytes = packets[..count].iter().map(|(bytes, _)| bytes.len()).sum();
            packing.packet_len(count, bytes)
        };
        let fits = (0..=packets.len()).take_while(|count| length(*count) <= mtu).count() - 1;
        let bytes = pack(packing, &packets[..fits]).unwrap();
        prop_assert!(bytes.len() <= mtu && bytes.len() == length(fits));
        let carried = parse(packing.encapsulation, bytes).unwrap();
        prop_assert!(carried.sent_len() <= mtu && usize::from(carried.live()) == fits);
    }

    #[test]
    fn a_bundle_with_inner_drops_is_what_packing_the_survivors_would_have_made(
        packing in packing(), packets in packets(),
        selection in prop::collection::vec((any::<bool>(), 0u16..45), 1..12), between in any::<bool>(),
    ) {
        let mut carried = parse(packing.encapsulation, pack(packing, &packets).unwrap()).unwrap();
        let original = left(&carried);
        let mut dead = vec![false; packets.len()];
        let is_whole = |index: usize| {
            let begins = packing.begins_within && index == 0;
            let ends = packing.ends_within && index + 1 == packets.len();
            !(begins || ends)
        };
        for (front, number) in selection {
            if front {
                let many = number % 4;
                let alive = dead.iter().enumerate().filter(|(_, dead)| !**dead);
                let alive = alive.map(|(index, _)| index).filter(|index| is_whole(*index));
                let first: Vec<_> = alive.take(many.into()).collect();
                let bytes = first.iter().map(|index| packets[*index].0.len()).sum();
                let packets = u16::try_from(first.len()).unwrap();
                prop_assert_eq!(carried.drop_inner(many), InnerDropped { packets, bytes });
                first.iter().for_each(|index| dead[*index] = true);
            } else {
                let alive = dead.get(usize::from(number)) == Some(&false)
                    && is_whole(usize::from(number));
                let bytes = alive.then(|| packets[usize::from(number)].0.len());
                prop_assert_eq!(carried.discard(number), bytes);
                if alive {
                    dead[usize::from(number)] = true;
                }
            }
            if between {
                carried.compact();
            }
            let anew = packed_anew(packing, &packets, &dead);
            prop_assert_eq!(sent(&carried), anew.clone());
            let survivors: Vec<_> = original.iter().filter(|(index, ..)| !dead[usize::from(*index)]).cloned().collect();
            prop_assert_eq!(left(&carried), survivors.clone());
            prop_assert!(carried.checksum_holds());
            // The next hop reads the same.
            let next = parse(packing.encapsulation, anew).unwrap();
            prop_assert_eq!(left(&next), survivors);
            prop_assert_eq!(next.header(), carried.header());
        }
        carried.compact();
        prop_assert_eq!(carried.parts().count(), 1);
        prop_assert_eq!(sent(&carried), packed_anew(packing, &packets, &dead));
    }

    #[test]
    fn two_hops_of_inner_drops_lose_nothing_unseen_of_any_flow(
        packing in packing(), flows in prop::collection::vec((0u8..4, 28usize..90), 1..40),
        orders in prop::collection::vec((any::<bool>(), 0u16..45), 2..9), first in 0usize..9,
    ) {
        let packets: Packets = flows.iter().map(|(flow, length)| {
            let mut bytes = vec![0x45; *length];
            bytes[9..28].fill(17);
            bytes[23] = *flow;
            (bytes, 0)
        }).collect();
        let mut carried = parse(packing.encapsulation, pack(packing, &packets).unwrap()).unwrap();
        let flow_of: Vec<u64> = carried.packets().map(|inner| inner.flow()).collect();
        let mut dropped = vec![];
        for (hop, (front, number)) in orders.into_iter().enumerate() {
            if hop == first {
                carried = parse(packing.encapsulation, sent(&carried)).unwrap();
            }
            let before: Vec<u16> = carried.packets().map(|inner| inner.index).collect();
            if front {
                carried.drop_inner(number % 5);
            } else {
                carried.discard(number);
            }
            let after: Vec<u16> = carried.packets().map(|inner| inner.index).collect();
            dropped.extend(before.iter().filter(|index| !after.contains(index)));
        }
        let arrived = parse(packing.encapsulation, sent(&carried)).unwrap();
        for flow in &flow_of {
            let of = |index: u16| flow_of[usize::from(index)] == *flow;
            let sent: Vec<&[u8]> = packets.iter().zip(&flow_of)
                .filter(|(_, other)| *other == flow).map(|((bytes, _), _)| &bytes[..]).collect();
            let mut came: Vec<(u16, &[u8])> = arrived.packets()
                .filter(|inner| inner.flow() == *flow).map(|inner| (inner.index, inner.bytes)).collect();
            prop_assert!(came.is_sorted_by_key(|(index, _)| *index), "the order of the flow is kept");
            came.extend(dropped.iter().filter(|index| of(**index))
                .map(|index| (*index, &packets[usize::from(*index)].0[..])));
            came.sort_unstable();
            let came: Vec<&[u8]> = came.into_iter().map(|(_, bytes)| bytes).collect();
            prop_assert_eq!(came, sent);
        }
    }
}
