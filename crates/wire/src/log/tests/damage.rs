//! Damaged blocks with a valid checksum.

use super::*;
use crate::fuzz::{cases, chance};

proptest! {
    #[test]
    fn damage_under_a_right_checksum_never_panics_and_grows_nothing(
        block in 1..6u8,
        what in prop::collection::vec(any::<(u8, u16, u8)>(), 0..4),
        count in 1..60u64,
    ) {
        attempt(block, &what, count);
    }
}

/// Puts a damaged block under a valid checksum and reads it. Returns whether it was
/// accepted.
fn attempt(block: u8, what: &[(u8, u16, u8)], count: u64) -> bool {
    let mut content = Vec::new();
    match block {
        kind::FACTS => FACTS.emit(&mut content),
        kind::FLOW => Flow {
            number: 1,
            name: String::from("voice"),
            protocol: 17,
            dscp: 46,
            source: "[::1]:4".parse().unwrap(),
            destination: "127.0.0.1:5".parse().unwrap(),
        }
        .emit(&mut content),
        kind::ESTIMATE => Estimate {
            flow: 1,
            at: 2,
            offset: -3,
            bound: 4,
        }
        .emit(&mut content),
        kind::SENT => Sent {
            flow: 1,
            packets: 200,
            bytes: 40_000,
        }
        .emit(&mut content),
        _ => {
            let records: Vec<Record> = (0..count).map(typical).collect();
            records::emit(&records, &mut records::Scratch::default(), &mut content);
        }
    }
    damage(&mut content, what);
    let mut log = Vec::new();
    seal(&mut log, block, |out| out.extend(&content));
    let mut batch = Batch::default();
    match next(&log) {
        Ok(Next::Block(Block::Records(records), _)) => {
            let read = records.read(&mut batch).is_ok();
            assert!(batch.records().count() <= BLOCK && batch.is_empty() != read);
            read
        }
        Ok(Next::Block(..)) => true,
        Ok(Next::More(_)) => panic!("the block is whole"),
        Err(_) => false,
    }
}

/// `JUMBOLAB_FUZZ_CASES=10000000 cargo test --release -p jumbolab-wire --lib
/// at_least_three -- --nocapture`
/// runs more cases.
#[expect(clippy::print_stdout, reason = "figures of long runs")]
#[test]
fn at_least_three_in_ten_damaged_blocks_are_accepted() {
    let cases = cases(20_000);
    let mut word = chance(1);
    let mut chance = move || (word() >> 33).to_le_bytes();
    let (mut accepted, mut then) = (0, 0);
    for number in 0..cases {
        if number == cases / 10 {
            then = resident();
        }
        let [block, many, count, ..] = chance();
        let what: Vec<(u8, u16, u8)> = (0..=many % 3)
            .map(|_| {
                let [how, low, high, value, ..] = chance();
                (how, u16::from_le_bytes([low, high]), value)
            })
            .collect();
        accepted += u64::from(attempt(1 + block % 6, &what, 1 + u64::from(count % 60)));
    }
    let grown = resident().saturating_sub(then);
    std::println!("{accepted} of {cases} accepted, memory grew by {grown} kB");
    assert!(accepted * 10 >= cases * 3, "{accepted} of {cases}");
    // Concurrent tests hold logs of some megabytes.
    assert!(grown < 64 << 10, "memory grew by {grown} kB");
}

/// Memory of this process, in kB.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let words = line.unwrap().split_whitespace();
    words.rev().nth(1).unwrap().parse().unwrap()
}

/// Changes the content of a block at the given bytes.
fn damage(content: &mut Vec<u8>, what: &[(u8, u16, u8)]) {
    for &(how, at, value) in what {
        let at = usize::from(at) % content.len().max(1);
        match how % 8 {
            0 => content.truncate(at),
            1 => content.push(value),
            _ if content.is_empty() => (),
            2 => content[at] = value,
            3 => content[at] ^= 1 << (value % 8),
            // Behind the head of a block of one flow, columns of few values:
            // most bytes are values, and any value is one.
            _ => {
                let last = content.len() - 1;
                content[last - at % (last / 2 + 1)] ^= 1 << (value % 2);
            }
        }
    }
}
