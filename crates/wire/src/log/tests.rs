use super::block::{kind, seal};
use super::*;
use alloc::string::String;
use alloc::vec;
use alloc::vec::Vec;
use core::net::SocketAddr;
use proptest::prelude::*;

mod damage;

const FACTS: Facts = Facts {
    role: Role::Receiver,
    sent: Clock::Program,
    received: Clock::Kernel,
    returned: Clock::None,
    wall: 1_700_000_000_000_000_000,
    start: 77,
};

/// A packet of a flow with exponential gaps of 20 us, delays within 50 us and sizes of
/// 64 to 1472 bytes; only the widths of the values matter.
fn typical(at: u64) -> Record {
    let mut noise = at.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    noise ^= noise >> 31;
    // Half of the gaps are in the first 13.9 us, half of the others in the next.
    let half = 13_863;
    let late = u64::from(noise.trailing_zeros()) * half + (noise >> 32) % half;
    let sent = 1_000_000_000 + at * 20_000 + late;
    Record {
        flow: 0,
        sequence: at,
        sent,
        received: Some(sent + 300_000 + (noise >> 24) % 50_000),
        returned: None,
        size: 64 + u32::try_from((noise >> 40) % 1408).unwrap(),
        marks: Marks::default(),
    }
}

fn written(records: &[Record]) -> Vec<u8> {
    let mut out = Vec::new();
    let mut writer = Writer::new(&FACTS, &mut out);
    for record in records {
        writer.record(*record, &mut out);
    }
    writer.finish(&mut out);
    out
}

/// All records up to the first byte that is not part of a whole block, and the number
/// of bytes before it.
fn read(bytes: &[u8]) -> (Vec<Record>, usize) {
    let mut records = Vec::new();
    let mut batch = Batch::default();
    if open(bytes).is_err() {
        return (records, 0);
    }
    let mut at = MAGIC.len();
    while let Ok(Next::Block(block, length)) = next(&bytes[at..]) {
        if let Block::Records(found) = block {
            if found.read(&mut batch).is_err() {
                break;
            }
            assert!(batch.len() <= BLOCK && !batch.is_empty());
            records.extend(batch.records());
        }
        at += length;
    }
    (records, at)
}

#[test]
fn a_log_reads_back() {
    let records: Vec<Record> = (0..10_000).map(typical).collect();
    let bytes = written(&records);
    assert_eq!(read(&bytes), (records, bytes.len()));
}

#[test]
fn a_record_of_typical_traffic_takes_less_than_eight_bytes() {
    let records: Vec<Record> = (0..100_000).map(typical).collect();
    let bytes = written(&records).len();
    assert!(bytes < 100_000 * 13 / 2, "{bytes} bytes");
}

#[test]
fn a_log_torn_anywhere_is_read_up_to_the_tear() {
    let records: Vec<Record> = (0..300).map(typical).collect();
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&FACTS, &mut bytes);
    // The bytes and records of the log after each whole block.
    let mut whole = vec![(bytes.len(), 0)];
    for (count, record) in (1..).zip(&records) {
        writer.record(*record, &mut bytes);
        if count % 7 == 0 {
            writer.flush(&mut bytes);
            whole.push((bytes.len(), count));
        }
    }
    for length in 0..bytes.len() {
        let (end, count) = *whole
            .iter()
            .rfind(|(end, _)| *end <= length)
            .unwrap_or(&(0, 0));
        let (found, read) = read(&bytes[..length]);
        assert_eq!(found, records[..count], "torn after {length} bytes");
        assert!(
            read == end || length < whole[0].0,
            "torn after {length} bytes"
        );
    }
}

#[test]
fn a_log_of_three_megabytes_torn_anywhere_is_read_up_to_the_tear() {
    let records: Vec<Record> = (0..530_000).map(typical).collect();
    let bytes = written(&records);
    assert!(bytes.len() > 3_000_000, "{} bytes", bytes.len());
    // Each block by itself: blocks before the damage are not affected.
    let mut at = MAGIC.len();
    let mut blocks = Vec::new();
    while let Ok(Next::Block(_, length)) = next(&bytes[at..]) {
        blocks.push((at, length));
        at += length;
    }
    assert_eq!(at, bytes.len());
    for (at, length) in blocks {
        for torn in 0..length {
            match next(&bytes[at..at + torn]) {
                Ok(Next::More(need)) => assert!(need > torn && need <= length),
                other => panic!("{other:?} after {torn} of {length} bytes"),
            }
        }
    }
}

#[test]
fn what_is_said_beside_records_reads_back() {
    let address = |text: &str| text.parse::<SocketAddr>().unwrap();
    let flow = Flow {
        number: 3,
        name: "Grüße".into(),
        protocol: 17,
        dscp: 46,
        source: address("[2001:db8::1]:1025"),
        destination: address("192.0.2.7:9"),
    };
    let estimate = Estimate {
        flow: 3,
        at: u64::MAX,
        offset: -5_000_000_000,
        bound: 1200,
    };
    let sent = Sent {
        flow: 3,
        packets: u64::MAX,
        bytes: 300,
    };
    let mut out = Vec::new();
    let mut writer = Writer::new(&FACTS, &mut out);
    writer.flow(&flow, &mut out);
    writer.estimate(&estimate, &mut out);
    writer.sent(&sent, &mut out);
    seal(&mut out, 200, |content| content.push(1));
    writer.finish(&mut out);
    let mut rest = &out[MAGIC.len()..];
    let mut blocks = Vec::new();
    while let Ok(Next::Block(block, length)) = next(rest) {
        blocks.push(block);
        rest = &rest[length..];
    }
    assert_eq!(
        blocks,
        [
            Block::Facts(FACTS),
            Block::Flow(flow),
            Block::Estimate(estimate),
            Block::Sent(sent),
            Block::Unknown(200),
            Block::End,
        ]
    );
}

#[test]
fn a_name_that_is_too_long_is_cut_between_characters() {
    let mut content = Vec::new();
    let flow = Flow {
        number: 0,
        name: "ä".repeat(200),
        protocol: 6,
        dscp: 0,
        source: "[::]:0".parse().unwrap(),
        destination: "[::]:0".parse().unwrap(),
    };
    flow.emit(&mut content);
    assert_eq!(Flow::parse(&content).unwrap().name, "ä".repeat(127));
}

#[test]
fn the_checksum_is_the_one_of_iscsi() {
    // The empty block of kind 0 consists of four zeros. The standard has 32 of them,
    // which is a block of kind 0 with length 0 as well.
    let checksum = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI);
    assert_eq!(checksum.checksum(&[0; 32]), 0x8a91_36aa);
    let mut out = Vec::new();
    seal(&mut out, kind::END, |_| ());
    assert_eq!(out[4..], checksum.checksum(&out[..4]).to_le_bytes());
}

#[test]
fn another_version_and_another_file_are_rejected() {
    let mut bytes = written(&[]);
    bytes[7] = 2;
    assert_eq!(
        open(&bytes),
        Err(crate::Error::Malformed(crate::Field::Version))
    );
    bytes[0] = b'X';
    assert_eq!(
        open(&bytes),
        Err(crate::Error::Malformed(crate::Field::Magic))
    );
    assert!(open(&bytes[..3]).is_err());
}

fn any_record() -> impl Strategy<Value = Record> {
    let instant = prop_oneof![any::<u64>(), 0..1_000_000u64];
    (
        prop_oneof![any::<u32>(), 0..4u32],
        prop_oneof![any::<u64>(), 0..100u64],
        instant,
        any::<Option<u64>>(),
        any::<Option<u64>>(),
        any::<u32>(),
        any::<(bool, bool, bool)>(),
    )
        .prop_map(
            |(flow, sequence, sent, received, returned, size, marks)| Record {
                flow,
                sequence,
                sent,
                received,
                returned,
                size,
                marks: Marks {
                    late_stamp: marks.0,
                    congested: marks.1,
                    untimed: marks.2,
                },
            },
        )
}

proptest! {
    #[test]
    fn whatever_the_records_they_read_back(
        records in prop::collection::vec(any_record(), 0..600),
    ) {
        let bytes = written(&records);
        prop_assert_eq!(read(&bytes), (records, bytes.len()));
    }

    #[test]
    fn no_bytes_make_a_reader_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let mut log = MAGIC.to_vec();
        log.extend(&bytes);
        let (records, end) = read(&log);
        prop_assert!(records.is_empty() && end <= log.len());
    }

    #[test]
    fn a_changed_byte_ends_the_log(at in 0..5000usize, bit in 0..8u32) {
        let records: Vec<Record> = (0..900).map(typical).collect();
        let mut bytes = written(&records);
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        let (found, end) = read(&bytes);
        prop_assert!(end <= at || at < MAGIC.len());
        prop_assert!(found.len() < records.len() || at >= bytes.len() - ENVELOPE);
    }
}
