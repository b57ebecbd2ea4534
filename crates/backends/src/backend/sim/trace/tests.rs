mod windows;

use std::fs;

use experiment::Experiment;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Row, RowAccessor};
use serde_json::json;
use units::Seed;

use super::*;
use crate::backend::sim::tests::{settings_of, simulator};

const WATCHED: [&str; 4] = [
    "links.bottleneck.watch.queue=on",
    "links.bottleneck.watch.drops=on",
    "links.bottleneck.watch.delays=on",
    "links.bottleneck.watch.capture=on",
];

/// A small packet among large ones, in front of a buffer that is too small.
fn setting(sets: &[&str]) -> Setting {
    let experiment = Experiment::load("mtu-and-queues").unwrap();
    let short = [
        "traffic.duration=200ms",
        "load=95%",
        "mtu=9000",
        "links.bottleneck.buffer=40kB",
    ];
    settings_of(experiment, &[&short, sets].concat()).remove(0)
}

fn run(setting: &Setting, results: &Path) -> Measurements {
    let artifacts = ArtifactDir {
        results,
        trial: "c00-r01",
    };
    simulator(std::slice::from_ref(setting))
        .run_and_trace(setting, Seed::new(5), artifacts)
        .unwrap()
        .0
}

fn rows(path: &Path) -> Vec<Row> {
    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let rows = reader.get_row_iter(None).unwrap();
    rows.map(Result::unwrap).collect()
}

#[test]
fn a_trace_has_every_packet_and_changes_no_figure() {
    let folder = tempfile::tempdir().unwrap();
    let plain = run(&setting(&[]), folder.path());
    assert_eq!(
        folder.path().read_dir().unwrap().count(),
        0,
        "nothing is kept unasked"
    );
    let watched = run(&setting(&WATCHED), folder.path());
    assert_eq!(watched.metrics, plain.metrics);

    // The bottleneck is the first link, the talk the first flow.
    let dropped = watched.evidence["dropped"][0][0].as_u64().unwrap();
    assert!(dropped > 5, "{dropped}");
    let place = |kind: &str| {
        folder
            .path()
            .join(format!("watch/c00-r01-bottleneck.{kind}"))
    };
    let drops = rows(&place("drops.parquet"));
    assert_eq!(drops.len() as u64, dropped);
    assert!(
        drops
            .iter()
            .all(|drop| drop.get_string(6).unwrap() == "full")
    );
    assert!(
        drops
            .iter()
            .any(|drop| drop.get_string(2).unwrap() == "bulk")
    );

    let found = rows(&place("queue.parquet"));
    let packets = watched.evidence["packets"].as_array().unwrap();
    let sent: u64 = packets
        .iter()
        .map(|packets| packets.as_u64().unwrap())
        .sum();
    assert_eq!(
        found.len() as u64,
        sent,
        "each packet came to the bottleneck"
    );
    assert!(found.iter().all(|row| row.get_long(3).unwrap() <= 40_000));
    // Each packet has left: as a loss, or to the link.
    let outcome = |row: &Row| row.get_string(11).cloned();
    let full = found.iter().filter(|row| outcome(row).unwrap() == "full");
    assert_eq!(full.count() as u64, dropped);
    for row in &found {
        let waited = row.get_long(10).unwrap() - row.get_long(0).unwrap();
        let is_lost = outcome(row).unwrap() == "full";
        assert!(waited >= 0 && (!is_lost || waited == 0), "{row}");
    }
    let instants: Vec<i64> = found.iter().map(|row| row.get_long(0).unwrap()).collect();
    assert!(instants.is_sorted());

    let waits = &watched.evidence["queue_delay_ms"]["bottleneck"][0];
    let waited = |flow: &str| waits[flow]["packets"].as_u64().unwrap();
    assert_eq!(waited("bulk") + waited("talk"), sent - dropped);
    assert!(waits["talk"]["p99"].as_f64() <= waits["talk"]["max"].as_f64());
    // 40 kB and a frame before them take 3.9 ms at 100 Mbit/s.
    assert!(waits["talk"]["max"].as_f64().unwrap() < 4.0, "{waits}");
    assert!(
        watched.evidence["delay_ms"]["talk"]["p50"]
            .as_f64()
            .unwrap()
            > 0.0
    );

    let capture = fs::read(place("pcapng")).unwrap();
    let packets = blocks(&capture).into_iter().filter(|kind| *kind == 6);
    assert_eq!(packets.count() as u64, sent - dropped);
}

/// The types of the blocks of a capture.
fn blocks(mut bytes: &[u8]) -> Vec<u32> {
    let number = |bytes: &[u8]| u32::from_be_bytes(bytes[..4].try_into().unwrap());
    let mut kinds = Vec::new();
    while !bytes.is_empty() {
        let length = number(&bytes[4..]) as usize;
        assert_eq!(number(&bytes[length - 4..]) as usize, length);
        kinds.push(number(bytes));
        bytes = &bytes[length..];
    }
    assert_eq!(kinds[..3], [0x0a0d_0d0a, 1, 1]);
    kinds
}

#[test]
fn the_average_of_red_is_kept_beside_the_queue() {
    let folder = tempfile::tempdir().unwrap();
    let red = [
        "links.bottleneck.queue=red",
        "links.bottleneck.red.weight=0.5",
    ];
    run(&setting(&[WATCHED[0], red[0], red[1]]), folder.path());
    let found = rows(&folder.path().join("watch/c00-r01-bottleneck.queue.parquet"));
    let seen = |row: &Row| (row.get_long(2).unwrap() as f64, row.get_double(4).unwrap());
    // While packets wait, the link is busy and the average does not age.
    let busy = found.windows(2).filter(|pair| seen(&pair[0]).0 > 0.0);
    let mut checked = 0;
    for pair in busy {
        let [(waiting, average), (_, next)] = [&pair[0], &pair[1]].map(seen);
        assert!((next - (average + waiting) / 2.0).abs() < 1e-9, "{pair:?}");
        checked += 1;
    }
    assert!(checked > 20, "{checked}");
    assert!(found.iter().any(|row| row.get_double(4).unwrap() > 1.0));
}

#[test]
fn drops_out_of_bundles_stand_beside_their_bundle() {
    let folder = tempfile::tempdir().unwrap();
    let experiment = Experiment::load("aqm-congestion").unwrap();
    let sets = [
        "scenario=increase",
        "frames=bundles",
        "queue=mred",
        "duration=8s",
        "small_start=1s",
        "h1=0s..4s",
        "h2=4s..8s",
        WATCHED[0],
    ];
    let watched = run(&settings_of(experiment, &sets)[0], folder.path());
    let found = rows(&folder.path().join("watch/c00-r01-bottleneck.queue.parquet"));
    let mut drops = [0; 2];
    for row in &found {
        let Ok(words) = row.get_string(13) else {
            continue;
        };
        let words: Vec<&str> = words.split(' ').collect();
        // A bundle of two packets can lose both.
        assert!(words.len() <= 2 * usize::try_from(row.get_long(9).unwrap()).unwrap());
        for pair in words.chunks(2) {
            let at: i64 = pair[0].parse().unwrap();
            assert!(at >= row.get_long(0).unwrap() && at <= row.get_long(10).unwrap());
            assert!(["early", "forced"].contains(&pair[1]), "{row}");
            drops[usize::try_from(row.get_long(1).unwrap()).unwrap()] += 1;
        }
    }
    // The bottleneck is the third link.
    let counted = |way: usize| watched.evidence["domain"]["links"][2][way][2].as_u64();
    assert_eq!(drops.map(Some), [counted(0), counted(1)]);
    assert!(drops[0] > 3, "{drops:?}");
}

#[test]
fn in_intervals_one_packet_of_each_is_looked_at() {
    let folder = tempfile::tempdir().unwrap();
    let sets = [WATCHED[0], "links.bottleneck.watch.interval=10ms"];
    run(&setting(&sets), folder.path());
    let found = rows(&folder.path().join("watch/c00-r01-bottleneck.queue.parquet"));
    let ten = 10_000_000_000;
    let places: Vec<i64> = found
        .iter()
        .map(|row| row.get_long(0).unwrap() / ten)
        .collect();
    assert!((15..=21).contains(&places.len()), "{places:?}");
    assert!(places.is_sorted_by(|one, next| one < next));
}

#[test]
fn links_that_share_their_settings_are_watched_each_by_itself() {
    let folder = tempfile::tempdir().unwrap();
    let measurements = run(&setting(&["links.access.watch.drops=on"]), folder.path());
    let files = measurements.evidence["watched"].as_array().unwrap();
    assert_eq!(files.len(), 4, "{files:?}");
    assert!(
        files
            .iter()
            .all(|file| folder.path().join(file.as_str().unwrap()).exists())
    );
}

#[test]
fn senders_are_looked_at_in_intervals_and_do_not_mind() {
    let text = "\
format = 1
name = \"senders\"
[network]
rate = \"10mbit\"
delay = \"5ms\"
buffer = \"30 packets\"
[host]
congestion = \"reno\"
[traffic]
kind = \"flows\"
duration = \"2s\"
[flows.f]
protocol = \"tcp\"
count = 2
[sweep]
\"network.mtu\" = [1500]
";
    let setting = |sets: &[&str]| {
        let experiment = Experiment::parse(text, "x.toml").unwrap();
        settings_of(experiment, sets).remove(0)
    };
    let folder = tempfile::tempdir().unwrap();
    let plain = run(&setting(&[]), folder.path());
    let watched = run(&setting(&["flows.f.watch.interval=10ms"]), folder.path());
    assert_eq!(watched.metrics, plain.metrics);
    let file = "watch/c00-r01-f.tcp.parquet";
    assert_eq!(watched.evidence["watched"], json!([file]));
    let looks = rows(&folder.path().join(file));
    let mut again = 0;
    for name in ["f01", "f02"] {
        let of_one: Vec<&Row> = looks
            .iter()
            .filter(|look| look.get_string(0).unwrap() == name)
            .collect();
        let intervals: Vec<i64> = of_one
            .iter()
            .map(|look| look.get_long(1).unwrap() / 10_000_000_000)
            .collect();
        assert!(intervals.windows(2).all(|pair| pair[0] < pair[1]));
        assert!(intervals.len() > 50, "{}", intervals.len());
        let last = of_one.last().unwrap();
        assert!(last.get_double(2).unwrap() >= 1.0, "the window");
        // A round trip takes at least both directions.
        assert!(last.get_long(4).unwrap() > 10_000_000_000);
        again += last.get_long(8).unwrap();
    }
    let all = watched.metrics["retransmissions/f"];
    assert!(again > 0 && again as f64 <= all, "{again} of {all}");
}

#[test]
fn what_is_counted_agrees_with_the_outcome_and_is_the_same_beside_a_trace() {
    let counted = [
        "links.bottleneck.windows.all=0ms..200ms",
        "links.bottleneck.series.interval=10ms",
    ];
    let both: Vec<&str> = counted.into_iter().chain(WATCHED).collect();
    let [first, second] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let alone = run(&setting(&counted), first.path());
    let beside = run(&setting(&both), second.path());
    assert_eq!(alone.metrics, beside.metrics);
    assert_eq!(alone.evidence["series"], beside.evidence["series"]);
    run(&setting(&WATCHED), first.path());
    for kind in ["queue.parquet", "drops.parquet", "pcapng"] {
        let bytes = |folder: &tempfile::TempDir| {
            let name = format!("watch/c00-r01-bottleneck.{kind}");
            fs::read(folder.path().join(name)).unwrap()
        };
        assert!(bytes(&first) == bytes(&second), "{kind}");
    }
    // The bottleneck is the first link; it is counted there, and not back.
    let there = |key: &str| alone.evidence[key][0][0].as_f64().unwrap();
    let metric = |name: &str| alone.metrics[name];
    assert!((metric("mean_queue_all") - there("mean_queue")).abs() < 1e-6);
    let beyond = metric("utilisation_percent_all") - 100.0 * there("utilisation");
    assert!(beyond.abs() < 1e-6, "{beyond}");
    let series = &alone.evidence["series"]["bottleneck"];
    let sum = |key: &str| -> f64 {
        let words = series[key].as_str().unwrap().split(' ');
        words.map(|word| word.parse::<f64>().unwrap()).sum()
    };
    assert_eq!(sum("drops"), there("dropped"));
    let drops = 100.0 * sum("drops") / sum("arrivals");
    assert!((metric("drop_percent_all") - drops).abs() < 1e-9);
}

#[test]
fn records_that_outgrow_the_memory_fail_the_trial_and_no_others() {
    let folder = tempfile::tempdir().unwrap();
    let run = |watch: &[&str], budget: u64| {
        let sets = [
            &["traffic.duration=2s", "links.bottleneck.rate=1gbit"],
            watch,
        ]
        .concat();
        let simulator = crate::backend::sim::Simulator {
            budget: Bytes::new(budget),
        };
        let artifacts = ArtifactDir {
            results: folder.path(),
            trial: "c03-r02",
        };
        simulator.run_and_trace(&setting(&sets), Seed::new(9), artifacts)
    };
    let budget = 12_000_000;
    let plain = run(&[], budget).map(drop);
    assert_eq!(plain, Ok(()));
    let sampled = [WATCHED[0], "links.bottleneck.watch.interval=100ms"];
    assert!(run(&sampled, budget).is_ok());
    for watch in [&WATCHED[..1], &WATCHED[..2], &WATCHED[2..3]] {
        let failure = run(watch, budget).err().unwrap();
        for words in ["12000000 bytes of memory", "watch.interval"] {
            assert!(failure.contains(words), "{watch:?}: {failure}");
        }
        assert!(run(watch, 1 << 30).is_ok());
    }
}
