//! Connections: transfers, single flows and equal flows.

use super::*;

const OVER_TCP: &str = "\
format = 1
name = \"tcp\"
[network]
shape = \"routed\"
rate = \"100mbit\"
delay = \"1ms\"
buffer = \"4MB\"
[host]
congestion = \"reno\"
[traffic]
size = \"1MB\"
message = 1000
warmup = \"500kB\"
[sweep]
\"network.mtu\" = [1500]
";

const FLOWS: &str = "\
format = 1
name = \"flows\"
[network]
rate = \"10mbit\"
delay = \"5ms\"
buffer = \"30 packets\"
[host]
congestion = \"reno\"
[traffic]
kind = \"flows\"
duration = \"4s\"
[flows.one]
protocol = \"tcp\"
stop = \"2s\"
[flows.many]
protocol = \"tcp\"
count = 4
start_jitter = \"500ms\"
[flows.talk]
message = 100
gap = \"20ms\"
[sweep]
\"network.mtu\" = [1500]
";

#[test]
fn a_transfer_over_a_link_that_loses_nothing_has_the_goodput_of_its_headers() {
    let measurements = measurements(OVER_TCP, &["traffic.echo=off"]);
    // 1428 bytes behind 72 of TCP and IPv6 and 38 of Ethernet.
    let goodput = 1428.0 / 1538.0 * 100.0;
    let off = measurements.metrics["throughput"] / goodput - 1.0;
    assert!(off.abs() < 1e-3, "{off}");
    near(&measurements, "loss", 0.0);
    near(&measurements, "retransmissions", 0.0);
    assert_eq!(measurements.evidence["sent"], serde_json::json!([1000]));
    let segments = (1_500_000.0_f64 / 1428.0).ceil();
    near(&measurements, "segments", segments);
}

#[test]
fn answers_take_what_their_way_back_takes() {
    // A window of one segment: each segment waits alone, and so does each
    // answer.
    let sets = [
        "traffic.warmup=14280",
        "traffic.size=142800",
        "tcp.window=1",
        "tcp.acknowledge=each",
        "traffic.message=1428",
    ];
    let measurements = measurements(OVER_TCP, &sets);
    let there = 2.0 * (1.0 + wire(1538.0));
    near(&measurements, "delay", there);
    near(&measurements, "jitter", 0.0);
    // An acknowledgement leaves before the answer.
    let (answer, ack) = (wire(28.0 + 72.0 + 38.0), wire(72.0 + 38.0));
    near(&measurements, "rtt", there + 2.0 * (1.0 + answer) + ack);
}

#[test]
fn a_transfer_that_never_ends_has_failed() {
    let settings = settings(OVER_TCP, &["links.router-receiver.loss=100%"]);
    let trial = simulator(&settings).run(&settings[0], Seed::new(1));
    let failure = trial.map(|_| ());
    assert_eq!(failure, Err("nothing arrived".to_owned()));
}

#[test]
fn flows_that_are_alike_are_told_as_one() {
    let measurements = measurements(FLOWS, &[]);
    let at = |metric: &str| measurements.metrics[metric];
    // One flow gets half of the time.
    let all = at("throughput/one") / 2.0 + at("throughput/many") + at("throughput/talk");
    let off = at("throughput") / all - 1.0;
    assert!(off.abs() < 0.1, "{off}");
    assert!(
        at("throughput") < 10.0 * 1428.0 / 1538.0,
        "no more than the link"
    );
    let again = at("retransmissions/one") + at("retransmissions/many");
    near(&measurements, "retransmissions", again);
    assert!(again > 0.0, "a short queue drops");
    assert!((0.25..=1.0).contains(&at("fairness/many")));
    // The round trip is at least both directions, and at most that with a full
    // queue.
    let full = 31.0 * 1538.0 * 8.0 / 10e6 * 1e3;
    for name in ["rtt/one", "rtt/many", "rtt"] {
        assert!(
            (10.0..11.0 + full + 1.3).contains(&at(name)),
            "{name}: {}",
            at(name)
        );
    }
    for none in [
        "delay/one",
        "loss/many",
        "fairness/one",
        "throughput/many01",
    ] {
        assert!(!measurements.metrics.contains_key(none), "{none}");
    }
    assert!(measurements.metrics.contains_key("delay/talk"));
    assert_eq!(measurements.evidence["sent"].as_array().unwrap().len(), 3);
}

#[test]
fn what_is_outstanding_when_a_flow_stops_is_still_repaired() {
    for agent in ["standard", "tahoe", "reno", "newreno", "sack1"] {
        let set = format!("tcp.agent={agent}");
        let measurements = measurements(FLOWS, &[&set, "flows.many.stop=3s"]);
        assert!(measurements.metrics["retransmissions/one"] > 0.0, "{agent}");
        let of = |key: &str| measurements.evidence[key].as_array().unwrap()[..2].to_vec();
        assert_eq!(of("sent"), of("received"), "{agent}");
    }
}

#[test]
fn flows_begin_at_instants_of_their_own() {
    let settings = settings(FLOWS, &["tcp.agent=sack1", "flows.many.start_interval=1s"]);
    let scenario = |seed| scenario_of(&settings[0], Seed::new(seed), Bytes::new(u64::MAX));
    let (one, other) = (scenario(1), scenario(2));
    let many = |scenario: &sim::Scenario| -> Vec<u64> {
        let flows = scenario.flows.iter();
        let many = flows.filter(|flow| flow.name.starts_with("many"));
        many.map(|flow| flow.start.as_picos()).collect()
    };
    for (second, (a, b)) in (0..).zip(many(&one).into_iter().zip(many(&other))) {
        let late = |at: u64| at - second * 1_000_000_000_000;
        assert!(late(a) < 500_000_000_000 && late(b) < 500_000_000_000);
        assert_ne!(a, b);
    }
    let phase = |flow: &sim::Flow| match &flow.traffic {
        sim::Traffic::Tcp(tcp) => Some(tcp.settings.phase),
        sim::Traffic::Datagrams(_) => None,
    };
    let phases: std::collections::BTreeSet<_> = one.flows.iter().filter_map(phase).collect();
    assert_eq!(phases.len(), 5, "each clock has its own phase");
}

#[test]
fn a_link_has_figures_of_what_is_counted_of_a_transfer() {
    let window = "links.router-receiver.windows.there=all";
    let of = |echo: &str| measurements(OVER_TCP, &[window, "tcp.agent=linux", echo]);
    let alone = of("traffic.echo=off");
    // Frames of 1538 bytes with 1428 of payload, sent without a pause; but the
    // part ends when the last of them has arrived, its bits and 1 ms after it
    // began, and the link has nothing to do by then.
    let throughput = alone.metrics["throughput"];
    let lasts = 8.0 / throughput * 1e3;
    let carried = throughput * 1538.0 / 1428.0 * (1.0 - (1.0 + 0.12304) / lasts);
    let taken = alone.metrics["utilisation_percent_there"];
    assert!((taken / carried - 1.0).abs() < 0.002, "{taken} {carried}");
    // The previous link has the same rate, so nothing waits here.
    assert!(alone.metrics["mean_queue_there"] < 0.01);
    assert!(alone.metrics["drop_percent_there"].abs() < 1e-9);
    // Acknowledgements of answers share this direction of the link.
    let answered = of("traffic.echo=on");
    assert!(answered.metrics["mean_queue_there"] > 0.1);
    assert!(answered.metrics["throughput"] < throughput);
}
