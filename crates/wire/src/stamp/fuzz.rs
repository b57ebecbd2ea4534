//! Fuzzing of test packets: valid ones are built, then damaged.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::tests::{OBSERVED, probe, reply_to};
use super::*;
use crate::fuzz::chance;

/// Values with a meaning in some field of a TLV.
const TELLING: [u8; 13] = [0, 1, 2, 4, 8, 12, 13, 0x40, 0x80, 240, 252, 253, 0xff];

/// Reads damaged bytes in every way. Returns whether they are a request.
fn attempt(bytes: &[u8]) -> bool {
    let _ = Probe::id_of(bytes);
    if let Ok(reflected) = Reflected::parse(bytes) {
        let mut again = [0; BASE_LEN];
        reflected.packet.emit(&mut again).unwrap();
        assert_eq!(ReflectorPacket::parse(&again), Ok(reflected.packet));
    }
    let Ok(request) = SenderPacket::parse(bytes) else {
        return false;
    };
    let mut again = [0; BASE_LEN];
    request.emit(&mut again).unwrap();
    assert_eq!(again, bytes[..BASE_LEN]);
    let base = reply_to(request);
    let mut reply = vec![0xdd; bytes.len()];
    assert!(reflect(bytes, &base, OBSERVED, &mut reply[1..]).is_err());
    let Some(length) = reflect(bytes, &base, OBSERVED, &mut reply).unwrap() else {
        return true;
    };
    assert!((BASE_LEN..=bytes.len()).contains(&length));
    let reply = &reply[..length];
    // The reply to a request is none, so no reflectors answer each other.
    assert!(SenderPacket::parse(reply).is_err());
    assert_eq!(Reflected::parse(reply).map(|read| read.packet), Ok(base));
    true
}

/// A test packet with this damage.
fn damaged(id: u64, length: u8, short: bool, damages: &[[u8; 3]]) -> Vec<u8> {
    let mut bytes: Vec<u8> = probe(id, 72 + usize::from(length), short);
    for &[how, at, value] in damages {
        // Most of the damage is behind the base.
        let from = if how < 200 { BASE_LEN } else { 0 };
        let place = (from + usize::from(at)) % bytes.len();
        match how % 4 {
            0 => bytes[place] = value,
            1 => bytes[place] ^= 1 << (value % 8),
            2 => bytes[place] = TELLING[usize::from(value) % TELLING.len()],
            _ => bytes.truncate(1 + place),
        }
    }
    bytes
}

proptest! {
    #[test]
    fn damaged_test_packets_do_no_harm_and_never_amplify(
        id: u64, length: u8, short: bool, damages in vec(any::<[u8; 3]>(), 0..4),
    ) {
        let bytes = damaged(id, length, short, &damages);
        attempt(&bytes);
        // Its reply as a sender reads it, damaged likewise.
        let mut reply = vec![0; bytes.len()];
        let request = SenderPacket::parse(&bytes);
        let length = request.map(|request| reflect(&bytes, &reply_to(request), OBSERVED, &mut reply));
        if let Ok(Ok(Some(length))) = length {
            reply.truncate(length);
            for [_, at, value] in damages {
                let place = usize::from(at) % reply.len();
                reply[place] = value;
            }
            attempt(&reply);
        }
    }
}

#[test]
fn half_of_the_damaged_test_packets_are_requests() {
    let mut word = chance(8_762);
    let mut chance = move || ((word() >> 32) as u32).to_le_bytes();
    let requests = (0..1_000).filter(|_| {
        let [kind, many, length, _] = chance();
        let damages = (0..many % 4)
            .map(|_| chance())
            .map(|[how, at, value, _]| [how, at, value]);
        let damages: Vec<_> = damages.collect();
        attempt(&damaged(5, length, kind % 2 == 0, &damages))
    });
    let requests = requests.count();
    assert!((500..1_000).contains(&requests), "{requests} of 1000");
}
