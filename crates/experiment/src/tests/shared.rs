//! Links with cross traffic, recorded links, and echoes.

use super::*;

const EMULATED: [&str; 3] = [
    "network.link=emulated",
    "network.shape=routed",
    "rate=100mbit",
];

/// `SMALL` over emulated links of 100 Mbit/s with a router, and `sets`.
fn emulated(sets: &[&str]) -> Plan {
    plan(SMALL, &[&EMULATED[..], sets].concat())
}

#[track_caller]
fn rejected(sets: &[&str], line: &str) {
    check_rejected(SMALL, &[&EMULATED[..], sets].concat(), line);
}

#[test]
fn cross_traffic_has_its_defaults_and_is_on_its_link_alone() {
    let plan = emulated(&["links.router-receiver.cross.load=30%"]);
    check_round_trip(&plan);
    let links = &setting(&plan, 1).network.links;
    assert_eq!(links[0].cross, None);
    assert_eq!(
        links[1].cross,
        Some(Cross {
            rate: Rate::from_bits_per_second(30_000_000).unwrap(),
            packet: Bytes::new(9000),
            gaps: Gaps::Exponential,
            heading: Heading::Forward,
        })
    );
    let plan = emulated(&[
        "links.sender-router.cross.load=120mbit",
        "links.sender-router.cross.size=200B",
        "links.sender-router.cross.interarrival=constant",
        "links.sender-router.cross.direction=both",
        "links.sender-router.record=true",
    ]);
    check_round_trip(&plan);
    let link = &setting(&plan, 0).network.links[0];
    let cross = link.cross.unwrap();
    assert_eq!(cross.rate, Rate::from_bits_per_second(120_000_000).unwrap());
    assert_eq!(cross.packet, Bytes::new(200));
    assert_eq!(
        (cross.gaps, cross.heading.directions()),
        (Gaps::Constant, &[0, 1][..])
    );
    assert!(link.recorded && !setting(&plan, 0).network.links[1].recorded);
}

#[test]
fn load_can_be_swept_and_no_load_is_no_cross_traffic() {
    let plan = emulated(&["links.sender-router.cross.load=0%,50%", "mtu=1500"]);
    check_round_trip(&plan);
    let loads: Vec<_> = (0..2)
        .map(|cell| {
            setting(&plan, cell).network.links[0]
                .cross
                .map(|cross| cross.rate)
        })
        .collect();
    assert_eq!(loads, [None, Rate::from_bits_per_second(50_000_000)]);
    let bare = emulated(&["mtu=1500"]);
    assert_eq!(setting(&plan, 0), setting(&bare, 0));
}

#[test]
fn what_cannot_share_a_link_is_rejected_by_name() {
    let load = "links.sender-router.cross.load=30%";
    for kind in ["kernel", "mixed"] {
        let network = format!("network.link={kind}");
        let sets = ["network.shape=routed", &network];
        check_rejected(
            SMALL,
            &[&sets[..], &[load]].concat(),
            &format!(
                "--set {load}: links.sender-router.cross.load = \"30%\": cross traffic needs an emulated link, which \"kernel\" has nowhere and \"mixed\" not for goodput; write link = \"emulated\""
            ),
        );
        let record = "links.sender-router.record=on";
        check_rejected(
            SMALL,
            &[&sets[..], &[record]].concat(),
            &format!(
                "--set {record}: links.sender-router.record = \"on\": a recording needs an emulated link, which \"kernel\" has nowhere and \"mixed\" not for goodput; write link = \"emulated\""
            ),
        );
    }
    rejected(
        &["links.sender-router.cross.size=200B"],
        "--set links.sender-router.cross.size=200B: links.sender-router.cross.size = \"200B\": there is no cross traffic without `load`; write for instance cross.load = \"30%\"",
    );
    rejected(
        &[load, "links.sender-router.cross.size=9001B", "mtu=9000"],
        "--set links.sender-router.cross.size=9001B: links.sender-router.cross.size = \"9001B\": an IP packet with a datagram has 48 to 9000 bytes on this link; write a size between",
    );
    rejected(
        &[load, "rate=none"],
        "--set links.sender-router.cross.load=30%: links.sender-router.cross.load = \"30%\": the link has no rate of which this could be a share; write for instance \"100mbit\"",
    );
    rejected(
        &[
            "links.sender-router.cross.load=10gbit",
            "links.sender-router.cross.size=1000B",
        ],
        "--set links.sender-router.cross.load=10gbit: links.sender-router.cross.load = \"10gbit\": more than 500000 packets a second; write less, or a larger `size`",
    );
    for bad in ["much", "-1%", "101%", "3"] {
        let set = format!("links.sender-router.cross.load={bad}");
        let written = if bad == "3" {
            "3"
        } else {
            &format!("\"{bad}\"")
        };
        rejected(
            &[&set],
            &format!(
                "--set {set}: links.sender-router.cross.load = {written}: write a share of the link's rate, for instance \"30%\", or a rate, for instance \"30mbit\", or none, light, moderate or heavy"
            ),
        );
    }
    rejected(
        &[load, "links.sender-router.cross.laod=1%"],
        "--set links.sender-router.cross.laod=1%: links.sender-router.cross.laod = \"1%\": unknown key; did you mean `links.sender-router.cross.load`?",
    );
}

#[test]
fn timing_error_is_forgiven_where_there_is_an_emulator() {
    let timing_error = |sets: &[&str]| setting(&plan(SMALL, sets), 0).network.timing_error;
    assert_eq!(timing_error(&[]), None);
    assert_eq!(timing_error(&["network.timing_error=auto"]), None);
    let mixed = ["network.link=mixed", "network.timing_error=2ms"];
    assert_eq!(timing_error(&mixed), Some(Span::from_millis(2)));
    check_round_trip(&plan(SMALL, &mixed));
    check_rejected(
        SMALL,
        &["network.timing_error=2ms"],
        "--set network.timing_error=2ms: network.timing_error = \"2ms\": no frame leaves the kernel's links late; leave it out, or write \"auto\"",
    );
}

#[test]
fn echoes_are_a_switch_with_a_third_position() {
    for (written, echo, canonical) in [
        ("true", Echo::Headers, "on"),
        ("off", Echo::Off, "off"),
        ("whole", Echo::Whole, "whole"),
    ] {
        let plan = plan(SMALL, &[&format!("traffic.echo={written}")]);
        check_round_trip(&plan);
        assert_eq!(transfer(&plan, 0).echo, echo);
        assert!(plan.text.contains(&format!("echo = \"{canonical}\"")));
    }
    check_rejected(
        SMALL,
        &["traffic.echo=half"],
        "--set traffic.echo=half: traffic.echo = \"half\": write \"on\", \"off\" or \"whole\"",
    );
}
