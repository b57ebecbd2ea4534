//! Fuzzing of bundles: valid ones are built, then damaged.

use std::vec;
use std::vec::Vec;

use super::tests::{ENCAPSULATIONS, Packets, pack, parse};
use super::*;
use crate::fuzz::{cases, chance};

/// A change to a bundle before it is read.
#[derive(Clone, Copy, Debug)]
struct Damage {
    how: u8,
    at: u16,
    value: u8,
}

/// Damages `bytes`, whose first `headers` are headers.
fn damage(bytes: &mut Vec<u8>, headers: usize, Damage { how, at, value }: Damage) {
    let within = |end: usize| usize::from(at) % end.max(1);
    match how % 8 {
        // A byte of headers and entries, any byte, or one bit of it.
        0 => bytes[within(headers)] = value,
        1 => {
            let place = within(bytes.len());
            bytes[place] = value;
        }
        2 => {
            let place = within(headers);
            bytes[place] ^= 1 << (value % 8);
        }
        // An entry that marks its packet as dropped.
        3 => {
            let place = within(headers) & !1;
            bytes[place] = 0;
            bytes[place + 1] = 0;
        }
        // Cut short, at least one byte left; padded.
        4 => bytes.truncate(1 + within(bytes.len())),
        5 => bytes.extend(core::iter::repeat_n(value, within(40))),
        _ => {}
    }
}

/// Reads a damaged bundle, and applies the operations of a router to it. Returns
/// whether it was accepted as a bundle.
fn attempt(encapsulation: Encapsulation, bytes: Vec<u8>, orders: [u8; 4]) -> bool {
    let length = bytes.len();
    let Ok(mut carried) = parse(encapsulation, bytes) else {
        return false;
    };
    let holds = carried.checksum_holds();
    let header = carried.header();
    let mut live = usize::from(carried.live());
    let mut bytes = carried.live_bytes();
    for order in orders {
        let index = u16::from(order / 4) % header.count;
        match order % 4 {
            0 => {
                let inner_dropped = carried.drop_inner(index);
                live -= usize::from(inner_dropped.packets);
                bytes -= inner_dropped.bytes;
            }
            1 => {
                if let Some(dead) = carried.discard(index) {
                    live -= 1;
                    bytes -= dead;
                }
            }
            2 => {
                let marked = carried.mark(index);
                assert!(!marked || carried.entry(index).is_some_and(|entry| entry.length > 0));
            }
            _ => assert!(carried.compact() <= length),
        }
        assert_eq!(
            (usize::from(carried.live()), carried.live_bytes()),
            (live, bytes)
        );
        assert_eq!(carried.packets().count(), live);
        let inside: usize = carried.packets().map(|inner| inner.bytes.len()).sum();
        assert_eq!(inside, bytes);
    }
    // The next hop reads the bytes that are sent, and they are as right or wrong as
    // before.
    let sent: Vec<u8> = carried.parts().collect::<Vec<_>>().concat();
    assert!(sent.len() == carried.sent_len() && sent.len() <= length);
    let next = parse(encapsulation, &sent[..]).expect("what is left is a bundle");
    assert_eq!((next.header(), usize::from(next.live())), (header, live));
    assert!(next.packets().eq(carried.packets()));
    assert_eq!(next.checksum_holds(), holds);
    for inner in next.packets() {
        let (_, _) = (inner.flow(), inner.service());
    }
    true
}

/// `JUMBOLAB_FUZZ_CASES=10000000 cargo test --release -p jumbolab-wire` runs more
/// cases.
#[test]
fn at_least_three_in_ten_damaged_bundles_are_accepted_and_none_does_harm() {
    let cases = cases(20_000);
    let mut word = chance(3);
    let mut chance = move || ((word() >> 32) as u32).to_le_bytes();
    let mut accepted = 0;
    for _ in 0..cases {
        let [kind, count, many, service] = chance();
        let packets: Packets = (0..=count % 12)
            .map(|_| {
                let [length, version, service, fill] = chance();
                let mut bytes = vec![fill; 1 + usize::from(length % 90)];
                bytes[0] = if version % 2 == 0 { 0x45 } else { 0x60 };
                if let Some(second) = bytes.get_mut(1) {
                    *second = service;
                }
                (bytes, u16::from(fill) << (version % 9))
            })
            .collect();
        let packing = Packing {
            encapsulation: ENCAPSULATIONS[usize::from(kind) % ENCAPSULATIONS.len()],
            begins_within: many & 0x40 != 0,
            ends_within: many & 0x80 != 0,
            unit: Unit::Microsecond,
            sequence: u16::from(service),
        };
        let mut bytes = pack(packing, &packets).expect("it is a bundle");
        let headers = packing.packet_len(packets.len(), 0);
        for _ in 0..many % 3 {
            let [how, low, high, value] = chance();
            let at = u16::from_le_bytes([low, high]);
            if bytes.len() >= headers {
                damage(&mut bytes, headers, Damage { how, at, value });
            }
        }
        accepted += u64::from(attempt(packing.encapsulation, bytes, chance()));
    }
    assert!(accepted * 10 >= cases * 3, "{accepted} of {cases}");
}
