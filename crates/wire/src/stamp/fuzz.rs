//! Fuzzing of test packets: valid ones are built, then damaged.

use std::vec;
use std::vec::Vec;

use super::tests::{probe, reply_to};
use super::*;
use crate::fuzz::{cases, chance};

/// Values with a meaning in some field of a TLV.
const TELLING: [u8; 12] = [0, 1, 2, 4, 8, 12, 13, 0x40, 0x80, 240, 252, 0xff];

/// Reads damaged octets in every way. Returns whether they are a request.
fn attempt(octets: &[u8]) -> bool {
    let _ = Probe::id_of(octets);
    if let Ok(reflected) = Reflected::parse(octets) {
        let mut again = [0; BASE_LEN];
        reflected.packet.emit(&mut again).unwrap();
        assert_eq!(ReflectorPacket::parse(&again), Ok(reflected.packet));
    }
    let Ok(request) = SenderPacket::parse(octets) else {
        return false;
    };
    let mut again = [0; BASE_LEN];
    request.emit(&mut again).unwrap();
    assert_eq!(again, octets[..BASE_LEN]);
    let base = reply_to(request);
    let mut reply = vec![0xdd; octets.len()];
    assert!(reflect(octets, &base, true, &mut reply[1..]).is_err());
    let Some(length) = reflect(octets, &base, true, &mut reply).unwrap() else {
        return true;
    };
    assert!((BASE_LEN..=octets.len()).contains(&length));
    let reply = &reply[..length];
    // The reply to a request is none, so no reflectors answer each other.
    assert!(SenderPacket::parse(reply).is_err());
    assert_eq!(Reflected::parse(reply).map(|read| read.packet), Ok(base));
    true
}

/// `JUMBOLAB_FUZZ_CASES=10000000 cargo test --release -p jumbolab-wire` runs more
/// cases.
#[test]
fn damaged_test_packets_do_no_harm_and_never_amplify() {
    let cases = cases(50_000);
    let mut word = chance(8_762);
    let mut chance = move || ((word() >> 32) as u32).to_le_bytes();
    let mut requests = 0;
    for _ in 0..cases {
        let [kind, many, length, _] = chance();
        let id = u64::from(u32::from_le_bytes(chance()));
        let mut octets: Vec<u8> = probe(id, 72 + usize::from(length), kind % 2 == 0);
        for _ in 0..many % 4 {
            let [how, at, value, _] = chance();
            // Most of the damage is behind the base.
            let from = if how < 200 { BASE_LEN } else { 0 };
            let place = (from + usize::from(at)) % octets.len();
            match how % 4 {
                0 => octets[place] = value,
                1 => octets[place] ^= 1 << (value % 8),
                2 => octets[place] = TELLING[usize::from(value) % TELLING.len()],
                _ => octets.truncate(1 + place),
            }
        }
        requests += u64::from(attempt(&octets));
    }
    assert!(requests * 2 >= cases, "{requests} of {cases}");
}
