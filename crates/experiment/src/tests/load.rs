//! Cross traffic on all links of a path, the path's hops, and flows with
//! echoes.

use super::simulated::{rejected as rejected_in_sim, sim};
use super::*;

const CHAIN: [&str; 3] = [
    "network.link=emulated",
    "network.shape=chain",
    "network.devices=3",
];

const FLOWS: &str = "\
format = 1
name = \"small\"
[network]
shape = \"chain\"
link = \"emulated\"
rate = \"100mbit\"
[traffic]
kind = \"flows\"
[flows.probe]
message = 100
gap = \"10ms\"
[sweep]
\"network.load\" = [\"none\", \"light\", \"moderate\", \"heavy\"]
";

fn chain(sets: &[&str]) -> Plan {
    plan(SMALL, &[&CHAIN[..], sets].concat())
}

/// The cross traffic on each link of a setting, in Mbit/s.
fn loads(setting: &Setting) -> Vec<Option<u64>> {
    let links = setting.network.links.iter();
    links
        .map(|link| Some(link.cross?.rate.bits_per_second() / 1_000_000))
        .collect()
}

#[test]
fn a_load_is_on_every_link_and_its_words_are_shares_of_the_rate() {
    let levels = "network.load=none,light,moderate,heavy";
    let plan = chain(&[levels, "mtu=1500"]);
    check_round_trip(&plan);
    for (cell, share) in [None, Some(200), Some(500), Some(800)]
        .into_iter()
        .enumerate()
    {
        assert_eq!(loads(setting(&plan, cell)), vec![share; 4]);
    }
    // Without a load, networks are unchanged.
    let bare = chain(&["mtu=1500"]);
    assert_eq!(
        format!("{:?}", setting(&plan, 0)),
        format!("{:?}", setting(&bare, 0))
    );
    let sets = [
        "network.load=30%",
        "network.cross.interarrival=constant",
        "network.cross.size=200B",
        "network.cross.direction=both",
        "links.router1-router2.cross.load=none",
        "links.router2-router3.cross.size=300B",
        "mtu=1500",
    ];
    let plan = chain(&sets);
    check_round_trip(&plan);
    let one = setting(&plan, 0);
    assert_eq!(loads(one), [Some(300), None, Some(300), Some(300)]);
    let cross = |link: usize| one.network.links[link].cross.unwrap();
    assert_eq!(cross(0).packet, Bytes::new(200));
    assert_eq!(cross(2).packet, Bytes::new(300));
    assert_eq!(
        (cross(2).gaps, cross(2).heading),
        (Gaps::Constant, Heading::Both)
    );
}

#[test]
fn a_chain_of_no_router_is_one_link() {
    for (devices, links) in [(0, 1), (1, 2), (3, 4)] {
        let devices = format!("network.devices={devices}");
        let plan = chain(&[&devices, "mtu=1500", "network.load=light"]);
        check_round_trip(&plan);
        assert_eq!(setting(&plan, 0).network.links.len(), links);
    }
    check_rejected(
        SMALL,
        &["network.shape=routed", "network.devices=0"],
        "--set network.devices=0: network.devices = 0: only shape = \"switched\" and \"chain\" have devices; leave it out",
    );
}

#[test]
fn a_load_that_cannot_be_is_rejected_in_one_line() {
    check_rejected(
        SMALL,
        &["network.load=heavy"],
        "--set network.load=heavy: network.load = \"heavy\": cross traffic needs an emulated link, which \"kernel\" has nowhere and \"mixed\" not for goodput; write link = \"emulated\"",
    );
    check_rejected(
        SMALL,
        &[&CHAIN[..], &["network.load=some"]].concat(),
        "--set network.load=some: network.load = \"some\": write a share of the link's rate, for instance \"30%\", or a rate, for instance \"30mbit\", or none, light, moderate or heavy",
    );
    check_rejected(
        SMALL,
        &[&CHAIN[..], &["network.load=light", "rate=none"]].concat(),
        "--set network.load=light: network.load = \"light\": the link has no rate of which this could be a share; write for instance \"100mbit\"",
    );
    check_rejected(
        SMALL,
        &[&CHAIN[..], &["network.cross.direction=both"]].concat(),
        "--set network.cross.direction=both: network.cross.direction = \"both\": there is no cross traffic without `load`; write for instance cross.load = \"30%\"",
    );
    // Where nobody says so, links of no load may still be none that could have one.
    assert_eq!(
        loads(setting(&plan(SMALL, &["network.load=none"]), 0)),
        [None]
    );
}

#[test]
fn the_simulator_has_cross_traffic_on_paths() {
    let plan = sim(FLOWS, &[]);
    assert_eq!(loads(setting(&plan, 3)), [Some(80), Some(80)]);
    let plan = sim(SMALL, &["network.load=heavy", "mtu=1500"]);
    assert_eq!(loads(setting(&plan, 0)), [Some(800)]);
}

#[test]
fn flows_come_back_between_kernels_alone() {
    let sets = ["flows.probe.meter=round-trip"];
    let plan = plan(FLOWS, &sets);
    check_round_trip(&plan);
    let Traffic::Flows(flows) = &setting(&plan, 0).traffic else {
        panic!("it has flows");
    };
    assert!(flows.flows[0].round_trip);
    rejected_in_sim(
        FLOWS,
        &sets,
        "--set flows.probe.meter=round-trip: flows.probe.meter = \"round-trip\": simulated flows go one way; write it below [on.netns.flows.NAME], or leave it out",
    );
    check_rejected(
        FLOWS,
        &["flows.probe.meter=both"],
        "--set flows.probe.meter=both: flows.probe.meter = \"both\": write \"one-way\" or \"round-trip\"",
    );
}

#[test]
fn a_fresh_test_bed_and_the_mtu_that_a_sender_believes_are_kernels_matters() {
    let sets = [
        "network.isolate_trials=on",
        "flows.probe.path_mtu=dont",
        "traffic.generator=sleeping",
    ];
    let plan = plan(FLOWS, &sets);
    check_round_trip(&plan);
    let one = setting(&plan, 0);
    let Traffic::Flows(flows) = &one.traffic else {
        panic!("it has flows");
    };
    assert!(one.network.isolate_trials);
    assert_eq!(flows.flows[0].path_mtu, PathMtu::Dont);
    assert_eq!(
        flows.sockets.as_ref().unwrap().generator,
        Generator::Sleeping
    );
    let probe = "flows.probe.path_mtu=probe";
    rejected_in_sim(
        FLOWS,
        &[probe],
        &format!(
            "--set {probe}: flows.probe.path_mtu = \"probe\": simulated senders trust every advertised MTU; write \"want\" or \"do\""
        ),
    );
    let dont = "flows.probe.path_mtu=dont";
    rejected_in_sim(
        FLOWS,
        &[dont],
        &format!(
            "--set {dont}: flows.probe.path_mtu = \"dont\": no router cuts packets of IPv6; write \"want\", or ip = 4"
        ),
    );
    let both = sim(FLOWS, &["network.ip=4", dont, "network.isolate_trials=on"]);
    assert!(
        !setting(&both, 0).network.isolate_trials,
        "hosts there are always new"
    );
    check_rejected(
        SMALL,
        &["network.isolate_trials=on"],
        "--set network.isolate_trials=on: network.isolate_trials = \"on\": only traffic of kind = \"flows\" has it; remove it",
    );
    check_rejected(
        FLOWS,
        &["flows.probe.path_mtu=want", "flows.probe.dont_fragment=on"],
        "--set flows.probe.path_mtu=want: flows.probe.path_mtu = \"want\": dont_fragment = \"on\" means \"do\"; leave one of them out",
    );
    let tcp = FLOWS.replace("message = 100", "message = 100\nprotocol = \"tcp\"");
    check_rejected(
        &tcp,
        &["flows.probe.path_mtu=want"],
        "--set flows.probe.path_mtu=want: flows.probe.path_mtu = \"want\": only datagrams have it: TCP finds the path's MTU itself",
    );
}
