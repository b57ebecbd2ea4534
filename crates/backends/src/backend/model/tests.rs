//! Closed forms beside simulations of the same cells.

use experiment::Experiment;
use plan::{Backend, Plan};
use units::Seed;

use super::*;
use crate::backend::plan;
use crate::backend::sim::Simulator;
use crate::backend::tests::shrunk;

/// A transfer of 5 MB over two links of 1 Gbit/s.
const TRANSFER: &str = "\
format = 1
name = \"known\"
[network]
shape = \"routed\"
rate = \"1gbit\"
[traffic]
echo = \"off\"
[sweep]
\"network.mtu\" = [1500, 9000]
";

const REQUESTS: &str = "\
format = 1
name = \"known\"
[network]
shape = \"chain\"
devices = 2
rate = \"1gbit\"
[links.router1-router2]
rate = \"100mbit\"
[traffic]
kind = \"request-response\"
protocol = \"udp\"
size = \"100kB\"
min_size = 1000
max_size = 60000
size_step = 5900
reference_size = 11000
[sweep]
\"network.mtu\" = [1500, 9000]
";

const FLOWS: &str = "\
format = 1
name = \"known\"
[network]
rate = \"100mbit\"
[traffic]
kind = \"flows\"
duration = \"2s\"
[flows.f]
message = 5000
gap = \"2ms\"
gap_distribution = \"constant\"
[sweep]
\"network.mtu\" = [1500, 9000]
";

#[track_caller]
fn planned(text: &str, sets: &[&str], backend: Backend) -> Result<Plan> {
    let mut experiment = Experiment::parse(text, "known.toml").unwrap();
    for set in sets {
        experiment.set(set).unwrap();
    }
    plan(experiment, backend)
}

/// The predicted and the simulated trial of each cell.
#[track_caller]
fn both(text: &str, sets: &[&str]) -> Vec<[Measurements; 2]> {
    let predicted = planned(text, sets, Backend::Model).unwrap();
    let simulated = planned(text, sets, Backend::Sim).unwrap();
    let settings = |plan: &Plan| -> Vec<Setting> {
        let cells = plan.cells.iter();
        cells.map(|cell| cell.setting.clone().unwrap()).collect()
    };
    let (predicted, simulated) = (settings(&predicted), settings(&simulated));
    let simulator = Simulator::ready(simulated.iter(), 1).unwrap();
    let pairs = predicted.iter().zip(&simulated);
    pairs
        .map(|(setting, same)| {
            let simulated = simulator.run(same, Seed::new(1)).unwrap().0;
            [Predictor.predict(setting).unwrap(), simulated]
        })
        .collect()
}

/// Whether prediction and simulation agree in `metric` within a share of it, in every cell.
#[track_caller]
fn agree(text: &str, sets: &[&str], metric: &str, share: f64) {
    for [predicted, simulated] in both(text, sets) {
        let value = |one: &Measurements| {
            *{ one.metrics.get(metric) }.unwrap_or_else(|| panic!("{metric} of {sets:?}"))
        };
        let (predicted, simulated) = (value(&predicted), value(&simulated));
        let off = (predicted - simulated).abs();
        assert!(
            off <= share * simulated.abs() + 1e-12,
            "{metric} of {sets:?}: predicted {predicted}, simulated {simulated}"
        );
    }
}

#[test]
fn a_long_transfer_over_a_clean_path_is_as_fast_as_simulated() {
    let costs = ["host.send_per_packet=3.2us", "host.send_per_byte=8ns"];
    let receiver = ["host.receive_per_packet=20us"];
    let distance = ["network.delay=1ms", "network.rate=100mbit"];
    for sets in [&[][..], &costs, &receiver, &distance] {
        agree(TRANSFER, sets, "throughput", 0.01);
    }
    let agents = ["tcp.agent=linux", "tcp.timestamps=off", "tcp.segment=1000"];
    agree(TRANSFER, &agents, "throughput", 0.01);
}

#[test]
fn slow_start_takes_its_part_of_a_short_transfer_over_a_long_path() {
    let far = [
        "network.delay=10ms",
        "network.rate=100mbit",
        "network.buffer=2MB",
    ];
    let short = [&far[..], &["traffic.size=1MB", "tcp.agent=linux"]].concat();
    agree(TRANSFER, &short, "throughput", 0.1);
}

#[test]
fn a_window_smaller_than_the_path_bounds_the_rate() {
    let small = ["tcp.window=5", "network.delay=2ms", "traffic.size=500kB"];
    agree(
        TRANSFER,
        &[&small[..], &["tcp.acknowledge=each"]].concat(),
        "throughput",
        0.03,
    );
}

#[test]
fn datagrams_one_after_the_other_take_what_a_simulation_takes() {
    let costs = ["host.send_per_packet=1us", "host.receive_per_byte=1ns"];
    for sets in [
        &[][..],
        &costs,
        &["traffic.message=8000"],
        &["network.framing=none"],
    ] {
        let sets = [sets, &["traffic.protocol=udp", "traffic.echo=on"]].concat();
        agree(TRANSFER, &sets, "throughput", 1e-3);
        agree(TRANSFER, &sets, "delay", 1e-6);
        agree(TRANSFER, &sets, "rtt", 1e-6);
        agree(TRANSFER, &sets, "jitter", 0.0);
    }
}

#[test]
fn a_message_and_its_answer_take_exactly_what_a_simulation_takes() {
    let costs = ["host.send_per_packet=4us", "host.receive_per_byte=2ns"];
    let tcp = ["traffic.protocol=tcp", "tcp.initial_window=64"];
    let whole = ["traffic.answer=data+ack"];
    let far = ["network.delay=1ms", "network.ip=4"];
    let each = [&tcp[..], &["tcp.acknowledge=each"]].concat();
    let linux = [&tcp[..], &["tcp.agent=linux"], &whole].concat();
    // Linux acknowledges some more of the last segments at once.
    agree(REQUESTS, &linux, "megabyte_time", 1e-4);
    for sets in [&[][..], &costs, &tcp, &each, &whole, &far] {
        agree(REQUESTS, sets, "message_time", 1e-9);
        agree(REQUESTS, sets, "megabyte_time", 1e-9);
    }
    let cut = ["network.shape=switched", "network.cut_through=on"];
    let text = REQUESTS.replace("[links.router1-router2]\nrate = \"100mbit\"\n", "");
    agree(&text, &cut, "message_time", 1e-9);
}

#[test]
fn a_lost_datagram_costs_its_timeout_on_average() {
    let sets = [
        "network.loss=2%",
        "network.mtu=1500",
        "traffic.retransmit_after=10ms",
    ];
    let plan = planned(REQUESTS, &sets, Backend::Model).unwrap();
    let setting = plan.cells[0].setting.as_ref().unwrap();
    let time = |setting: &Setting| Predictor.predict(setting).unwrap().metrics["message_time"];
    let mut clean = setting.clone();
    for link in &mut clean.network.links {
        link.impairments.loss = 0.0;
    }
    // 8 fragments and an answer over three links each.
    let kept = 0.98f64.powi(27);
    let late = time(setting) - time(&clean);
    assert!((late - 10.0 * (1.0 - kept) / kept).abs() < 1e-9, "{late}");
}

#[test]
fn flows_have_the_rate_and_the_delay_of_a_simulation() {
    for sets in [&[][..], &["flows.f.from=receiver", "flows.f.to=sender"]] {
        agree(FLOWS, sets, "delay", 1e-6);
        agree(FLOWS, sets, "delay/f", 1e-6);
        agree(FLOWS, sets, "throughput", 2e-3);
        agree(FLOWS, sets, "loss", 0.0);
    }
    // Poisson arrivals wait for each other, and behind other traffic.
    let poisson = [
        "flows.f.gap_distribution=exponential",
        "flows.f.gap=1ms",
        "traffic.duration=200s",
    ];
    agree(FLOWS, &poisson, "delay", 0.02);
    let small = [
        "flows.f.message=100",
        "flows.f.gap=20ms",
        "flows.f.gap_distribution=exponential",
    ];
    for load in ["network.load=30%", "network.load=80%"] {
        let beside = [&small[..], &[load, "traffic.duration=500s"]].concat();
        agree(FLOWS, &beside, "delay", 0.06);
        agree(
            FLOWS,
            &[&beside[..], &["network.cross.interarrival=constant"]].concat(),
            "delay",
            0.02,
        );
    }
}

#[test]
fn a_fit_at_mtu_1500_foretells_the_study_of_2019() {
    let experiment = Experiment::load("os-comparison").unwrap();
    let plan = plan(experiment, Backend::Model).unwrap();
    let found: Vec<String> = plan
        .cells
        .iter()
        .filter_map(|cell| cell.setting.as_ref().ok())
        .map(|setting| {
            let found = Predictor.predict(setting).unwrap();
            format!("{:.1}", found.metrics["throughput"])
        })
        .collect();
    // Printed: 750.94, 895.53 and 938.88 [Praptodiyono2019 Table 4].
    assert_eq!(found[..3], ["750.9", "892.4", "949.6"]);
    // And of the pairs with Windows, each by its own: 767.61, 718.60 and 662.37.
    let baselines = [&*found[3], &found[6], &found[9]];
    assert_eq!(baselines, ["767.6", "718.6", "662.4"]);
    assert_eq!(plan.repeat, 1);
}

#[test]
fn what_has_no_closed_form_is_left_out_with_its_reason() {
    let absent = |text: &str, sets: &[&str]| {
        let plan = planned(text, sets, Backend::Model).unwrap();
        let setting = plan.cells[0].setting.clone().unwrap();
        Predictor.predict(&setting).unwrap()
    };
    let stream = absent(TRANSFER, &[]);
    assert!(!stream.metrics.contains_key("delay"));
    let why = &stream.evidence["not_predicted"];
    assert_eq!(why["delay"], transfer::WHY_QUEUES);
    let late = absent(
        FLOWS,
        &["network.load=30%", "network.cross.interarrival=uniform"],
    );
    assert!(!late.metrics.contains_key("delay"));
    assert_eq!(
        late.evidence["not_predicted"]["delay"],
        "waits of flows for each other, or at several links, have no closed form"
    );

    let rejected = |text: &str, sets: &[&str], why: &str| {
        let error = planned(text, sets, Backend::Model).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains(why), "{error}");
    };
    rejected(
        TRANSFER,
        &["network.queue=codel"],
        "what this queue drops has no closed form",
    );
    rejected(
        TRANSFER,
        &["network.load=30%"],
        "share a link has no closed form",
    );
    rejected(
        TRANSFER,
        &["network.rate=none"],
        "neither a rate nor costs of hosts",
    );
    rejected(TRANSFER, &["network.jitter=1ms"], "no closed form of TCP");
    rejected(FLOWS, &["flows.f.gap=100us"], "offered more than its rate");
    let far = [
        "traffic.protocol=tcp",
        "network.delay=5ms",
        "network.mtu=1500",
    ];
    rejected(REQUESTS, &far, "do not fit the first window");
}

/// The outcomes of shipped experiments: the number of cells that are predicted, or a part of
/// the line that rejects it. Any other one is predicted, or rejected in one line.
const SHIPPED: [(&str, Result<usize, &str>); 32] = [
    ("host-costs", Err("network.mtu_method")),
    ("replay", Ok(1)),
    ("os-comparison", Ok(12)),
    ("jumbo-at-distance", Ok(16)),
    ("mtu-and-queues", Err("closed forms are of a path")),
    ("red-increase", Err("closed forms are of a path")),
    ("red-decrease", Err("closed forms are of a path")),
    ("kernel-and-simulator", Ok(11)),
    ("red-claims", Err("closed forms are of a path")),
    ("red-settings", Err("closed forms are of a path")),
    ("gradual-deployment", Err("closed forms are of a path")),
    ("egress-shaping", Err("host.receive_buffer")),
    ("aqm-congestion", Err("closed forms are of a path")),
    ("jumbogen-scaling", Err("closed forms are of a path")),
    ("aqm-interpretations", Err("closed forms are of a path")),
    ("aqm-ablations", Err("closed forms are of a path")),
    ("buffer-sizing", Err("closed forms are of a path")),
    ("mtu-and-loss", Ok(54)),
    ("fragmentation", Ok(22)),
    ("hops-and-load", Ok(6)),
    ("jumbo-frames", Ok(6)),
    ("jumbogram-ditg", Err("traffic.generator")),
    ("jumbogram-files", Ok(30)),
    ("jumbogram-simulated", Ok(63)),
    ("jumbogram-throughput", Err("flows.messages.message")),
    ("jumbograms", Err("no closed form runs programs")),
    (
        "latency-breakdown",
        Err("no closed form takes a kernel apart"),
    ),
    (
        "pmtu-faults",
        Err("no closed form predicts what a prober finds"),
    ),
    ("receiver-timer", Err("traffic.receive_buffer")),
    ("rtt-by-packet-size", Ok(48)),
    ("rtt-under-load", Ok(20)),
    ("stall", Err("traffic.answer")),
];

#[test]
fn every_shipped_experiment_is_predicted_or_rejected_by_name() {
    let names: Vec<&str> = experiment::shipped().map(|one| one.name).collect();
    for name in names {
        let outcome = SHIPPED.iter().find(|(other, _)| *other == name);
        let planned = plan(shrunk(name), Backend::Model);
        match (planned, outcome.map(|(_, outcome)| outcome)) {
            (Ok(plan), Some(Ok(cells))) => {
                let predicted = plan.cells.iter().filter(|cell| cell.setting.is_ok());
                assert_eq!(predicted.count(), *cells, "{name}");
            }
            (Err(error), Some(Err(part))) => {
                let error = format!("{error:#}");
                assert!(
                    error.contains(part) && !error.contains('\n'),
                    "{name}: {error}"
                );
            }
            (Ok(_), None) => {}
            (Err(error), None) => assert!(!format!("{error:#}").contains('\n'), "{name}: {error}"),
            (planned, outcome) => panic!(
                "{name}: {outcome:?}, but {:?}",
                planned.map(|plan| plan.hash)
            ),
        }
    }
}
