//! Domains whose edges aggregate packets.

use queue::{AggregatorSettings, Encapsulation, Tick, Trigger};

use super::simulated::{check_round_trip_in_sim, rejected, sim};
use super::*;

const DOMAIN: &str = "\
format = 1
name = \"domain\"
[network]
shape = \"explicit\"
ip = 4
[nodes]
a = { role = \"host\", address = \"10.1.0.1\" }
in = { role = \"router\" }
out = { role = \"router\" }
b = { role = \"host\", address = \"10.2.0.1\" }
[links]
a-in = { ends = [\"a\", \"in\"] }
core = { ends = [\"in\", \"out\"], mtu = 9000 }
out-b = { ends = [\"out\", \"b\"] }
[domain]
edges = [\"in\", \"out\"]
[domain.routes.west]
prefix = \"10.1.0.0/16\"
egress = \"in\"
[domain.routes.east]
prefix = \"10.2.0.0/16\"
egress = \"out\"
[traffic]
kind = \"flows\"
[flows.f]
from = \"a\"
to = \"b\"
message = 100
load = \"50%\"
[sweep]
\"network.rate\" = [\"100mbit\"]
";

/// Routes bundles to the east via `node`.
fn by_way_of(node: &str) -> String {
    DOMAIN.replace(
        "egress = \"out\"\n",
        &format!("egress = \"out\"\nvia = [\"{node}\"]\n"),
    )
}

fn domain(sets: &[&str]) -> Domain {
    let plan = sim(DOMAIN, sets);
    check_round_trip_in_sim(&plan);
    setting(&plan, 0).network.domain.clone().unwrap()
}

#[test]
fn a_domain_has_edges_routes_and_a_way_of_aggregation() {
    let usual = AggregatorSettings {
        mtu: Bytes::new(9000),
        whole: Bytes::new(9000),
        trigger: Trigger::EgressBusy(Span::from_millis(1)),
        encapsulation: Encapsulation {
            header: Bytes::new(26),
            entry: Bytes::new(4),
            framing: Bytes::ZERO,
        },
        tick: Tick::Micro,
        share: 1.0,
    };
    let plain = domain(&[]);
    assert_eq!(plain.aggregate, Some(usual));
    assert_eq!((plain.edges.len(), plain.routes.len()), (2, 2));
    assert!(plain.shaping);
    assert_eq!(plain.destination, Destination::Egress);
    let hosts: Vec<String> = plain
        .addresses
        .iter()
        .map(|(_, ip)| ip.to_string())
        .collect();
    assert_eq!(hosts, ["10.1.0.1", "10.2.0.1"]);
    let other = domain(&[
        "domain.mtu=4000",
        "domain.trigger=timer",
        "domain.max_wait=500us",
        "domain.encapsulation=udp",
        "domain.time_unit=10us",
        "domain.share=0.025",
        "domain.destination=first-packet",
        "domain.shaping=off",
        "domain.routes.east.next_as=64500",
    ]);
    let aggregate = other.aggregate.unwrap();
    assert_eq!(aggregate.mtu, Bytes::new(4000));
    assert_eq!(aggregate.trigger, Trigger::Timer(Span::from_micros(500)));
    assert_eq!(
        (aggregate.encapsulation.header, aggregate.tick),
        (Bytes::new(34), Tick::TenMicros)
    );
    assert!((aggregate.share - 0.025).abs() < 1e-12);
    assert!(!other.shaping);
    assert_eq!(other.destination, Destination::FirstPacket);
    assert!(other.routes.iter().any(|route| route.next_as == 64_500));
    assert_eq!(domain(&["domain.aggregate=off"]).aggregate, None);
    let label = domain(&["domain.encapsulation=label", "domain.trigger=full"]);
    let aggregate = label.aggregate.unwrap();
    assert_eq!(
        (aggregate.encapsulation.header, aggregate.trigger),
        (Bytes::new(10), Trigger::Full)
    );
    assert_eq!(label.destination, Destination::Label);
    let plan = sim(&by_way_of("in"), &["domain.encapsulation=label"]);
    check_round_trip_in_sim(&plan);
    let round = setting(&plan, 0).network.domain.clone().unwrap();
    let via: Vec<(usize, &[usize])> = round
        .routes
        .iter()
        .map(|route| (route.egress, &*route.via))
        .collect();
    assert_eq!(via, [(1, &[][..]), (2, &[1])]);
}

#[test]
fn a_domain_is_swept_and_changes_the_hash() {
    let hash = sim(DOMAIN, &[]).hash;
    for set in [
        "domain.mtu=4000",
        "domain.max_wait=2ms",
        "domain.aggregate=off",
        "domain.time_unit=10us",
    ] {
        assert_ne!(sim(DOMAIN, &[set]).hash, hash, "{set}");
    }
    let plan = sim(DOMAIN, &["domain.mtu=1500,9000"]);
    assert_eq!(plan.cells.len(), 2);
}

#[test]
fn what_cannot_be_aggregated_is_rejected_by_name() {
    for (set, why) in [
        (
            "domain.mtu=73",
            "domain.mtu = 73: an MTU of 73 B has no room for two packets beside the headers of a bundle; give it 74 B at least",
        ),
        (
            "domain.routes.east.prefix=",
            "domain.routes.east.prefix = \"\": write a prefix, for instance \"10.2.0.0/16\" or \"2001:db8:2::/48\"",
        ),
        (
            "domain.routes.east.prefix=10.2.0.1/16",
            "domain.routes.east.prefix = \"10.2.0.1/16\": the bits behind the length of a prefix must be 0",
        ),
        (
            "domain.routes.east.prefix=10.1.0.0/16",
            "domain.routes.east.prefix = \"10.1.0.0/16\": the route `west` has the same prefix; keep one of them",
        ),
        (
            "domain.routes.east.egress=a",
            "domain.routes.east.egress = \"a\": no edge of the domain; write one of domain.edges",
        ),
        (
            "domain.destination=label",
            "domain.destination = \"label\": a bundle in IP has no label; write encapsulation = \"label\" too",
        ),
        (
            "nodes.in.address=10.3.0.1",
            "nodes.in.address = \"10.3.0.1\": only hosts have addresses here; remove it",
        ),
        (
            "nodes.b.address=10.1.0.1",
            "nodes.b.address = \"10.1.0.1\": node `a` has it; write another one",
        ),
    ] {
        rejected(DOMAIN, &[set], &format!("--set {set}: {why}"));
    }
    for (node, sets, why) in [
        (
            "in",
            &[][..],
            "only bundles with labels leave the shortest path; write encapsulation = \"label\" in [domain]",
        ),
        ("a", &["domain.encapsulation=label"], "`a` is no router"),
        (
            "x",
            &["domain.encapsulation=label"],
            "there is no node `x` in [nodes]",
        ),
    ] {
        let line = format!("experiments/x.toml:23: domain.routes.east.via = [\"{node}\"]: {why}");
        rejected(&by_way_of(node), sets, &line);
    }
    rejected(
        DOMAIN,
        &["domain.encapsulation=label", "domain.destination=egress"],
        "--set domain.destination=egress: domain.destination = \"egress\": behind a label there is no address; write \"label\", or another encapsulation",
    );
    let timer =
        "a timer of 0 aggregates nothing; give it a time, or aggregate while the link is busy";
    rejected(
        DOMAIN,
        &["domain.trigger=timer", "domain.max_wait=0s"],
        &format!("--set domain.max_wait=0s: domain.max_wait = \"0s\": {timer}"),
    );
    let text = DOMAIN.replace(
        "[domain.routes.east]\nprefix = \"10.2.0.0/16\"\negress = \"out\"\n",
        "",
    );
    let text = text.replace(
        "[domain.routes.west]\nprefix = \"10.1.0.0/16\"\negress = \"in\"\n",
        "",
    );
    rejected(
        &text,
        &[],
        "experiments/x.toml:1: domain.routes is missing; write for instance [domain.routes.east] prefix = \"10.2.0.0/16\", egress = \"r2\"",
    );
    rejected(
        &DOMAIN.replace("edges = [\"in\", \"out\"]", "edges = [\"in\", \"b\"]"),
        &[],
        "experiments/x.toml:16: domain.edges = [\"in\", \"b\"]: `b` is no router; packets are aggregated by routers",
    );
}

#[test]
fn a_domain_belongs_to_named_nodes() {
    let error = planned(DOMAIN, &[]).unwrap_err();
    assert!(
        format!("{error:#}").contains("write link = \"emulated\""),
        "{error:#}"
    );
    let error = planned(SMALL, &["domain.mtu=4000"]).unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "--set domain.mtu=4000: domain = { mtu = 4000 }: its edges and hosts have names; write shape = \"explicit\""
    );
    let kept = |key: &str| format!("links.core.{key}");
    let set = format!("{}=0s..1s", kept("losses.window"));
    assert!(sim(DOMAIN, &[&set]).cells[0].setting.is_ok());
    let label = "domain.encapsulation=label";
    let set = format!("{}=on", kept("watch.capture"));
    let error = sim_error(&[&set, label, "network.framing=none"]);
    assert!(error.contains("write framing = \"ethernet\""), "{error}");
    assert!(sim(DOMAIN, &[&set, label]).cells[0].setting.is_ok());
}

fn sim_error(sets: &[&str]) -> String {
    let mut experiment = Experiment::parse(DOMAIN, "x.toml").unwrap();
    for set in sets {
        experiment.set(set).unwrap();
    }
    format!(
        "{:#}",
        experiment.plan(Backend::Sim, unchecked).unwrap_err()
    )
}
