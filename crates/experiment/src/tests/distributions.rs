//! Distributions of flows in keys.

use meter::departures::{Bursts, Distribution};
use plan::setting::{Sends, Traffic};

use super::simulated::{GRAPH, rejected, sim};
use super::*;

/// The graph and its flow, with these lines instead of message and load.
fn with(lines: &str) -> String {
    let without = GRAPH.replace("message = 1000\n", "");
    assert!(without.contains("load = \"50%\""));
    without.replace("load = \"50%\"", lines)
}

/// Gaps and payloads, bursts and bytes of the flow in the first cell.
fn flow(plan: &Plan) -> (&Distribution, &Distribution, &Option<Bursts>, Option<Bytes>) {
    of_cell(plan, 0)
}

fn of_cell(
    plan: &Plan,
    cell: usize,
) -> (&Distribution, &Distribution, &Option<Bursts>, Option<Bytes>) {
    let Traffic::Flows(flows) = &setting(plan, cell).traffic else {
        panic!("flows");
    };
    match &flows.flows[0].sends {
        Sends::Datagrams {
            gaps,
            payloads,
            bursts,
            bytes,
            ..
        } => (gaps, payloads, bursts, *bytes),
        Sends::Messages { .. } | Sends::Bytes { .. } => panic!("datagrams"),
    }
}

#[test]
fn whole_distributions_stand_where_means_do_and_plan_to_the_same_again() {
    let plan = sim(
        &with(
            "message = \"normal:500,100\"\ngap = \"pareto:1.5,1ms\"\n\
             on = \"exponential:1s\"\noff = \"1.35s\"\nbytes = \"5MB\"",
        ),
        &[],
    );
    let (gaps, payloads, seen, bytes) = flow(&plan);
    assert_eq!(payloads, &Distribution::Normal(500.0, 100.0));
    assert_eq!(gaps, &Distribution::Pareto(1.5, 1e9));
    let bursts = Bursts {
        on: Distribution::Exponential(1e12),
        off: Distribution::Constant(1.35e12),
    };
    assert_eq!(seen, &Some(bursts));
    assert_eq!(bytes, Some(Bytes::new(5_000_000)));
    let again = sim(&plan.text, &[]);
    assert_eq!((&again.text, &again.hash), (&plan.text, &plan.hash));
    assert_eq!(flow(&again), flow(&plan));
}

#[test]
fn a_shape_beside_a_load_keeps_the_load() {
    let mean = |lines: &str| {
        flow(&sim(&with(lines), &["links.a-r.rate=100mbit"]))
            .0
            .mean()
    };
    let plain = mean("load = \"50%\"");
    for distribution in [
        "pareto:1.5",
        "gamma:2",
        "weibull:0.8",
        "constant",
        "uniform",
    ] {
        let shaped = mean(&format!(
            "load = \"50%\"\ngap_distribution = \"{distribution}\""
        ));
        assert!(
            (shaped / plain - 1.0).abs() < 1e-9,
            "{distribution}: {shaped}"
        );
    }
    let sized = sim(
        &with("message_distribution = \"gamma:4\"\nload = \"50%\""),
        &[],
    );
    assert_eq!(flow(&sized).1, &Distribution::Gamma(4.0, 250.0));
}

#[test]
fn a_rate_of_payload_is_the_same_in_all_frames() {
    let mean = |lines: &str, mtu: &str| flow(&sim(&with(lines), &[mtu])).0.mean();
    let both = |lines: &str| [1500, 9000].map(|mtu| mean(lines, &format!("network.mtu={mtu}")));
    let payload = "message = 5000\npayload_rate = \"10mbit\"";
    assert_eq!(both(payload), [4e9, 4e9]);
    let [small, large] = both("message = 5000\nrate = \"10mbit\"");
    assert!(small > large && large > 4e9, "{small} {large}");
}

#[test]
fn files_are_read_beside_the_experiment_and_not_swept() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("sizes.txt"), "40\n1500\n1500\n").unwrap();
    let name = folder.path().join("x.toml").display().to_string();
    let text = with("message = \"file:sizes.txt\"\ngap = \"1ms\"");
    let plan = Experiment::parse(&text, &name)
        .unwrap()
        .plan(Backend::Sim, unchecked)
        .unwrap();
    assert_eq!(
        flow(&plan).1,
        &Distribution::Empirical(vec![40.0, 1500.0, 1500.0].into())
    );
    // Both cells name it, and it is stored once.
    assert_eq!(plan.files.len(), 1);
    assert!(plan.text.contains(&plan.files[0].name));
    rejected(
        &with("gap = \"1ms\""),
        &["flows.f.gap=1ms,file:gaps.txt"],
        "--set flows.f.gap=1ms,file:gaps.txt: flows.f.gap = \"file:gaps.txt\": a file cannot be swept; make a run of each and compare them: jumbolab report A B",
    );
}

#[test]
fn whole_distributions_can_be_swept() {
    let plan = sim(
        &with("gap = \"1ms\""),
        &["flows.f.gap=exponential:1ms,\"gamma:2,500us\""],
    );
    assert_eq!(of_cell(&plan, 0).0, &Distribution::Exponential(1e9));
    assert_eq!(of_cell(&plan, 1).0, &Distribution::Gamma(2.0, 5e8));
}

#[test]
fn distributions_that_cannot_be_are_rejected_with_their_place() {
    for (lines, line) in [
        (
            "gap = \"weibull:0.8\"",
            "x.toml:22: flows.f.gap = \"weibull:0.8\": weibull takes a shape and a scale; write for instance \"weibull:0.8,1ms\"",
        ),
        (
            "gap = \"constant:0s\"",
            "x.toml:22: flows.f.gap = \"constant:0s\": datagrams need some time between them; write for instance \"1ms\"",
        ),
        (
            "gap = \"exponential:1ms\"\ngap_distribution = \"uniform\"",
            "x.toml:23: flows.f.gap_distribution = \"uniform\": gap sets this as well; leave one of them out",
        ),
        (
            "gap = \"exponential:1ms\"\nload = \"5%\"",
            "x.toml:23: flows.f.load = \"5%\": gap sets this as well; leave one of them out",
        ),
        (
            "payload_rate = \"1mbit\"\nload = \"5%\"",
            "x.toml:23: flows.f.load = \"5%\": payload_rate sets this as well; leave one of them out",
        ),
        (
            "gap = \"exponential:1ms\"\npayload_rate = \"1mbit\"",
            "x.toml:23: flows.f.payload_rate = \"1mbit\": gap sets this as well; leave one of them out",
        ),
        (
            "message = \"uniform:40,70000\"\ngap = \"1ms\"",
            "x.toml:22: flows.f.message = \"uniform:40,70000\": a datagram has 1 to 65527 bytes",
        ),
        (
            "message = \"cauchy:500,50\"\nload = \"5%\"",
            "x.toml:23: flows.f.load = \"5%\": messages of this distribution have no mean; write gap",
        ),
        (
            "load = \"5%\"\ngap_distribution = \"pareto:1\"",
            "x.toml:23: flows.f.gap_distribution = \"pareto:1\": pareto has a mean only with a shape above 1; write gap or message as a whole distribution",
        ),
        (
            "load = \"5%\"\ngap_distribution = \"pareto\"",
            "x.toml:23: flows.f.gap_distribution = \"pareto\": write \"constant\", \"exponential\", \"uniform\", \"poisson\", \"pareto:SHAPE\", \"gamma:SHAPE\" or \"weibull:SHAPE\"",
        ),
        (
            "gap = \"1ms\"\non = \"1s\"",
            "x.toml:23: flows.f.on = \"1s\": periods of sending need others; write off too",
        ),
        (
            "gap = \"1ms\"\noff = \"1s\"",
            "x.toml:23: flows.f.off = \"1s\": periods of silence need others; write on too",
        ),
        (
            "gap = \"1ms\"\non = \"1ns\"\noff = \"1s\"",
            "x.toml:23: flows.f.on = \"1ns\": a flow must send for 1 us or more at a time on average; make that longer",
        ),
        (
            "gap = \"1ms\"\nbytes = 0",
            "x.toml:23: flows.f.bytes = 0: a flow of nothing; leave it out",
        ),
    ] {
        rejected(&with(lines), &[], &format!("experiments/{line}"));
    }
}
