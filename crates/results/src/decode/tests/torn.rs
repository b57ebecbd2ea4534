//! Logs of programs that were killed at any byte.

use wire::log::{Batch, Block, ENVELOPE, MAGIC, Next, next};

use super::*;

/// Tests a sample of positions; `JUMBOLAB_FUZZ_CASES=3000000 cargo test
/// --release -p jumbolab-results any_byte` tests all of them in about a day.
/// `wire/src/log/tests.rs` proves for every byte that a block is incomplete
/// without its last one.
#[test]
fn whatever_is_whole_before_any_byte_of_three_megabytes_is_decoded() {
    let (_folder, path) = log(Role::Receiver, |writer, out| {
        writer.flow(&flow(7), out);
        for sequence in 0..540_000_u64 {
            let noise = (sequence + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            let sent = sequence * 20_000 + noise % 60_000;
            let record = Record {
                sent,
                received: Some(sent + 300_000 + (noise >> 24) % 50_000),
                size: 64 + u32::try_from((noise >> 40) % 1_408).unwrap(),
                ..record(7, sequence, 0)
            };
            writer.record(record, out);
        }
    });
    let bytes = fs::read(&path).unwrap();
    assert!(bytes.len() > 3_000_000, "{} bytes", bytes.len());
    let ends = ends(&bytes);
    let cuts = std::env::var("JUMBOLAB_FUZZ_CASES").ok();
    let cuts: usize = cuts.map_or(5, |cuts| cuts.parse().unwrap());
    let first = ends[0].0;
    let all = bytes.len() - first;
    let file = fs::File::options().write(true).open(&path).unwrap();
    // The file is truncated step by step.
    for number in (0..cuts).rev() {
        let cut = first + all * number / cuts + number % 7;
        file.set_len(cut.try_into().unwrap()).unwrap();
        let decoded = decode(&path, &STANDARD, &mut |_, _| ()).unwrap();
        let (end, records) = ends[ends.partition_point(|(end, _)| *end <= cut) - 1];
        let row: Value = serde_json::from_str(&json(&decoded.rows).next().unwrap()).unwrap();
        assert_eq!(row["received"], records, "cut after {cut} bytes");
        let complaint = decoded.complaint.unwrap();
        let says = match end == cut {
            true => "its writer was stopped".to_owned(),
            false => format!("after {end} bytes"),
        };
        assert!(complaint.contains(&says), "{complaint}");
    }
}

/// The end of each block from the flow's block on, with the number of records
/// before it.
fn ends(bytes: &[u8]) -> Vec<(usize, u64)> {
    let mut batch = Batch::default();
    let (mut at, mut records, mut ends) = (MAGIC.len(), 0, Vec::new());
    while let Next::Block(block, length) = next(&bytes[at..]).unwrap() {
        at += length;
        if let Block::Records(found) = block {
            found.read(&mut batch).unwrap();
            records += u64::try_from(batch.len()).unwrap();
        }
        ends.push((at, records));
    }
    // The block of facts alone does not describe a flow.
    ends.remove(0);
    assert_eq!(ends.pop(), Some((bytes.len(), records)));
    assert!(bytes.len() - at < ENVELOPE);
    ends
}
