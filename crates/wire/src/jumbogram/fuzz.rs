//! Fuzzing of jumbograms: valid ones are built, then damaged.

use std::vec::Vec;

use super::tests::{emit, packet};
use super::*;
use crate::fuzz::{cases, chance};

/// Values with a meaning in some field of a header.
const TELLING: [u8; 16] = [
    0, 1, 2, 3, 4, 5, 8, 17, 43, 44, 59, 60, 0x60, 0xc2, 0x80, 0xff,
];

/// Reads a damaged packet. Returns whether it was accepted.
fn attempt(bytes: &[u8], whole: u64) -> bool {
    let head = match Head::parse(bytes, whole) {
        Ok(head) => head,
        Err(fault) => {
            // The pointer of the error message lies within the packet.
            if let Answer::ParameterProblem { pointer, .. } = fault.answer() {
                assert!((pointer as usize) < bytes.len(), "{fault}");
            }
            return false;
        }
    };
    assert!(u64::from(head.length) + 40 <= whole);
    assert!(head.upper >= 40);
    assert_eq!(head.is_jumbogram(), head.length > LARGEST_ORDINARY);
    let Ok(udp) = head.udp(bytes) else {
        return true;
    };
    assert_eq!(udp.payload, head.upper + 8);
    assert_eq!(
        u64::from(udp.payload) + u64::from(udp.packet.payload),
        u64::from(head.length) + 40
    );
    // The parsed packet is emitted and parsed again.
    let again = emit(&udp.packet);
    let read = Head::parse(&again, udp.packet.packet_len()).expect("it was just written");
    assert_eq!(read.udp(&again).map(|udp| udp.packet), Ok(udp.packet));
    true
}

/// `JUMBOLAB_FUZZ_CASES=10000000 cargo test --release -p jumbolab-wire` runs more
/// cases.
#[test]
fn at_least_one_in_five_damaged_packets_is_accepted_and_none_does_harm() {
    let cases = cases(50_000);
    let mut word = chance(2_675);
    let mut chance = move || ((word() >> 32) as u32).to_le_bytes();
    let mut accepted = 0;
    for _ in 0..cases {
        let [kind, many, shift, extra] = chance();
        let payload = match kind % 4 {
            0 => u32::from_le_bytes(chance()) >> (shift % 32),
            1 => 65_500 + u32::from(shift),
            _ => 65_528 + (u32::from_le_bytes(chance()) >> (8 + shift % 24)),
        };
        let packet = packet(payload.min(Packet::LARGEST));
        let mut bytes: Vec<u8> = emit(&packet);
        let mut whole = packet.packet_len();
        if extra % 3 == 0 && packet.is_jumbogram() {
            // Another header behind the options, which the length includes.
            let header =
                [[17, 0, 1, 4, 0, 0, 0, 0], [17, 0, 0, 0, 0, 0, 0, 0]][usize::from(extra % 2)];
            let number = [60, 43, 44, 0][usize::from(extra / 8 % 4)];
            bytes[40] = number;
            bytes.splice(48..48, header);
            let said = u32::from_be_bytes([bytes[44], bytes[45], bytes[46], bytes[47]]);
            let said = said.saturating_add(8).to_be_bytes();
            bytes[44..48].copy_from_slice(&said);
            whole += 8;
        }
        for _ in 0..many % 3 {
            let [how, at, value, _] = chance();
            let place = usize::from(at) % bytes.len().max(1);
            match how % 6 {
                0 => bytes[place] = value,
                1 => bytes[place] ^= 1 << (value % 8),
                2 => bytes[place] = TELLING[usize::from(value) % TELLING.len()],
                3 => bytes.truncate(1 + place),
                4 => whole = whole.saturating_sub(value.into()),
                _ => whole = whole.saturating_add(value.into()),
            }
        }
        accepted += u64::from(attempt(&bytes, whole));
    }
    assert!(accepted * 5 >= cases, "{accepted} of {cases}");
}
