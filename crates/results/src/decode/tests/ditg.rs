//! Logs of D-ITG. `crates/jumbolab/tests/root.rs` compares those of the real programs.

use wire::log::ditg::DitgRecord;

use super::*;

/// Nanoseconds of a day.
const DAY: u64 = 86_400_000_000_000;

const DITG: Request = Request {
    definitions: Definitions::Ditg,
    by_flow: true,
    interval: None,
};

/// A packet of a flow that was sent at `sent` and arrived at `received`, in milliseconds of a
/// day.
fn packet(flow: u32, sequence: u32, sent: u64, received: u64) -> DitgRecord {
    DitgRecord {
        flow,
        sequence,
        source: "192.0.2.1:1025".parse().unwrap(),
        destination: "[2001:db8::2]:9".parse().unwrap(),
        sent: sent * MILLI % DAY,
        received: received * MILLI % DAY,
        size: 1000,
    }
}

/// The line that D-ITG's decoder writes of a packet.
fn line(packet: &DitgRecord) -> String {
    let time = |time: u64| {
        let (minutes, micros) = (time / 60_000_000_000, time / 1_000 % 60_000_000);
        format!(
            "{}:{}:{:09.6}",
            minutes / 60,
            minutes % 60,
            micros as f64 / 1e6
        )
    };
    let end = |end: std::net::SocketAddr| format!("{:>46}/{}", end.ip(), end.port());
    format!(
        "Flow>{:04} Seq>{:>7} Src>{} Dest>{} txTime>{} rxTime>{} Size>{:>5}\n",
        packet.flow,
        packet.sequence,
        end(packet.source),
        end(packet.destination),
        time(packet.sent),
        time(packet.received),
        packet.size
    )
}

fn file(bytes: &[u8]) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.dat");
    fs::write(&path, bytes).unwrap();
    (folder, path)
}

fn binary(packets: &[DitgRecord]) -> Vec<u8> {
    packets.iter().flat_map(DitgRecord::emit).collect()
}

/// Four packets of a flow, the third of which is lost and the last one late.
fn four(begin: u64) -> Vec<DitgRecord> {
    let packets = [(1, 0, 10), (2, 10, 24), (5, 40, 52), (4, 30, 60)];
    let packets = packets.into_iter();
    packets
        .map(|(number, sent, received)| packet(3, number, begin + sent, begin + received))
        .collect()
}

#[test]
fn a_log_across_midnight_has_the_figures_of_any_other() {
    let (_folder, path) = file(&binary(&four(43_200_000)));
    let expected = rows(&path, &STANDARD);
    // The first packet is sent before midnight, or the second one arrives after it.
    for begin in [86_399_995, 86_399_980, 86_399_960] {
        let (_folder, other) = file(&binary(&four(begin)));
        for (row, expected) in rows(&other, &STANDARD).iter().zip(&expected) {
            for key in [
                "delay_mean_s",
                "duration_s",
                "received",
                "lost",
                "delay_max_s",
            ] {
                assert_eq!(row[key], expected[key], "{begin}: {key}");
            }
        }
    }
    check(&expected[0]["delay_mean_s"], 0.0165);
    assert_eq!(
        (&expected[0]["received"], &expected[0]["lost"]),
        (&4.into(), &1.into())
    );
    assert_eq!(expected[0]["destination"], "[2001:db8::2]:9");
    assert_eq!(
        (&expected[0]["protocol"], &expected[0]["dscp"]),
        (&Value::Null, &Value::Null)
    );
}

#[test]
fn binary_and_text_and_the_other_byte_order_are_one_log() {
    let packets = [four(1_000), vec![packet(4, 1, 900, 905)]].concat();
    let (_folder, path) = file(&binary(&packets));
    let text: String = packets.iter().map(line).collect();
    let other: Vec<u8> = packets
        .iter()
        .flat_map(|packet| {
            let mut bytes = packet.emit();
            (0..36)
                .step_by(4)
                .for_each(|at| bytes[at..at + 4].reverse());
            [128, 136]
                .into_iter()
                .for_each(|at| bytes[at..at + 8].reverse());
            bytes
        })
        .collect();
    for request in [STANDARD, DITG] {
        let expected = rows(&path, &request);
        for bytes in [text.as_bytes(), &other] {
            let (_folder, same) = file(bytes);
            let mut found = rows(&same, &request);
            for (row, expected) in found.iter_mut().zip(&expected) {
                row["log"] = expected["log"].clone();
            }
            assert_eq!(found, expected);
        }
    }
    // From the arrival at 905 ms, the last in the file, to that at 1060 ms.
    let row = &rows(&path, &DITG)[0];
    check(&row["duration_s"], 0.155);
    check(&row["mean_delay_s"], 0.0142);
}

/// As ITGDec prints them.
#[test]
fn flows_of_several_senders_with_the_same_number_are_several_flows() {
    let mut packets = four(1_000);
    let of_another = |packet: &DitgRecord| DitgRecord {
        source: "192.0.2.3:1025".parse().unwrap(),
        ..*packet
    };
    packets.extend(four(1_001).iter().map(of_another));
    let (_folder, path) = file(&binary(&packets));
    let found = rows(&path, &DITG);
    assert_eq!(found.len(), 3);
    for (row, source) in found[1..].iter().zip(["192.0.2.1:1025", "192.0.2.3:1025"]) {
        assert_eq!((&row["flow"], &row["packets"]), (&3.into(), &4.into()));
        assert_eq!(row["source"], source);
    }
    assert_eq!(found[0]["packets"], 8);
}

#[test]
fn a_log_of_a_sender_has_no_delays() {
    let packets: Vec<DitgRecord> = (1..5)
        .map(|it| packet(1, it, it.into(), it.into()))
        .collect();
    let (_folder, path) = file(&binary(&packets));
    let decoded = decode(&path, &STANDARD, &mut |_, _| ()).unwrap();
    assert!(decoded.title.contains("sender's log"), "{}", decoded.title);
    let row: Value = serde_json::from_str(&json(&decoded.rows).next().unwrap()).unwrap();
    assert_eq!(
        (&row["kind"], &row["logged"]),
        (&"departures".into(), &4.into())
    );
}

#[test]
fn a_torn_log_is_read_to_its_last_whole_record() {
    let packets = four(1_000);
    let text: String = packets.iter().map(line).collect();
    let ends: Vec<usize> = text.match_indices('\n').map(|(at, _)| at + 1).collect();
    let binary = binary(&packets);
    for (bytes, whole, cut) in [
        (&binary[..], 2 * 144, 2 * 144 + 143),
        (text.as_bytes(), ends[1], ends[2] - 1),
    ] {
        let mut damaged = bytes.to_vec();
        // The hour of sending, or a label.
        damaged[whole..whole + 22].fill(b'x');
        for (bytes, left) in [
            (&bytes[..cut], cut - whole),
            (&damaged, bytes.len() - whole),
        ] {
            let (_folder, path) = file(bytes);
            let decoded = decode(&path, &STANDARD, &mut |_, _| ()).unwrap();
            let row: Value = serde_json::from_str(&json(&decoded.rows).next().unwrap()).unwrap();
            assert_eq!(row["received"], 2);
            let complaint = decoded.complaint.unwrap();
            let told = [
                format!("after {whole} bytes"),
                format!("last {left} are left out"),
            ];
            assert!(told.iter().all(|it| complaint.contains(it)), "{complaint}");
        }
    }
}

/// `JUMBOLAB_FUZZ_CASES=10000000 cargo test --release -p jumbolab-results mutated_logs` tries
/// more.
#[test]
fn mutated_logs_stop_no_decoder_and_give_no_more_than_they_have() {
    let cases = std::env::var("JUMBOLAB_FUZZ_CASES").ok();
    let cases: usize = cases.map_or(300, |cases| cases.parse().unwrap());
    let packets = four(1_000);
    let text: String = packets.iter().map(line).collect();
    let wholes = [binary(&packets), text.into_bytes()];
    let (_folder, path) = file(&[]);
    for case in 0..cases {
        let mut noise = (case as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        let mut bytes = wholes[case % 2].clone();
        for _ in 0..=noise % 4 {
            noise = noise.rotate_left(17).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let at = usize::try_from(noise >> 32).unwrap() % bytes.len();
            bytes[at] = noise.to_le_bytes()[0];
        }
        fs::write(&path, &bytes).unwrap();
        if let Ok(mut packets) = Packets::open(std::slice::from_ref(&path), &mut |_, _| ()) {
            let rows = packets.next(&mut |_, _| ()).unwrap();
            assert!(rows.is_none_or(|rows| rows.json().count() <= 4));
        }
        for request in [STANDARD, DITG] {
            if let Ok(decoded) = decode(&path, &request, &mut |_, _| ()) {
                let row = json(&decoded.rows).next().unwrap();
                let row: Value = serde_json::from_str(&row).unwrap();
                let count = ["received", "packets", "logged"].map(|key| row[key].as_u64());
                assert!(count.into_iter().flatten().all(|count| count <= 4), "{row}");
            }
        }
    }
}
