use super::*;
use wire::pcapng::{Block, LinkType};

/// A capture of raw IPv4 packets: times in nanoseconds, and sizes.
fn capture(packets: &[(u64, u16)]) -> Vec<u8> {
    let mut file = Vec::new();
    let mut put = |block: Block<'_>| {
        let begin = file.len();
        file.resize(begin + block.buffer_len(), 0);
        block.emit(&mut file[begin..]).unwrap();
    };
    put(Block::Section);
    put(Block::Interface {
        kind: LinkType::RawIp,
        name: "lan",
        most: 0,
    });
    for (nanos, size) in packets {
        let mut bytes = vec![0; usize::from(*size)];
        bytes[0] = 0x45;
        bytes[2..4].copy_from_slice(&size.to_be_bytes());
        put(Block::Packet {
            interface: 0,
            nanos: *nanos,
            bytes: &bytes,
            length: u32::from(*size),
        });
    }
    file
}

fn seen(file: &[u8], measure: Measure) -> Result<Vec<f64>, String> {
    Seen::read(file, "link.pcapng", measure).map(Vec::from)
}

#[test]
fn packets_become_messages_and_gaps() {
    let file = capture(&[(5_000, 1428), (8_000, 28), (7_000, 9000), (11_000, 100)]);
    assert_eq!(
        seen(&file, Measure::Sizes),
        Ok(vec![1400.0, 1.0, 8972.0, 72.0])
    );
    // The third packet is earlier than the second one, and the mean comes first.
    assert_eq!(seen(&file, Measure::Gaps), Ok(vec![2e6, 3e6, 0.0, 3e6]));
}

#[test]
fn a_capture_without_what_is_asked_for_is_rejected() {
    let none = capture(&[]);
    let one = capture(&[(3, 100)]);
    let whole = capture(&[(3, 100), (4, 100)]);
    let says = |file: &[u8], measure, text: &str| {
        let why = seen(file, measure).unwrap_err();
        assert!(why.contains(text), "{why}");
    };
    says(&none, Measure::Sizes, "link.pcapng holds no IP packets");
    says(&one, Measure::Gaps, "holds one IP packet");
    says(
        &whole[..whole.len() - 3],
        Measure::Sizes,
        "ends within record 3",
    );
    let mut damaged = whole;
    let second = damaged.len() / 2;
    damaged[second..].fill(0xff);
    says(&damaged, Measure::Gaps, "record 3: the ");
}
