//! Flows between kernels: `kind = "flows"` in the backend `netns`.

use meter::departures::Distribution;

use super::*;

pub(super) const FLOWS: &str = "\
format = 1
name = \"kernels\"
[traffic]
kind = \"flows\"
duration = \"10s\"
[flows.voice]
message = 160
gap = \"20ms\"
gap_distribution = \"constant\"
[flows.bulk]
protocol = \"tcp\"
[sweep]
\"network.mtu\" = [1500, 9000]
";

fn flows(plan: &Plan) -> Flows {
    match &setting(plan, 0).traffic {
        Traffic::Flows(flows) => flows.clone(),
        _ => panic!("flows"),
    }
}

#[test]
fn a_connection_between_kernels_may_have_a_schedule_and_needs_none() {
    let at_once = flows(&plan(FLOWS, &[]));
    let gaps = |flow: &Flow| match &flow.sends {
        Sends::Messages { gaps, .. } | Sends::Datagrams { gaps, .. } => gaps.clone(),
        Sends::Bytes { .. } => panic!("messages"),
    };
    assert_eq!(gaps(&at_once.flows[0]), Distribution::Constant(20e9));
    assert_eq!(gaps(&at_once.flows[1]), Distribution::Constant(0.0));

    let sets = [
        "flows.bulk.message=6000",
        "flows.bulk.gap=10us",
        "flows.bulk.gap_distribution=constant",
    ];
    let paced = flows(&plan(FLOWS, &sets));
    assert_eq!(gaps(&paced.flows[1]), Distribution::Constant(10e6));
}

#[test]
fn a_network_carries_many_small_datagrams_and_few_connections() {
    let text = FLOWS.replace(
        "[flows.bulk]",
        "[network]\nshape = \"dumbbell\"\nlink = \"emulated\"\n[flows.bulk]",
    );
    let many = flows(&plan(
        &text,
        &["flows.voice.count=1000", "flows.voice.message=16"],
    ));
    assert_eq!((many.flows[0].count, many.flows[1].count), (1_000, 1));
    for (set, line) in [
        (
            "flows.voice.count=1001",
            "--set flows.voice.count=1001: flows.voice.count = 1001: at most 1000 flows of datagrams in a network between kernels; write fewer, or add --on sim",
        ),
        (
            "flows.bulk.count=65",
            "--set flows.bulk.count=65: flows.bulk.count = 65: at most 64 flows between kernels; write fewer, or add --on sim",
        ),
        (
            "flows.voice.message=15",
            "--set flows.voice.message=15: flows.voice.message = 15: between kernels a message has at least the 16 bytes of our header",
        ),
    ] {
        check_rejected(&text, &[set], line);
    }
}

#[test]
fn sockets_are_those_that_were_asked_for() {
    let usual = flows(&plan(FLOWS, &[])).sockets.unwrap();
    assert_eq!(usual, Sockets::default());
    let sets = [
        "traffic.generator=ditg",
        "traffic.send_buffer=64KiB",
        "traffic.log=on",
    ];
    let asked = flows(&plan(FLOWS, &sets)).sockets.unwrap();
    assert_eq!(asked.generator, Generator::Ditg);
    assert_eq!(asked.send_buffer, Some(Bytes::new(65_536)));
    assert!(asked.log && asked.nagle, "D-ITG has Nagle's algorithm on");
}

#[test]
fn what_only_simulated_flows_have_is_rejected_by_name() {
    for (set, line) in [
        (
            "flows.voice.class=1",
            "--set flows.voice.class=1: flows.voice.class = 1: only simulated packets have it; write 0, or add --on sim",
        ),
        (
            "flows.voice.message=20",
            "--set flows.voice.message=20: flows.voice.message = 20: between kernels a message has at least the 28 bytes of our header",
        ),
        (
            "flows.bulk.dont_fragment=on",
            "--set flows.bulk.dont_fragment=on: flows.bulk.dont_fragment = \"on\": what is sent over TCP is cut into packets by the kernel; remove it",
        ),
        (
            "flows.bulk.watch.interval=1ms",
            "--set flows.bulk.watch.interval=1ms: flows.bulk.watch.interval = \"1ms\": the TCP of kernels has no such key; remove it, or add --on sim",
        ),
        (
            "flows.voice.count=65",
            "--set flows.voice.count=65: flows.voice.count = 65: at most 64 flows between kernels; write fewer, or add --on sim",
        ),
        (
            "traffic.size=5MB",
            "--set traffic.size=5MB: traffic.size = \"5MB\": only traffic of kind = \"transfer\" or \"command\" or \"request-response\" has this key; remove it",
        ),
    ] {
        check_rejected(FLOWS, &[set], line);
    }
    let back = FLOWS.replace(
        "[flows.bulk]",
        "[flows.bulk]\nfrom = \"receiver\"\nto = \"sender\"",
    );
    check_rejected(
        &back,
        &[],
        "experiments/x.toml:11: flows.bulk.from = \"receiver\": between kernels flows of a path go from the sender to the receiver; leave it out",
    );
}

#[test]
fn sockets_are_rejected_in_the_simulator_but_may_stand_below_on() {
    let text = FLOWS.replace("duration", "log = \"on\"\nduration");
    let simulated = |text: &str| {
        let experiment = Experiment::parse(text, "experiments/x.toml").unwrap();
        experiment.plan(Backend::Sim, unchecked)
    };
    let error = simulated(&text).unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "experiments/x.toml:5: traffic.log = \"on\": simulated flows have no sockets; remove it, or write it below [on.netns.traffic]"
    );
    let text = format!("{FLOWS}[on.netns.traffic]\nlog = \"on\"\n");
    assert!(flows(&simulated(&text).unwrap()).sockets.is_none());
    assert!(flows(&plan(&text, &[])).sockets.unwrap().log);
}
