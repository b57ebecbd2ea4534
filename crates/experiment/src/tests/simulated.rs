//! Keys that the backend `sim` reads, and those that it rejects.

use meter::departures::Distribution;

use super::*;
use crate::shipped;

pub(super) const GRAPH: &str = "\
format = 1
name = \"graph\"
[network]
shape = \"explicit\"
[nodes.a]
role = \"host\"
[nodes.r]
role = \"router\"
[nodes.b]
role = \"host\"
[links.a-r]
ends = [\"a\", \"r\"]
[links.r-b]
ends = [\"r\", \"b\"]
medium = \"fibre\"
length = \"10km\"
[traffic]
kind = \"flows\"
[flows.f]
from = \"a\"
to = \"b\"
message = 1000
load = \"50%\"
[sweep]
\"network.mtu\" = [1500, 9000]
";

fn on_sim(text: &str, sets: &[&str]) -> Result<Plan> {
    let mut experiment = Experiment::parse(text, "experiments/x.toml")?;
    for set in sets {
        experiment.set(set)?;
    }
    experiment.plan(Backend::Sim, unchecked)
}

#[track_caller]
pub(super) fn sim(text: &str, sets: &[&str]) -> Plan {
    on_sim(text, sets).unwrap_or_else(|error| panic!("{error:#}"))
}

#[track_caller]
pub(super) fn check_round_trip_in_sim(plan: &Plan) {
    let again = sim(&plan.text, &[]);
    assert_eq!((&again.text, &again.hash), (&plan.text, &plan.hash));
}

#[track_caller]
pub(super) fn rejected(text: &str, sets: &[&str], line: &str) {
    let error = on_sim(text, sets).expect_err(line);
    assert_eq!(format!("{error:#}"), line);
}

#[test]
fn a_plan_of_the_simulator_written_out_is_the_same_plan() {
    let queues = shipped::text("mtu-and-queues").unwrap().1;
    for (text, sets) in [
        (SMALL, &["traffic.protocol=udp"][..]),
        (GRAPH, &[]),
        (queues, &[]),
        (
            GRAPH,
            &[
                "host.receive_per_byte=1ns",
                "host.receive_buffer=100kB",
                "links.a-r.framing=none",
            ],
        ),
        (
            SMALL,
            &[
                "traffic.protocol=udp",
                "network.medium=wifi",
                "network.length=30m",
            ],
        ),
    ] {
        let plan = sim(text, sets);
        let again = sim(&plan.text, &[]);
        assert_eq!(again.text, plan.text);
        assert_eq!(again.hash, plan.hash);
        let settings = |plan: &Plan| -> Vec<_> {
            let cells = plan.cells.iter();
            cells.map(|cell| cell.setting.clone()).collect()
        };
        assert_eq!(settings(&again), settings(&plan));
    }
}

#[test]
fn backends_do_not_share_a_results_folder() {
    let netns = plan(SMALL, &["traffic.protocol=udp"]);
    assert_ne!(sim(SMALL, &["traffic.protocol=udp"]).hash, netns.hash);
}

#[test]
fn a_medium_says_what_is_not_written() {
    let plan = sim(GRAPH, &["links.a-r.medium=cat5e", "links.a-r.rate=100mbit"]);
    let [copper, glass] = &setting(&plan, 0).network.links[..] else {
        panic!("two links");
    };
    assert_eq!(copper.rate, Rate::from_bits_per_second(100_000_000));
    assert_eq!(copper.impairments.delay, Span::from_nanos(570));
    assert_eq!(copper.impairments.bit_error_rate, 1e-10);
    assert_eq!(glass.rate, Rate::from_bits_per_second(1_000_000_000));
    let metres = glass.impairments.delay.as_secs_f64() * 299_792_458.0 / 1.468;
    assert!((metres - 10_000.0).abs() < 1e-3, "{metres}");
}

/// The distributions of the gaps and payloads of datagrams.
fn schedule(flow: &Flow) -> (&Distribution, &Distribution) {
    match &flow.sends {
        Sends::Datagrams { gaps, payloads, .. } => (gaps, payloads),
        Sends::Messages { .. } | Sends::Bytes { .. } => panic!("datagrams"),
    }
}

#[test]
fn a_load_is_a_share_of_the_slowest_link_with_framing() {
    let plan = sim(GRAPH, &["links.a-r.rate=100mbit"]);
    let Traffic::Flows(flows) = &setting(&plan, 0).traffic else {
        panic!("flows");
    };
    // 1000 bytes, 48 of UDP and IPv6, 38 of Ethernet at half of 100 Mbit/s.
    let gap = 1086.0 * 8.0 / 50e6 * 1e12;
    assert!((schedule(&flows.flows[0]).0.mean() / gap - 1.0).abs() < 1e-12);
}

#[test]
fn what_was_seen_is_drawn_from_with_its_own_mean() {
    let seen = |key: &str, value: &str| {
        GRAPH
            .replace("message = 1000\n", "")
            .replace("load", &format!("{key} = \"{value}\"\nload"))
    };
    let plan = sim(
        &seen("message_samples", "40 1500 1500B"),
        &["links.a-r.rate=100mbit"],
    );
    let Traffic::Flows(flows) = &setting(&plan, 0).traffic else {
        panic!("flows");
    };
    assert_eq!(
        *schedule(&flows.flows[0]).1,
        Distribution::Empirical(vec![40.0, 1500.0, 1500.0].into())
    );
    // The mean of 1013.3 bytes counts as 1014; with headers and framing.
    let gap = 1100.0 * 8.0 / 50e6 * 1e12;
    assert!((schedule(&flows.flows[0]).0.mean() / gap - 1.0).abs() < 1e-12);

    let gaps = seen("gap_samples", "1ms 1ms 4ms").replace("load = \"50%\"\n", "");
    let plan = sim(&gaps, &[]);
    let Traffic::Flows(flows) = &setting(&plan, 0).traffic else {
        panic!("flows");
    };
    assert_eq!(schedule(&flows.flows[0]).0.mean(), 2e9);
    rejected(
        &seen("gap_samples", "1ms"),
        &[],
        "experiments/x.toml:23: flows.f.load = \"50%\": gap_samples sets this as well; leave one of them out",
    );
    rejected(
        &seen("message_samples", "40 0"),
        &[],
        "experiments/x.toml:22: flows.f.message_samples = \"40 0\": a datagram has 1 to 65527 bytes",
    );
    rejected(
        &seen("message_samples", ""),
        &[],
        "experiments/x.toml:22: flows.f.message_samples = \"\": write what was seen, with spaces between",
    );
}

#[test]
fn what_the_simulator_cannot_do_is_rejected_in_one_line() {
    let udp = |sets: &[&str], line: &str| {
        let sets = [&["traffic.protocol=udp"], sets].concat();
        rejected(SMALL, &sets, line);
    };
    udp(
        &["network.rate=0bit"],
        "--set network.rate=0bit: network.rate = \"0bit\": a rate of zero sends nothing; write for instance 1gbit or 100mbit, or none",
    );
    udp(
        &["network.rate=none"],
        "experiments/x.toml:1: network.rate is missing; write for instance rate = \"1gbit\"; nothing else paces simulated datagrams",
    );
    udp(
        &["network.buffer=1kB"],
        "--set network.buffer=1kB: network.buffer = \"1kB\": two frames of MTU 1500 with framing are 3076 bytes; write from 3076 to 4294967295",
    );
    udp(
        &["traffic.warmup=1MB"],
        "--set traffic.warmup=1MB: traffic.warmup = \"1MB\": the simulator has no buckets to drain and no processors to meter; write \"auto\" or 0",
    );
    udp(
        &["traffic.send_buffer=1MB"],
        "--set traffic.send_buffer=1MB: traffic.send_buffer = \"1MB\": simulated hosts have no sockets, but host.receive_buffer; write \"auto\"",
    );
    udp(
        &["network.burst=50kB"],
        "--set network.burst=50kB: network.burst = \"50kB\": an emulated or simulated link has no token bucket; leave it out, or write \"auto\"",
    );
    udp(
        &["network.shape=dumbbell"],
        "experiments/x.toml:8: traffic.kind = \"transfer\": a transfer needs a path from a sender to a receiver; write kind = \"flows\"",
    );
    udp(
        &["network.length=10m"],
        "--set network.length=10m: network.length = \"10m\": a length of what? write medium = \"cat5e\", \"fibre\" or \"wifi\", or a delay instead",
    );
    udp(
        &["network.medium=cat5e", "network.length=101m"],
        "--set network.length=101m: network.length = \"101m\": this medium is not as long; write at most 100 m",
    );
}

#[test]
fn networks_that_cannot_be_are_rejected_with_their_line() {
    let graph = |old: &str, new: &str, line: &str| {
        assert!(GRAPH.contains(old), "{old}");
        rejected(&GRAPH.replacen(old, new, 1), &[], line);
    };
    graph(
        "ends = [\"a\", \"r\"]",
        "ends = [\"a\", \"x\"]",
        "experiments/x.toml:12: links.a-r.ends = [\"a\", \"x\"]: there is no node `x` in [nodes]; name one of a, r, b",
    );
    graph(
        "ends = [\"a\", \"r\"]",
        "ends = [\"a\", \"a\"]",
        "experiments/x.toml:12: links.a-r.ends = [\"a\", \"a\"]: a link from a node to itself; name two nodes",
    );
    graph(
        "ends = [\"a\", \"r\"]",
        "ends = \"a-r\"",
        "experiments/x.toml:12: links.a-r.ends = \"a-r\": write a list of names, for instance [\"a\", \"b\"]",
    );
    graph(
        "to = \"b\"",
        "to = \"r\"",
        "experiments/x.toml:21: flows.f.to = \"r\": write the name of a host: a, b",
    );
    graph(
        "to = \"b\"",
        "to = \"a\"",
        "experiments/x.toml:21: flows.f.to = \"a\": a flow from a host to itself; name two hosts",
    );
    graph(
        "load = \"50%\"",
        "load = \"50%\"\ngap = \"1ms\"",
        "experiments/x.toml:23: flows.f.load = \"50%\": gap, rate and load set the same; leave two of them out",
    );
    graph(
        "load = \"50%\"",
        "",
        "experiments/x.toml:1: flows.f.load is missing; write for instance load = \"30%\"",
    );
    graph(
        "load = \"50%\"",
        "load = \"50%\"\nlod = 1",
        "experiments/x.toml:24: flows.f.lod = 1: unknown key; did you mean `flows.f.load`?",
    );
}

#[test]
fn netns_rejects_by_name_what_only_the_simulator_does() {
    for (set, line) in [
        (
            "network.shape=explicit",
            "--set network.shape=explicit: network.shape = \"explicit\": between kernels its links are emulated; write link = \"emulated\" too, below [on.netns.network] or in [network], or --on sim",
        ),
        (
            "network.framing=none",
            "--set network.framing=none: network.framing = \"none\": between kernels only the links of a `dumbbell` and of an `explicit` network are other than Ethernet",
        ),
        (
            "host.send_per_packet=1us",
            "--set host.send_per_packet=1us: host.send_per_packet = \"1us\": only simulated hosts cost what is written: --on sim, or write 0s",
        ),
        (
            "host.receive_buffer=1MB",
            "--set host.receive_buffer=1MB: host.receive_buffer = \"1MB\": only simulated hosts cost what is written: --on sim, or write \"none\"",
        ),
        (
            "network.medium=cat5e",
            "--set network.medium=cat5e: network.delay = \"570ns\": `delay` needs link = \"emulated\"",
        ),
    ] {
        check_rejected(SMALL, &[set], line);
    }
    let flows = format!("{SMALL}[flows.f]\nload = \"1%\"\n");
    check_rejected(
        &flows,
        &[],
        "experiments/x.toml:12: flows = { f = { load = \"1%\" } }: only traffic of kind = \"flows\" has this table; remove it",
    );
    assert!(
        planned(
            SMALL,
            &["host.send_per_packet=0s", "network.framing=ethernet"]
        )
        .is_ok()
    );
}

#[test]
fn hosts_that_cost_time_limit_a_transfer_over_links_without_a_rate_and_others_do_not() {
    let costly = sim(SMALL, &["network.rate=none", "host.send_per_packet=2us"]);
    assert!(costly.cells.iter().all(|cell| cell.setting.is_ok()));
    let both = sim(SMALL, &["network.rate=1gbit,none"]);
    let outcomes = both.cells.iter().map(|cell| cell.setting.is_ok());
    assert_eq!(outcomes.collect::<Vec<_>>(), [true, false, true, false]);
    let why = both.cells[1].setting.as_ref().unwrap_err();
    assert!(
        why.starts_with("not simulated: ") && why.contains("host=fit:DIR"),
        "{why}"
    );
    rejected(
        SMALL,
        &["network.rate=none"],
        "experiments/x.toml:1: network.rate is missing; write for instance rate = \"1gbit\", or what hosts cost: nothing else paces a simulated transfer",
    );
}
