//! Fuzzing of control messages: valid ones are built, then damaged.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::tests::message;
use super::*;

/// Bytes at the limits of numbers and flags.
const TELLING: [u8; 8] = [0, 1, 2, 0x3f, 0x40, 0x7f, 0x80, 0xff];

/// A damage: how, where, and with which byte.
type Damage = (u8, u8, u8);

fn damaged(message: &Control, damages: &[Damage]) -> Vec<u8> {
    let mut room = [0; LONGEST];
    let length = message.emit(&mut room);
    let mut bytes = room[..length].to_vec();
    for &(how, at, value) in damages {
        let place = usize::from(at) % bytes.len().max(1);
        match how % 16 {
            0 => bytes.truncate(place),
            1 => bytes.push(value),
            2 => bytes.iter_mut().take(1).for_each(|kind| *kind = value % 20),
            // A whole number.
            3..=6 => {
                let end = bytes.len().min(place + 8);
                bytes[place..end].fill(TELLING[usize::from(value % 8)]);
            }
            _ => bytes[place..]
                .iter_mut()
                .take(1)
                .for_each(|one| *one = value),
        }
    }
    bytes
}

proptest! {
    #[test]
    fn hostile_bytes_parse_to_what_they_were_or_not_at_all(
        message in message(), damages in vec(any::<Damage>(), 0..4), prefix: [u8; 2],
    ) {
        let bytes = damaged(&message, &damages);
        if let Ok(message) = Control::parse(&bytes) {
            let mut room = [0; LONGEST];
            let length = message.emit(&mut room);
            prop_assert!(length + TAG_LEN <= LONGEST);
            prop_assert_eq!(&room[..length], &bytes[..]);
        }
        if let Ok(length) = frame_length(&prefix) {
            prop_assert!((1..=LONGEST).contains(&length));
        }
    }
}

#[test]
fn a_third_of_the_hostile_bytes_reaches_behind_the_parser() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let strategy = (message(), vec(any::<Damage>(), 0..4));
    let accepted = (0..1000)
        .filter(|_| {
            let (message, damages) = strategy.new_tree(&mut runner).unwrap().current();
            Control::parse(&damaged(&message, &damages)).is_ok()
        })
        .count();
    assert!((300..1000).contains(&accepted), "{accepted} of 1000");
}
