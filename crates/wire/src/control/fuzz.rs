//! Fuzzing of control messages: valid ones are built, then damaged.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::tests::message;
use super::*;

/// Octets at the limits of numbers and flags.
const TELLING: [u8; 8] = [0, 1, 2, 0x3f, 0x40, 0x7f, 0x80, 0xff];

/// A damage: how, where, and with which octet.
type Damage = (u8, u8, u8);

fn damaged(message: &Control, damages: &[Damage]) -> Vec<u8> {
    let mut room = [0; LONGEST];
    let length = message.emit(&mut room);
    let mut octets = room[..length].to_vec();
    for &(how, at, value) in damages {
        let place = usize::from(at) % octets.len().max(1);
        match how % 16 {
            0 => octets.truncate(place),
            1 => octets.push(value),
            2 => octets
                .iter_mut()
                .take(1)
                .for_each(|kind| *kind = value % 20),
            // A whole number.
            3..=6 => {
                let end = octets.len().min(place + 8);
                octets[place..end].fill(TELLING[usize::from(value % 8)]);
            }
            _ => octets[place..]
                .iter_mut()
                .take(1)
                .for_each(|one| *one = value),
        }
    }
    octets
}

proptest! {
    #[test]
    fn hostile_octets_parse_to_what_they_were_or_not_at_all(
        message in message(), damages in vec(any::<Damage>(), 0..4), prefix: [u8; 2],
    ) {
        let octets = damaged(&message, &damages);
        if let Ok(message) = Control::parse(&octets) {
            let mut room = [0; LONGEST];
            let length = message.emit(&mut room);
            prop_assert!(length + TAG_LEN <= LONGEST);
            prop_assert_eq!(&room[..length], &octets[..]);
        }
        if let Ok(length) = frame_length(&prefix) {
            prop_assert!((1..=LONGEST).contains(&length));
        }
    }
}

#[test]
fn a_third_of_the_hostile_octets_reaches_behind_the_parser() {
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
