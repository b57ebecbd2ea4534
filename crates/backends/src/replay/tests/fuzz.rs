//! Recordings of unknown origin.

use super::*;

/// A change of the text of a recording.
#[derive(Clone, Debug)]
enum Change {
    /// Another number or word in the place of one.
    Word(&'static str),
    /// Another byte.
    Byte(u8),
    /// The line with that of another place changed.
    Swap(prop::sample::Index),
    Repeat,
    Remove,
}

const WORDS: [&str; 16] = [
    "",
    "0",
    "1",
    "2",
    "-1",
    "255",
    "4294967296",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "NaN",
    "waiting",
    "dropped",
    "delivered",
    "full",
];

fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, Change)>> {
    let change = prop_oneof![
        6 => prop::sample::select(&WORDS[..]).prop_map(Change::Word),
        3 => any::<u8>().prop_map(Change::Byte),
        1 => any::<prop::sample::Index>().prop_map(Change::Swap),
        1 => Just(Change::Repeat),
        1 => Just(Change::Remove),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), change), 0..5)
}

/// The place and the end of the word about `place`.
fn word(bytes: &[u8], place: usize) -> (usize, usize) {
    let ends = |byte: &u8| b",\n:{}[]\" ".contains(byte);
    let begin = bytes[..place]
        .iter()
        .rposition(ends)
        .map_or(0, |end| end + 1);
    let length = bytes[place..].iter().position(ends);
    (begin, length.map_or(bytes.len(), |length| place + length))
}

fn changed(text: &str, changes: &[(prop::sample::Index, Change)]) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    for (place, change) in changes {
        if let Change::Word(_) | Change::Byte(_) = change {
            let at = place.index(bytes.len());
            match change {
                Change::Word(new) => {
                    let (begin, end) = word(&bytes, at);
                    drop(bytes.splice(begin..end, new.bytes()));
                }
                Change::Byte(byte) => bytes[at] = *byte,
                _ => {}
            }
            continue;
        }
        let mut lines: Vec<Vec<u8>> = { bytes.split_inclusive(|byte| *byte == b'\n') }
            .map(<[u8]>::to_vec)
            .collect();
        let at = place.index(lines.len());
        match change {
            Change::Swap(other) => {
                let other = other.index(lines.len());
                lines.swap(at, other);
            }
            Change::Repeat => lines.insert(at, lines[at].clone()),
            _ if lines.len() > 1 => drop(lines.remove(at)),
            _ => {}
        }
        bytes = lines.concat();
    }
    bytes
}

proptest! {
    #[test]
    fn a_recording_of_a_link_is_replayed_or_rejected(
        discipline in prop::sample::select(&DISCIPLINES[..]),
        steps in prop::collection::vec(steps(), 1).prop_map(|mut steps| { steps[0].truncate(30); steps.remove(0) }),
        changes in changes(),
    ) {
        let text = recorded_text(&settings(discipline), &steps, true);
        let one_line = |error: anyhow::Error| {
            let line = format!("{error:#}");
            assert!(!line.contains('\n'), "{line}");
        };
        match Recorded::parse(&changed(&text, &changes)[..]) {
            Err(error) => one_line(error),
            Ok(found) => for direction in [0, 1] {
                let packets = found.directions[direction].packets.len();
                match reproduce(&found, direction) {
                    Err(error) => one_line(error),
                    Ok(agreement) => prop_assert!(agreement.agreed <= agreement.compared && agreement.compared <= packets),
                }
                recorded(&found, direction);
            }
        }
    }
}

#[test]
fn the_largest_numbers_of_a_cut_recording_are_read() {
    let text = recorded_text(&settings("droptail"), &[], false);
    let most = u64::MAX;
    let cut = text.replace("# end\n", "");
    for after in [most, most - 1] {
        let changed = cut.replacen("# chance 0 0 ", &format!("# chance 0 {after} "), 1);
        assert_ne!(changed, cut);
        let line = format!("5,6,0,64,0,delivered,{most},,0,0,0,0,0,1,\n");
        let found = Recorded::parse((changed + &line).as_bytes()).unwrap();
        assert!(!found.is_whole);
        assert_eq!(
            found.directions[0].packets.len(),
            usize::from(after == most - 1)
        );
    }
}
