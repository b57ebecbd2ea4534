//! Faults of links, and investigations of paths.

use plan::setting::middlebox::{Action, Rule};
use plan::setting::{Direction, Probe, Protocol};
use units::{Bytes, Span};

use super::simulated::{check_round_trip_in_sim, rejected, sim};
use super::*;

const PROBED: &str = "\
format = 1
name = \"probed\"
backend = \"sim\"
[network]
shape = \"chain\"
devices = 2
mtu = 9000
rate = \"1gbit\"
[traffic]
kind = \"probe\"
[sweep]
\"network.ip\" = [4]
";

#[test]
fn faults_become_rules_of_their_link_in_order() {
    let plan = sim(
        PROBED,
        &[
            "network.fragments=drop",
            "links.router1-router2.drop_above=1500",
            "links.router1-router2.drop_direction=reverse",
            "links.router1-router2.drop_protocol=udp",
            "links.router1-router2.drop_flows=25%",
            "links.router1-router2.drop_from=1s",
            "links.router1-router2.drop_until=3s",
            "links.router1-router2.too_big_messages=drop",
            "links.router1-router2.too_big_interval=1s",
            "links.router1-router2.too_big_mtu=1400",
            "links.router1-router2.icmp_interval=100ms",
            "links.router1-router2.icmp_burst=4",
            "links.router1-router2.mss=1360",
            "links.router1-router2.mss_direction=reverse",
            "links.router1-router2.dont_fragment=clear",
            "links.router1-router2.fragments=pass",
        ],
    );
    check_round_trip_in_sim(&plan);
    let links = &setting(&plan, 0).network.links;
    let [first, second, third] = [0, 1, 2].map(|link: usize| &links[link].impairments.faults);
    assert_eq!(*first, [Rule::always(Action::DropFragments)]);
    assert_eq!(first, third);
    let dropping = Rule {
        direction: Some(Direction::Reverse),
        protocol: Some(Protocol::Udp),
        share: 0.25,
        from: Span::from_secs(1),
        until: Some(Span::from_secs(3)),
        action: Action::DropAbove(Bytes::new(1_500)),
    };
    let [messages, limit, announced] = [
        Action::DropTooBig,
        Action::LimitTooBig(Span::from_secs(1)),
        Action::AnnounceMtu(1_400),
    ]
    .map(Rule::always);
    let echoes = Rule {
        direction: Some(Direction::Forward),
        protocol: Some(Protocol::Icmp),
        ..Rule::always(Action::LimitRate {
            burst: 4,
            every: Span::from_millis(100),
        })
    };
    let mss = Rule {
        direction: Some(Direction::Reverse),
        ..Rule::always(Action::ClampMss(1_360))
    };
    let clear = Rule::always(Action::ClearDontFragment);
    let rules = [dropping, messages, limit, announced, echoes, mss, clear];
    assert_eq!(*second, rules);
}

#[test]
fn a_range_of_sizes_or_a_share_of_large_packets_is_dropped() {
    let rules = |sets: &[&str]| {
        let above = ["network.drop_above=1400"];
        let sets: Vec<&str> = above.iter().chain(sets).copied().collect();
        let plan = sim(PROBED, &sets);
        check_round_trip_in_sim(&plan);
        setting(&plan, 0).network.links[0]
            .impairments
            .faults
            .clone()
    };
    let (from, to, above) = (Bytes::new(1_401), Bytes::new(1_500), Bytes::new(1_400));
    let range = Action::DropBetween { from, to };
    let share = Action::DropShareAbove {
        above,
        per_mille: 55,
    };
    assert_eq!(rules(&["network.drop_up_to=1500"]), [Rule::always(range)]);
    assert_eq!(rules(&["network.drop_share=5.5%"]), [Rule::always(share)]);
}

#[test]
fn an_investigation_has_defaults_and_a_list_of_protocols() {
    let expected = |protocols: &[Protocol], reflector| Probe {
        up_to: Bytes::new(9_000),
        protocols: protocols.to_vec(),
        reflector,
        listens: true,
        timeout: Span::from_secs(60),
    };
    let probe = |sets: &[&str]| match &setting(&sim(PROBED, sets), 0).traffic {
        Traffic::Probe(probe) => probe.clone(),
        other => panic!("{other:?}"),
    };
    let all = [Protocol::Icmp, Protocol::Udp, Protocol::Tcp];
    assert_eq!(probe(&[]), expected(&all, false));
    let text = format!("{PROBED}[on.sim.traffic]\nprotocols = [\"tcp\", \"icmp\"]\n");
    let plan = sim(&text, &["traffic.reflector=on"]);
    check_round_trip_in_sim(&plan);
    let Traffic::Probe(found) = &setting(&plan, 0).traffic else {
        panic!("{plan:?}");
    };
    assert_eq!(*found, expected(&[Protocol::Icmp, Protocol::Tcp], true));
}

#[test]
fn faults_without_probes_and_restrictions_of_nothing_are_rejected_by_name() {
    for (sets, line) in [
        (
            &["network.drop_protocol=udp"][..],
            "--set network.drop_protocol=udp: network.drop_protocol = \"udp\": of which packets? write drop_above too",
        ),
        (
            &["network.drop_above=1500", "network.drop_until=0s"],
            "--set network.drop_until=0s: network.drop_until = \"0s\": packets are dropped until a time before `drop_from`; write a later time",
        ),
        (
            &["network.drop_up_to=1500"],
            "--set network.drop_up_to=1500: network.drop_up_to = 1500: of which packets? write drop_above too",
        ),
        (
            &["network.drop_above=1500", "network.drop_up_to=1500"],
            "--set network.drop_up_to=1500: network.drop_up_to = 1500: no size is above `drop_above` and not above this; write a larger size",
        ),
        (
            &[
                "network.drop_above=1500",
                "network.drop_up_to=1600",
                "network.drop_share=5%",
            ],
            "--set network.drop_share=5%: network.drop_share = \"5%\": a range of sizes is dropped whole; remove drop_share or drop_up_to",
        ),
        (
            &["network.icmp_burst=3"],
            "--set network.icmp_burst=3: network.icmp_burst = 3: at which rate afterwards? write icmp_interval too",
        ),
        (
            &["network.mss_direction=forward"],
            "--set network.mss_direction=forward: network.mss_direction = \"forward\": of which limit? write mss too",
        ),
        (
            &["network.mss=20"],
            "--set network.mss=20: network.mss = 20: write a number from 68 to 65535",
        ),
        (
            &["traffic.max_mtu=70kB"],
            "--set traffic.max_mtu=70kB: traffic.max_mtu = \"70kB\": a packet of IPv4 has from 68 bytes, which every link supports, to 65535; write a size between",
        ),
        (
            &["network.shape=switched"],
            "experiments/x.toml:10: traffic.kind = \"probe\": probes find routers: write shape = \"chain\", and drop_above for a switch of smaller MTU",
        ),
        (
            &["network.fragments=drop", "traffic.kind=transfer"],
            "--set traffic.kind=transfer: traffic.kind = \"transfer\": only probes see the faults of the link sender-router1; write kind = \"probe\", or remove them",
        ),
    ] {
        rejected(PROBED, sets, line);
    }
}

#[test]
fn emulated_links_break_packets_and_links_of_the_kernel_reject_to_by_name() {
    let text = PROBED.replace("backend = \"sim\"\n", "");
    let emulated = plan(&text, &["network.link=emulated", "network.mss=1360"]);
    let link = &setting(&emulated, 0).network.links[1];
    assert_eq!(
        link.impairments.faults,
        [Rule::always(Action::ClampMss(1_360))]
    );
    for (set, key) in [
        ("network.mss=1360", "mss = 1360: `mss`"),
        ("network.drop_above=1500", "drop_above = 1500: `drop_above`"),
        (
            "network.too_big_interval=1s",
            "too_big_interval = \"1s\": `too_big_interval`",
        ),
    ] {
        let line = format!("--set {set}: network.{key} needs link = \"emulated\"");
        check_rejected(&text, &[set], &line);
    }
    let wire = [
        "network.link=emulated",
        "network.link_mtu=4000",
        "network.oversize=icmp_error",
    ];
    let line = "experiments/x.toml:9: traffic.kind = \"probe\": a wire has no address to answer from; write oversize = \"drop\", or a smaller mtu, which routers report";
    check_rejected(&text, &wire, line);
}
