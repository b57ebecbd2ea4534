//! Properties of all readers of this crate: whatever stands in a file, it is read or rejected.

use proptest::prelude::*;

/// A change of a file.
#[derive(Clone, Debug)]
enum Change {
    Put(u8),
    Flip(u8),
    Remove(usize),
    Repeat(usize),
    /// Another word in the place of one.
    Word(&'static str),
    /// Bytes from elsewhere.
    Copy(prop::sample::Index, usize),
}

const WORDS: [&str; 14] = [
    "",
    "0",
    "-1",
    "1.5",
    "-",
    "1e17",
    "1e19",
    "18446744073709551615",
    "18446744073709551616",
    "1e999",
    "nan",
    "null",
    "true",
    "[]",
];

/// Changes with their places.
fn changes() -> impl Strategy<Value = Vec<(prop::sample::Index, Change)>> {
    let byte = prop_oneof![
        prop::sample::select(vec![0, 1, 0x7f, 0x80, 0xff]),
        any::<u8>()
    ];
    let change = prop_oneof![
        4 => byte.prop_map(Change::Put),
        4 => (0..8u8).prop_map(|bit| Change::Flip(1 << bit)),
        8 => prop::sample::select(&WORDS[..]).prop_map(Change::Word),
        1 => (1..40usize).prop_map(Change::Remove),
        1 => (1..40usize).prop_map(Change::Repeat),
        1 => (any::<prop::sample::Index>(), 1..40usize).prop_map(|(from, size)| Change::Copy(from, size)),
    ];
    prop::collection::vec((any::<prop::sample::Index>(), change), 0..6)
}

fn changed(bytes: &[u8], changes: &[(prop::sample::Index, Change)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (place, change) in changes {
        if bytes.is_empty() {
            break;
        }
        let place = place.index(bytes.len());
        let end = |place: usize, size: usize, bytes: &[u8]| bytes.len().min(place + size);
        match change {
            Change::Put(byte) => bytes[place] = *byte,
            Change::Flip(bit) => bytes[place] ^= bit,
            Change::Word(new) => {
                let ends = |byte: &u8| b",\n:{}[]\" =".contains(byte);
                let begin = bytes[..place]
                    .iter()
                    .rposition(ends)
                    .map_or(0, |end| end + 1);
                let length = bytes[place..].iter().position(ends);
                let end = length.map_or(bytes.len(), |length| place + length);
                drop(bytes.splice(begin..end, new.bytes()));
            }
            Change::Remove(size) => drop(bytes.drain(place..end(place, *size, &bytes))),
            Change::Repeat(size) => {
                let part = bytes[place..end(place, *size, &bytes)].to_vec();
                drop(bytes.splice(place..place, part));
            }
            Change::Copy(from, size) => {
                let from = from.index(bytes.len());
                let size = (*size).min(bytes.len() - from.max(place));
                bytes.copy_within(from..from + size, place);
            }
        }
    }
    bytes
}

mod journals {
    use std::path::Path;
    use std::sync::OnceLock;

    use plan::evidence::SIZES;
    use plan::synthetic::{cell, factors, facts, plan, set_evidence, trial};
    use plan::{LARGEST_FIGURE, Trial};
    use serde_json::json;

    use super::*;
    use crate::folder::{Folder, Opening, Resume};

    /// The plan and the journal of a folder with evidence of all kinds.
    fn valid() -> &'static [Vec<u8>; 2] {
        static VALID: OnceLock<[Vec<u8>; 2]> = OnceLock::new();
        VALID.get_or_init(|| {
            let base = run();
            ["plan.toml", "trials.jsonl"]
                .map(|name| std::fs::read(base.path().join("r").join(name)).unwrap())
        })
    }

    fn run() -> tempfile::TempDir {
        let base = tempfile::tempdir().unwrap();
        let path = base.path().join("r");
        let plan = plan(vec![cell(factors(1500))], 2, Vec::new());
        let mut folder = Folder::open(&Opening {
            base: base.path(),
            explicit: Some(&path),
            plan: &plan,
            facts: &facts(),
            resume: Resume::No,
            shard: None,
            complete: |_, _| false,
        })
        .unwrap();
        for repeat in [1, 2] {
            let mut trial = trial(
                factors(1500),
                repeat,
                &[("throughput", 938.5), ("delay", -0.5)],
            );
            for (key, value) in [
                (
                    "sizes",
                    json!({"size": "1 2 40", "mean_us": "1.5 2 3", "least_us": "1 1 1"}),
                ),
                (
                    "series",
                    json!({"wire": {"interval_s": 0.5, "queue": "1 2", "average": "- 1"}}),
                ),
                (
                    "flow_series",
                    json!({"web": {"interval_s": 0.5, "bytes": "100 2e3"}}),
                ),
                ("delay_quantiles", json!({"web": "1 2 3 4 5 6 7 8 9 10"})),
                ("sent", json!([[1, 2], [3, 4.5e7]])),
                ("seed", json!(u64::MAX)),
            ] {
                set_evidence(&mut trial, key, value);
            }
            folder.append(trial).unwrap();
        }
        base
    }

    /// What reports rely on.
    fn is_sound(trial: &Trial) -> bool {
        let length =
            |value: &serde_json::Value| value.as_str().map(|text| text.split_whitespace().count());
        let sizes = trial.evidence.get(SIZES.as_json());
        let sizes = sizes.as_ref().and_then(serde_json::Value::as_object);
        let mut lengths = sizes
            .into_iter()
            .flat_map(|all| all.values())
            .filter_map(length);
        let first = lengths.next();
        trial
            .metrics
            .iter()
            .all(|(_, value)| value.abs() <= LARGEST_FIGURE)
            && (0.0..=LARGEST_FIGURE).contains(&trial.seconds)
            && lengths.all(|other| Some(other) == first)
    }

    fn read(path: &Path) -> Result<Vec<Trial>, String> {
        let read = Folder::read(path).map_err(|error| format!("{error:#}"));
        read.map(|(_, _, trials)| trials)
    }

    proptest! {
        #[test]
        fn a_results_folder_is_read_or_rejected_in_one_line(
            of_plan in changes(), of_journal in changes(), which in 0..3u8,
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path();
            let [plan, journal] = valid();
            // Usually one of them is whole.
            let plan = changed(plan, if which == 0 { &[] } else { &of_plan });
            let journal = changed(journal, if which == 1 { &[] } else { &of_journal });
            std::fs::write(path.join("plan.toml"), plan).unwrap();
            std::fs::write(path.join("trials.jsonl"), journal).unwrap();
            match read(path) {
                Err(line) => prop_assert!(!line.contains('\n') && line.len() < 5_000, "{line}"),
                Ok(trials) => {
                    prop_assert!(trials.iter().all(is_sound));
                    crate::trials::csv(&trials, |_| Ok(())).unwrap();
                }
            }
        }
    }
}

mod packet_logs {
    use proptest::collection::vec;
    use units::Span;
    use wire::log::{Clock, Estimate, Facts, Flow, Marks, Record, Role, Sent, Writer};

    use super::*;
    use crate::decode::{Definitions, MOST_ROWS, Packets, Request, csv, decode, json, text};

    /// Times and numbers, small and at the limits.
    fn number() -> impl Strategy<Value = u64> {
        prop_oneof![
            4 => 0..1_000_000u64,
            1 => any::<u64>(),
            1 => prop::sample::select(vec![0, 1, u64::MAX, u64::MAX - 1, 1 << 63, (1 << 63) - 1]),
        ]
    }

    fn record() -> impl Strategy<Value = Record> {
        let instant = || prop::option::of(number());
        (
            0..3u32,
            number(),
            number(),
            instant(),
            instant(),
            any::<u32>(),
        )
            .prop_map(|(flow, sequence, sent, received, returned, size)| Record {
                flow,
                sequence,
                sent,
                received,
                returned,
                size,
                marks: Marks::default(),
            })
    }

    fn log() -> impl Strategy<Value = Vec<u8>> {
        let role = prop::sample::select(vec![Role::Sender, Role::Receiver, Role::RoundTrip]);
        let about = (0..4u32, number(), number(), number());
        (role, vec(record(), 0..60), vec(about, 0..6), any::<bool>()).prop_map(
            |(role, records, about, closes)| {
                let mut out = Vec::new();
                let facts = Facts {
                    role,
                    sent: Clock::Program,
                    received: Clock::Kernel,
                    returned: Clock::None,
                    wall: 0,
                    start: 0,
                };
                let mut writer = Writer::new(&facts, &mut out);
                for (place, record) in records.into_iter().enumerate() {
                    if let Some((flow, one, two, three)) = about.get(place).copied() {
                        writer.flow(
                            &Flow {
                                number: flow,
                                name: format!("flow {one}"),
                                protocol: 17,
                                dscp: 0,
                                source: "[::1]:5".parse().unwrap(),
                                destination: "[::1]:6".parse().unwrap(),
                            },
                            &mut out,
                        );
                        let (at, offset, bound) = (one, two.cast_signed(), three);
                        writer.estimate(
                            &Estimate {
                                flow,
                                at,
                                offset,
                                bound,
                            },
                            &mut out,
                        );
                        let (packets, bytes) = (two, three);
                        writer.sent(
                            &Sent {
                                flow,
                                packets,
                                bytes,
                            },
                            &mut out,
                        );
                    }
                    writer.record(record, &mut out);
                    if place % 17 == 16 {
                        writer.flush(&mut out);
                    }
                }
                if closes {
                    writer.finish(&mut out);
                }
                out
            },
        )
    }

    proptest! {
        #[test]
        fn a_packet_log_is_decoded_or_rejected_in_one_line(
            log in log(), changes in changes(), is_whole in any::<bool>(),
            (ditg, by_flow) in any::<(bool, bool)>(), interval in prop::option::of(number()),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("x.jlog");
            std::fs::write(&path, if is_whole { log } else { changed(&log, &changes) }).unwrap();
            let request = Request {
                definitions: if ditg { Definitions::Ditg } else { Definitions::Standard },
                by_flow,
                interval: interval.map(|nanos| Span::from_nanos(nanos >> 11)),
            };
            // The log of both ends at once, and the conversion.
            let logs = [path.clone(), path.clone()];
            if let Ok(mut packets) = Packets::open(&logs, &mut |_, _| ()) {
                let origin = packets.origin();
                while let Some(rows) = packets.next(&mut |_, _| ()).unwrap() {
                    prop_assert_eq!(rows.json().count(), rows.text(origin).lines().count());
                    rows.csv(&mut Vec::new()).unwrap();
                }
                let converted = folder.path().join("x.dat");
                let mut packets = Packets::open(&logs[..1], &mut |_, _| ()).unwrap();
                let _ = packets.write_ditg(&converted, &mut |_, _| ());
            }
            match decode(&path, &request, &mut |_, _| ()) {
                Err(error) => {
                    let line = format!("{error:#}");
                    prop_assert!(!line.contains('\n'), "{line}");
                }
                Ok(decoded) => {
                    prop_assert!(decoded.rows.len() <= 4 * MOST_ROWS);
                    let _ = text(&decoded);
                    csv(&decoded.rows, &mut Vec::new()).unwrap();
                    for line in json(&decoded.rows) {
                        prop_assert!(serde_json::from_str::<serde_json::Value>(&line).is_ok(), "{line}");
                    }
                }
            }
        }
    }
}
