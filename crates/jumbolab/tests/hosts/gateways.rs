//! Networks between four machines: a sender, two gateways with an emulated link between them,
//! and a receiver.

use std::collections::BTreeSet;
use std::fs;
use std::process::Stdio;

use live::clock;
use plan::{RunFacts, Trial};
use results::folder::Folder;
use units::Span;

use crate::bed::{Bed, Between, State, signal, until};
use crate::run::{TRANSFER, complaints, said};

/// The options that name all four.
const MACHINES: [&str; 10] = [
    "--on",
    "hosts",
    "--host",
    "sender=a,interface=meas",
    "--host",
    "receiver=b,interface=meas",
    "--host",
    "ingress=g,interface=meas",
    "--host",
    "egress=h,interface=meas",
];

/// The study of which tests change a rate.
pub(crate) const SCALING: &str = include_str!("../../../../experiments/jumbogen-scaling.toml");

/// A short trial of few connections, whose average follows the queue at once.
pub(crate) const SHORT: &str = "--set scenario=increase --set queue=mred --set duration=2s --set h1=0s..1s --set h2=1s..2s --set small_start=500ms --set small_flows=4 --set stagger=20ms --set interval=500ms --set network.lateness=5s --set mred_min_th=1 --set mred_max_th=9 --set mred_weight=0.2 --set trials.patience=none --repeat 1";

pub(crate) fn words<'a>(first: &'a str, more: &'a str) -> Vec<&'a str> {
    let first = first.split(' ').chain(MACHINES);
    first.chain(more.split_whitespace()).collect()
}

/// Runs an experiment with `changes` and returns its facts and trials. It has `count` cells,
/// none of which is left out.
fn measured(bed: &Bed, experiment: &str, changes: &str, count: usize) -> (RunFacts, Vec<Trial>) {
    let run = format!("run {experiment} -o r-{experiment}");
    let output = bed.run(&words(&run, changes));
    let told = said(&output);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{told}");
    let (_, facts, trials) = Folder::read(&bed.path(&format!("r-{experiment}"))).unwrap();
    let cells: BTreeSet<String> = trials
        .iter()
        .map(|trial| trial.factors.to_string())
        .collect();
    assert_eq!((cells.len(), facts.left_out.len()), (count, 0), "{told}");
    (facts, trials)
}

/// The traces that a run may leave on the machines: interfaces and routes, and the state of each.
fn all(bed: &Bed) -> Vec<(State, [String; 3])> {
    let of = |host: &str| {
        let shown = [
            "-o -br link show",
            "-4 route show table all",
            "-6 route show root fd09::/16",
        ];
        let shown = shown.map(|line| bed.ip(host, line));
        (bed.state(host), shown)
    };
    ["a", "b", "g", "h"].into_iter().map(of).collect()
}

#[test]
fn a_congested_network_runs_over_two_gateways_with_the_figures_of_its_emulated_link() {
    let bed = Bed::new(Between::Gateways);
    let before = all(&bed);
    let cells = format!("{SHORT} --set links.bottleneck.losses.window=1s..2s");
    let (facts, trials) = measured(&bed, "aqm-congestion", &cells, 2);
    let roles: Vec<&str> = facts.hosts.iter().map(|host| host.role.as_str()).collect();
    assert_eq!(roles, ["sender", "receiver", "ingress", "egress"]);
    for trial in &trials {
        assert_eq!(trial.failure, None);
        let metric = |name: &str| trial.metrics.get(name).copied().unwrap_or(-1.0);
        let told = format!("{:?} {}", trial.metrics, trial.factors);
        let bundled = trial.factors.to_string().contains("bundles");
        assert_eq!(metric("packets_per_frame_h2") > 1.2, bundled, "{told}");
        let [frames, packets] = ["drop_percent_h2", "inner_drop_percent_h2"].map(metric);
        assert!(packets > 0.0 && packets < 90.0, "{told}");
        // Without bundles a frame is a packet.
        assert_eq!((frames - packets).abs() < 1e-9, !bundled, "{told}");
        // All packets but the kernels' own are of flows, and so are all drops.
        let losses = trial.evidence.get("losses").unwrap();
        let flows = losses["flows"].as_object().unwrap();
        let sum = |place: usize| -> f64 {
            let counts = flows.values().filter_map(|counts| counts[place].as_f64());
            counts.sum()
        };
        let of_flows = 100.0 * sum(1) / sum(0);
        assert!((of_flows - packets).abs() < 0.5, "{of_flows}: {told}");
        let busy = metric("utilisation_percent_h2");
        assert!(busy > 20.0 && busy < 110.0, "{told}");
        // All connections share 1.5 Mbit/s, and one has the other direction, of 20 ms each.
        assert!(metric("throughput/small") > 0.0, "{told}");
        assert!(metric("throughput") < 3.0, "{told}");
        assert!(metric("throughput/reverse") > 0.0, "{told}");
        assert!(metric("rtt") > 40.0, "{told}");
        assert!(trial.number("clock_bound_us").is_some(), "{told}");
    }
    until(|| all(&bed) == before);
}

#[test]
fn studies_of_red_run_between_two_routers_that_gather_nothing() {
    let bed = Bed::new(Between::Gateways);
    let before = all(&bed);
    for (experiment, changes) in [
        ("red-increase", "small_start=500ms"),
        ("red-decrease", "small_stop=1s"),
    ] {
        let cells = format!(
            "--set {changes} --set queue=red --set network.mtu=1500 --set duration=2s --set h1=0s..1s --set h2=1s..2s --set stagger=1ms --set network.lateness=5s --set trials.patience=none --repeat 1"
        );
        let (_, trials) = measured(&bed, experiment, &cells, 1);
        let told = format!("{:?}", trials[0].metrics);
        assert_eq!(trials[0].failure, None, "{told}");
        let metric = |name: &str| trials[0].metrics.get(name).copied().unwrap_or(-1.0);
        let busy = metric("utilisation_percent_h2");
        assert!(busy > 20.0 && busy < 110.0, "{told}");
        // Twenty connections or so share 1.5 Mbit/s for a second at least.
        let drops = metric("drop_percent_h1").max(metric("drop_percent_h2"));
        assert!(drops > 0.0 && drops < 90.0, "{told}");
    }
    until(|| all(&bed) == before);
}

/// The evidence of a trial of `jumbogen-scaling` is that of two links in a row, 1 ms each, in
/// both directions, and of clocks that were compared before and after.
#[test]
fn datagrams_are_gathered_and_cross_two_emulated_links_in_a_row() {
    let bed = Bed::new(Between::Gateways);
    let before = all(&bed);
    let cells = "--set traffic=flood2k,voip2k --set gather=off,t3ms --set duration=600ms --set busy=100ms..600ms --set network.lateness=5s --set trials.patience=none --repeat 1";
    let (_, trials) = measured(&bed, "jumbogen-scaling", cells, 4);
    for trial in &trials {
        let told = format!("{:?} {} {:?}", trial.metrics, trial.factors, trial.evidence);
        assert_eq!(trial.failure, None, "{told}");
        let metric = |name: &str| trial.metrics.get(name).copied().unwrap_or(-1.0);
        let factors = trial.factors.to_string();
        let [gathers, calls] = ["t3ms", "voip2k"].map(|level| factors.contains(level));
        // A frame of 2000 packets a second waits 3 ms for more of them, six on average.
        assert_eq!(metric("packets_per_frame_busy") > 2.0, gathers, "{told}");
        assert!(metric("packet_rate_busy") > 1_000.0, "{told}");
        let least = if gathers { 4.0 } else { 2.0 };
        let error = trial.number("clock_bound_us").unwrap() / 1e3;
        let delays: &[&str] = match calls {
            true => &["delay/there", "delay/back"],
            false => &["delay"],
        };
        for delay in delays {
            assert!(metric(delay) > least - error, "{delay}: {told}");
        }
        assert!(trial.number("clock_drift_us").is_some(), "{told}");
        let received = trial.number("messages_received").unwrap();
        assert!(
            received > 0.5 * trial.number("messages_sent").unwrap(),
            "{told}"
        );
    }
    until(|| all(&bed) == before);
}

#[test]
fn a_network_of_ipv6_runs_over_two_gateways_too() {
    let bed = Bed::new(Between::Gateways);
    let before = all(&bed);
    let cells = format!("{SHORT} --set network.ip=6");
    let (_, trials) = measured(&bed, "aqm-congestion", &cells, 2);
    for trial in &trials {
        let told = format!("{:?} {} {:?}", trial.metrics, trial.factors, trial.evidence);
        assert_eq!(trial.failure, None, "{told}");
        let metric = |name: &str| trial.metrics.get(name).copied().unwrap_or(-1.0);
        let bundled = trial.factors.to_string().contains("bundles");
        assert_eq!(metric("packets_per_frame_h2") > 1.2, bundled, "{told}");
        let busy = metric("utilisation_percent_h2");
        assert!(busy > 20.0 && busy < 110.0, "{told}");
        assert!(metric("inner_drop_percent_h2") > 0.0, "{told}");
        assert!(
            metric("throughput") > 0.0 && metric("throughput") < 3.0,
            "{told}"
        );
        assert!(metric("rtt") > 40.0, "{told}");
    }
    until(|| all(&bed) == before);
}

/// The core alone would carry ten times as much, at 1 ms a link.
#[test]
fn the_slow_link_of_a_host_is_emulated_by_the_host_and_its_gateway() {
    let bed = Bed::new(Between::Gateways);
    let before = all(&bed);
    // A fifth of the rate, which emulators carry beside other work, too.
    let rate = "\"links.out-b.rate\" = \"100mbit\"";
    assert!(SCALING.contains(rate));
    let slow = SCALING.replace(rate, "\"links.out-b.rate\" = \"20mbit\"");
    fs::write(bed.path("slow.toml"), slow).unwrap();
    let cells = "--set traffic=down100m --set gather=off,t900us --set links.out-b.delay=4ms --set network.lateness=5s --set trials.patience=none --repeat 1";
    let (_, trials) = measured(&bed, "slow.toml", cells, 2);
    for trial in &trials {
        let told = format!("{:?} {} {:?}", trial.metrics, trial.factors, trial.evidence);
        assert_eq!(trial.failure, None, "{told}");
        let emulated = trial.evidence.get("emulated_link").unwrap();
        assert_eq!(emulated, "core, core-out, out-b", "{told}");
        let metric = |name: &str| trial.metrics.get(name).copied().unwrap_or(-1.0);
        // From the host: its connections.
        let carried = metric("throughput/bulk");
        assert!(carried > 1.0 && carried < 20.0, "{told}");
        // To the host: calls.
        let error = trial.number("clock_bound_us").unwrap() / 1e3;
        assert!(metric("delay/there") > 6.0 - error, "{told}");
        assert!(metric("rtt") > 12.0, "{told}");
    }
    until(|| all(&bed) == before);
}

#[test]
fn gateways_leave_nothing_when_a_run_is_interrupted_or_something_of_it_is_killed() {
    let bed = Bed::new(Between::Gateways);
    let before = all(&bed);
    let carries = |host: &str| bed.ip(host, "-o link show").contains("jumbocore");
    for (number, end) in ["interrupt", "controller", "agent"].into_iter().enumerate() {
        let run = format!("run aqm-congestion -o r{number}");
        let cells = SHORT.replace("duration=2s", "duration=60s");
        let mut command = bed.command(&words(&run, &cells));
        let child = command.stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = child.spawn().unwrap();
        let plan = bed.path(&format!("r{number}/plan.toml"));
        until(|| plan.exists() && ["g", "h"].iter().all(|host| carries(host)));
        match end {
            "interrupt" => signal("-2", &[child.id()]),
            "controller" => child.kill().unwrap(),
            _ => signal("-9", &bed.agents("g")),
        }
        let struck = clock::monotonic();
        let output = child.wait_with_output().unwrap();
        until(|| all(&bed) == before);
        let took = clock::monotonic().since(struck).unwrap();
        assert!(took < Span::from_secs(12), "{end}: {took}");
        let told = said(&output);
        assert_ne!(output.status.code(), Some(0), "{end}: {told}");
        assert!(
            told.lines()
                .filter(|line| line.starts_with("jumbolab: "))
                .count()
                <= 1
        );
    }
}

#[test]
fn what_is_wrong_with_gateways_is_told_in_one_line_with_its_remedy() {
    let bed = Bed::new(Between::Gateways);
    let before = all(&bed);
    let refused = |line: &str, told: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let output = bed.run(&words);
        let said = said(&output);
        assert_eq!(output.status.code(), Some(2), "{line}: {said}");
        assert!(said.contains(told), "{told}: {said}");
        assert_eq!(complaints(&said), 1, "{said}");
    };
    let ends = "--on hosts --host sender=a,interface=meas --host receiver=b,interface=meas";
    let ingress = "--host ingress=g,interface=meas";
    let egress = "--host egress=h,interface=meas";
    let run = format!("run aqm-congestion -o none {SHORT} {ends}");
    refused(&run, "this network has two gateways");
    refused(&format!("{run} {ingress}"), "write --host egress=");
    fs::write(bed.path("t.toml"), TRANSFER).unwrap();
    refused(
        &format!("run t.toml -o none {ends} {ingress} {egress}"),
        "this experiment has a path",
    );
    let both = format!("{run} {ingress} {egress}");
    refused(
        &format!("{both} --set links.s1-r1.delay=3ms"),
        "links.s1-r1.delay: this link is the network between hosts as it is",
    );
    refused(
        &format!("{run} {ingress} --host egress=h,interface=meas,become=no-such-program"),
        "there is no program `no-such-program` there",
    );
    // The gateways in the other order.
    refused(
        &format!("{run} --host ingress=h,interface=meas --host egress=g,interface=meas"),
        "do not pass host",
    );
    let mut sysctl = bed.on("g", "sysctl");
    let sysctl = sysctl.args(["-q", "-w", "net.ipv4.conf.meas.rp_filter=1"]);
    assert!(sysctl.status().unwrap().success());
    refused(
        &format!("{both} --set frames=whole"),
        "sysctl -w net.ipv4.conf.meas.rp_filter=2",
    );
    until(|| all(&bed) == before);
}
