//! Latency breakdowns of round trips.

use serde_json::Value;

use crate::harness::Dir;
use crate::lookup::Object;
use crate::processors::Processors;
use crate::undisturbed::{Disturbed, until_undisturbed};

/// Few round trips between two namespaces, over links with a high tolerance of
/// timing error.
const SHORT: &str = "--set mtu=1500 --set messages=20 --repeat 1";
const EMULATED: &str = "--set link=emulated --set network.timing_error=1min";

/// The metrics that add up to a round trip, in their order.
const PARTS: [&str; 16] = [
    "there_send_call",
    "there_queueing",
    "there_transmission",
    "there_wire",
    "there_softirq",
    "there_wakeup",
    "there_receive_call",
    "echo",
    "back_send_call",
    "back_queueing",
    "back_transmission",
    "back_wire",
    "back_softirq",
    "back_wakeup",
    "back_receive_call",
    "unexplained",
];

/// The allowed effect of other load on a median: less than half of the
/// injected time.
const INJECTED: f64 = 20_000.0;
const NOISE: f64 = 9_500.0;

#[test]
fn the_parts_of_a_round_trip_add_up_to_it() {
    for (link, least) in [(EMULATED, 0.6), ("--set link=plain", 0.0)] {
        let dir = Dir::new();
        let line = format!("run latency-breakdown -o r --full --set size=64,3000 {link} {SHORT}");
        let tables = dir.run(&line).ran().stdout;
        dir.expect_no_process();
        assert!(tables.contains("95 % of the peak goodput"), "{tables}");
        for trial in &dir.trials("r", 2 * 2) {
            assert!(trial["failure"].is_null(), "{trial}");
            let sum: f64 = PARTS.iter().map(|name| trial.metric(name)).sum();
            assert!(
                (sum / (trial.metric("rtt") * 1e3) - 1.0).abs() < 1e-6,
                "{trial}"
            );
            assert_eq!(trial["evidence"]["trips_unstamped"], 0, "{trial}");
            assert!(
                PARTS[..15].iter().all(|name| trial.metric(name) >= 0.0),
                "{trial}"
            );
            // 64 bytes take a frame of 64 at least, and 20 of preamble and gap.
            let transmission = trial.metric("there_transmission");
            assert!(
                transmission >= least && (transmission > 0.0) == (least > 0.0),
                "{trial}"
            );
        }
        let page = std::fs::read_to_string(dir.path().join("r/report.html")).unwrap();
        assert!(page.contains("latency-breakdown-0") && page.contains("Where the time goes"));
    }
}

#[test]
fn time_that_is_injected_is_in_its_own_part_and_in_no_other() {
    for (protocol, place, part) in [
        ("udp", "send", "there_send_call"),
        ("udp", "wire", "there_wire"),
        ("udp", "receive", "there_receive_call"),
        ("tcp", "echo", "echo"),
    ] {
        let measurement = format!("time injected into {protocol} {place}");
        until_undisturbed(&measurement, 10, || alone(protocol, place, part)).unwrap();
    }
}

/// The median of `part` has the injected length, and those of the other parts
/// are short. Other load makes parts longer, never shorter: if another part is
/// long and the machine was busy, the attempt does not count.
fn alone(protocol: &str, place: &str, part: &str) -> Result<(), Disturbed> {
    let dir = Dir::new();
    let processors = Processors::now();
    let line = format!(
        "run latency-breakdown -o r --set size=1000 --set protocol={protocol} --set inject={place} --set inject_span=20ms {EMULATED} {SHORT}"
    );
    dir.run(&line).ran();
    let trials = dir.trials("r", 1);
    let medians = trials[0]["evidence"]["parts_median_us"].as_array();
    let medians = medians.unwrap_or_else(|| panic!("{}", trials[0]));
    let medians: Vec<f64> = medians.iter().filter_map(Value::as_f64).collect();
    assert_eq!(medians.len(), PARTS.len());
    let disturbed = processors.disturbed();
    let mut long = Vec::new();
    for (name, median) in PARTS.iter().zip(&medians) {
        if name == &part {
            assert!(*median >= INJECTED, "{name}: {median}");
        } else if *median >= NOISE {
            long.push(format!("{name}: {median}"));
        }
    }
    match disturbed {
        Some(disturbed) if !long.is_empty() => Err(disturbed),
        _ => {
            assert!(long.is_empty(), "{protocol} {place}: {long:?}");
            Ok(())
        }
    }
}

#[test]
fn what_cannot_be_is_rejected_in_one_line() {
    let dir = Dir::new();
    for (set, words) in [
        (
            "--set protocol=tcp --set checksum=off",
            ["checksum", "TCP has no segment without"],
        ),
        (
            "--set link=plain --set inject=wire",
            ["inject", "link = \"emulated\""],
        ),
        ("--set size=70000 --set protocol=udp", ["message", "65507"]),
        ("--set messages=0", ["messages", "1 to 10000"]),
        ("--set traffic.duration=1s", ["duration", "flows"]),
        ("--on sim", ["kind", "--on netns"]),
    ] {
        let line = format!("run latency-breakdown --dry-run {set}");
        dir.run(&line).rejected(&words);
    }
}
