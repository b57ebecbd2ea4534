//! The order of a log's blocks.

use super::*;
use proptest::prelude::*;
use proptest::sample::Index;

/// The rows of a log whose blocks of records are written in this order.
fn rows_of(blocks: &[Vec<Record>], request: &Request) -> Vec<Row> {
    let (_folder, path) = log(Role::Receiver, |writer, out| {
        writer.flow(&flow(2), out);
        for block in blocks {
            for record in block {
                writer.record(*record, out);
            }
            writer.flush(out);
        }
    });
    let mut rows = decode(&path, request, &mut |_, _| ()).unwrap().rows;
    rows.iter_mut().for_each(|row| row.log.clear());
    rows
}

/// Each flow's records are in blocks of its own, which are complete at other times than
/// those of the other flows.
#[test]
fn three_flows_of_1000_packets_a_second_show_3000_in_each_second() {
    let packet = |flow: u32, sequence: u64| {
        let sent = (1000 + sequence) * MILLI;
        let received = Some(sent + u64::from(flow) * MILLI / 4);
        Record {
            flow,
            sent,
            received,
            ..record(flow, sequence, 0)
        }
    };
    let mut blocks: Vec<Vec<Record>> = Vec::new();
    for flow in 1..=3_u32 {
        let all: Vec<Record> = (0..5_000).map(|sequence| packet(flow, sequence)).collect();
        let (first, rest) = all.split_at(300 * flow as usize);
        blocks.push(first.to_vec());
        blocks.extend(rest.chunks(1_100).map(<[Record]>::to_vec));
    }
    blocks.sort_by_key(|block| block.last().map(|record| record.sent));
    let request = Request {
        interval: Some(Span::from_millis(1000)),
        ..STANDARD
    };
    let rows = rows_of(&blocks, &request);
    let counts: Vec<u64> = rows[1..]
        .iter()
        .map(|row| match &row.stats {
            RowStats::Slice(slice) => slice.packets,
            other => panic!("no interval: {other:?}"),
        })
        .collect();
    assert_eq!(counts, [3_000; 5]);
}

fn packets() -> impl Strategy<Value = Vec<Record>> {
    let packet = (1..4_u32, 0..400_u64, 0..30_u64);
    prop::collection::vec(packet, 1..120).prop_map(|mut packets| {
        packets.sort_unstable();
        packets.dedup_by_key(|(flow, sequence, _)| (*flow, *sequence));
        let mut records: Vec<Record> = packets
            .into_iter()
            .map(|(flow, sequence, delay)| record(flow, sequence, delay))
            .collect();
        records.sort_by_key(|record| (record.received, record.flow, record.sequence));
        records
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn the_same_records_in_any_order_of_blocks_give_the_same_figures(
        records in packets(), cuts in prop::collection::vec(1..20_usize, 60),
        swaps in prop::collection::vec(any::<(Index, Index)>(), 0..40),
        by_flow: bool, ditg: bool,
    ) {
        // Blocks of one flow each, or of several, whose records are in the order of
        // arrival.
        let mut blocks: Vec<Vec<Record>> = vec![Vec::new(); 3];
        let mut full = Vec::new();
        let mut lengths = cuts.into_iter().cycle();
        for record in records {
            let place = if by_flow { record.flow as usize - 1 } else { 0 };
            blocks[place].push(record);
            if Some(blocks[place].len()) >= lengths.next() {
                full.push(std::mem::take(&mut blocks[place]));
            }
        }
        full.extend(blocks.into_iter().filter(|block| !block.is_empty()));
        let request = Request {
            definitions: if ditg { Definitions::Ditg } else { Definitions::Standard },
            by_flow: true,
            interval: Some(Span::from_millis(500)),
        };
        let ordered = rows_of(&full, &request);
        for (one, other) in swaps {
            let (one, other) = (one.index(full.len()), other.index(full.len()));
            full.swap(one, other);
        }
        prop_assert_eq!(rows_of(&full, &request), ordered);
    }
}
