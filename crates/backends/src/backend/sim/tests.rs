//! Trials with metrics that can be computed by hand.

mod aggregation;
mod connections;
mod cross_traffic;
mod probes;

use experiment::Experiment;
use plan::Backend;
use units::Seed;

use super::*;

const TRANSFER: &str = "\
format = 1
name = \"known\"
[network]
shape = \"routed\"
rate = \"100mbit\"
delay = \"1ms\"
[traffic]
protocol = \"udp\"
size = \"100kB\"
message = 1000
[sweep]
\"network.mtu\" = [1500]
";

/// The settings of the cells of an experiment with `sets` applied.
#[track_caller]
pub(super) fn settings_of(mut experiment: Experiment, sets: &[&str]) -> Vec<Setting> {
    for set in sets {
        experiment.set(set).unwrap();
    }
    let plan = experiment
        .plan(Backend::Sim, check)
        .unwrap_or_else(|error| panic!("{error:#}"));
    let cells = plan.cells.into_iter();
    cells.map(|cell| cell.setting.unwrap()).collect()
}

#[track_caller]
fn settings(text: &str, sets: &[&str]) -> Vec<Setting> {
    settings_of(Experiment::parse(text, "known.toml").unwrap(), sets)
}

/// A simulator for trials of these settings, one at a time.
#[track_caller]
pub(super) fn simulator(settings: &[Setting]) -> Simulator {
    Simulator::ready(settings.iter(), 1).unwrap()
}

#[track_caller]
pub(super) fn measurements(text: &str, sets: &[&str]) -> Measurements {
    let settings = settings(text, sets);
    let trial = simulator(&settings).run(&settings[0], Seed::new(1));
    trial.unwrap().0
}

#[track_caller]
fn near(measurements: &Measurements, metric: &str, expected: f64) {
    let value = measurements.metrics[metric];
    let off = (value - expected).abs();
    assert!(
        off <= 1e-9 * expected.abs() + 1e-12,
        "{metric}: {value} is not {expected}"
    );
}

/// The time in milliseconds that `bytes` take on a link of 100 Mbit/s.
fn wire(bytes: f64) -> f64 {
    bytes * 8.0 / 100e6 * 1e3
}

#[test]
fn a_transfer_takes_what_its_links_take() {
    let measurements = measurements(TRANSFER, &[]);
    // 1000 bytes, 48 of UDP and IPv6, 38 of Ethernet: a link is free when it
    // can start the next frame.
    let each = wire(1000.0 + 48.0 + 38.0);
    near(&measurements, "delay", 2.0 * (1.0 + each));
    near(&measurements, "jitter", 0.0);
    near(&measurements, "loss", 0.0);
    let back = wire(28.0 + 48.0 + 38.0);
    near(&measurements, "rtt", 2.0 * (2.0 + each + back));
    let goodput = 1000.0 / 1086.0 * 100.0;
    assert!((measurements.metrics["throughput"] / goodput - 1.0).abs() < 1e-6);
    assert_eq!(measurements.evidence["sent"], serde_json::json!([100, 100]));
    assert_eq!(
        measurements.evidence["packets"],
        measurements.evidence["received"]
    );
}

#[test]
fn without_framing_a_packet_is_all_that_takes_the_wire() {
    let measurements = measurements(TRANSFER, &["network.framing=none", "traffic.echo=off"]);
    near(&measurements, "delay", 2.0 * (1.0 + wire(1048.0)));
    assert!(!measurements.metrics.contains_key("rtt"));
}

#[test]
fn hosts_take_the_time_that_is_written() {
    let costs = [
        "host.send_per_packet=10us",
        "host.receive_per_packet=5us",
        "host.receive_per_byte=1ns",
    ];
    let free = measurements(TRANSFER, &["traffic.echo=off"]).metrics["delay"];
    let measurements = measurements(TRANSFER, &[&costs[..], &["traffic.echo=off"]].concat());
    near(&measurements, "delay", free + (10.0 + 5.0 + 1.048) / 1e3);
}

#[test]
fn a_host_that_is_too_slow_drops_what_its_buffer_does_not_hold() {
    let slow = [
        "host.receive_per_packet=1ms",
        "host.receive_buffer=5kB",
        "traffic.echo=off",
    ];
    let measurements = measurements(TRANSFER, &slow);
    let dropped = measurements.evidence["buffer_drops"].as_u64().unwrap();
    near(&measurements, "loss", 100.0 * dropped as f64 / 100.0);
    assert!((80..100).contains(&dropped), "{dropped}");
}

#[test]
fn a_message_above_the_mtu_travels_in_fragments() {
    let measurements = measurements(TRANSFER, &["traffic.message=8000", "traffic.size=80kB"]);
    // 8008 bytes in fragments of 1448 behind headers of 40 and 8.
    assert_eq!(
        measurements.evidence["packets"],
        serde_json::json!([60, 10])
    );
    near(&measurements, "loss", 0.0);
}

#[test]
fn the_seed_of_a_repeat_is_the_same_in_every_cell() {
    let text = TRANSFER
        .replace("[1500]", "[1500, 4000]")
        .replace("delay = \"1ms\"", "loss = \"5%\"");
    let settings = settings(&text, &[]);
    let simulator = simulator(&settings);
    let lost = |setting: &Setting, seed| {
        simulator.run(setting, Seed::new(seed)).unwrap().0.evidence["received"].clone()
    };
    // Messages fit both MTUs, so the same ones have the same outcome.
    let mut different = 0;
    for seed in 1..10 {
        assert_eq!(lost(&settings[0], seed), lost(&settings[1], seed));
        different += u32::from(lost(&settings[0], seed) != lost(&settings[0], seed + 1));
    }
    assert!(different > 5, "seeds differ");
}

#[test]
fn a_flow_beside_it_changes_nothing_of_what_a_flow_offers() {
    let flows = "\
format = 1
name = \"flows\"
[traffic]
kind = \"flows\"
duration = \"100ms\"
[flows.a]
load = \"20%\"
message_distribution = \"exponential\"
[sweep]
\"network.mtu\" = [1500]
";
    let alone = measurements(flows, &[]);
    let beside = measurements(flows, &["flows.b.load=1%", "flows.b.stop=1us"]);
    assert_eq!(alone.metrics["delay/a"], beside.metrics["delay/a"]);
    assert_eq!(
        alone.metrics["throughput/a"],
        beside.metrics["throughput/a"]
    );
}

#[test]
fn an_explicit_network_takes_what_its_media_take() {
    let graph = "\
format = 1
name = \"graph\"
[network]
shape = \"explicit\"
medium = \"fibre\"
bit_error_rate = 0
[nodes]
a.role = \"host\"
s.role = \"switch\"
r.role = \"router\"
b.role = \"host\"
[links]
a-s = { ends = [\"a\", \"s\"], medium = \"cat5e\", bit_error_rate = 0 }
s-r = { ends = [\"s\", \"r\"], length = \"10km\", bit_error_rate = 0 }
r-b = { ends = [\"r\", \"b\"] }
[traffic]
kind = \"flows\"
[flows.f]
from = \"a\"
to = \"b\"
gap = \"1ms\"
gap_distribution = \"constant\"
packets = 10
[sweep]
\"network.mtu\" = [1500]
";
    let measurements = measurements(graph, &[]);
    // Picoseconds of 10.1 km of glass, each link rounded to one, and 100 m of copper.
    let glass = |metres: f64| (metres * 1.468 / 299_792_458.0 * 1e12).round() / 1e9;
    let copper = 570e-6;
    let links = 3.0 * 1086.0 * 8.0 / 1e9 * 1e3;
    near(
        &measurements,
        "delay/f",
        links + copper + glass(10_000.0) + glass(100.0),
    );
    near(&measurements, "loss", 0.0);
    assert_eq!(measurements.evidence["sent"], serde_json::json!([10]));
}

#[test]
fn a_run_that_needs_more_memory_than_there_is_is_rejected() {
    let huge = settings(
        TRANSFER,
        &[
            "network.delay=100000s",
            "network.rate=100gbit",
            "traffic.size=100000GB",
        ],
    );
    let error = Simulator::ready(huge.iter(), 2)
        .err()
        .expect("it needs terabytes")
        .to_string();
    assert!(
        error.contains("memory") && error.contains("--threads 1"),
        "{error}"
    );
    assert!(!error.contains('\n'));
}
