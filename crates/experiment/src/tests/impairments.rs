//! Properties of emulated links: distributions of jitter, links with a lower MTU than
//! their interfaces, cut-through switches.

use super::*;

const EMULATED: [&str; 2] = ["network.link=emulated", "network.shape=switched"];

fn emulated<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    EMULATED.iter().chain(sets).copied().collect()
}

#[test]
fn wires_are_planned_as_written_and_round_trip() {
    let sets = emulated(&[
        "network.jitter=2ms",
        "network.jitter_distribution=exponential",
        "links.switch-receiver.jitter_distribution=normal",
        "links.sender-switch.link_mtu=1400",
        "links.sender-switch.oversize=icmp_error",
        "network.cut_through=true",
    ]);
    let plan = plan(SMALL, &sets);
    check_round_trip(&plan);
    let network = &setting(&plan, 1).network;
    assert!(network.cut_through);
    let [first, second] = &network.links[..] else {
        panic!("{network:?}")
    };
    assert_eq!(
        first.impairments.jitter_distribution,
        JitterDistribution::Exponential
    );
    assert_eq!(
        second.impairments.jitter_distribution,
        JitterDistribution::Normal
    );
    assert_eq!((first.mtu.get(), first.carries().get()), (9000, 1400));
    assert!(
        first
            .impairments
            .narrow
            .is_some_and(|narrow| narrow.answers)
    );
    assert_eq!(second.impairments.narrow, None);
    assert_eq!(network.path_mtu(), Some(first.carries()));
}

#[test]
fn a_wire_as_wide_as_its_interfaces_is_none_that_is_narrow() {
    let wide = plan(SMALL, &emulated(&["mtu=1500", "network.link_mtu=1500"]));
    assert_eq!(setting(&wide, 0).network.links[0].impairments.narrow, None);
    let default = plan(SMALL, &emulated(&["mtu=1500", "network.link_mtu=mtu"]));
    assert_eq!(setting(&default, 0), setting(&wide, 0));
    // A newer key with its default value does not change a folder's name.
    let plain = plan(SMALL, &emulated(&["mtu=1500"]));
    assert_eq!(plain.hash, default.hash);
    let written = [
        "network.jitter_distribution=uniform",
        "network.oversize=drop",
    ];
    assert_eq!(plan(SMALL, &written).hash, plan(SMALL, &[]).hash);
}

#[test]
fn every_new_key_changes_the_hash_where_it_changes_a_link() {
    let jitter = emulated(&["network.jitter=2ms"]);
    let plain = plan(SMALL, &jitter).hash;
    for other in [
        "network.jitter_distribution=normal",
        "network.link_mtu=1400",
        "network.cut_through=on",
    ] {
        let sets: Vec<&str> = jitter.iter().copied().chain([other]).collect();
        assert_ne!(plan(SMALL, &sets).hash, plain, "{other}");
    }
}

#[test]
fn what_has_no_effect_is_rejected_by_name() {
    for (set, line) in [
        (
            "network.jitter_distribution=normal",
            "--set network.jitter_distribution=normal: network.jitter_distribution = \"normal\": without jitter there is nothing to spread; write for instance jitter = \"2ms\" too",
        ),
        (
            "network.oversize=icmp_error",
            "--set network.oversize=icmp_error: network.oversize = \"icmp_error\": no packet is too big for a wire that supports its mtu; write a smaller link_mtu too",
        ),
        (
            "network.link_mtu=1501",
            "--set network.link_mtu=1501: network.link_mtu = 1501: the interfaces of this link send at most its mtu = 1500; write less, or \"mtu\"",
        ),
        (
            "network.link_mtu=1279",
            "--set network.link_mtu=1279: network.link_mtu = 1279: write an MTU of IPv6 from 1280 to 65535, or mtu",
        ),
        (
            "network.oversize=tell",
            "--set network.oversize=tell: network.oversize = \"tell\": write \"drop\" or \"icmp_error\"",
        ),
    ] {
        check_rejected(SMALL, &emulated(&["mtu=1500", set]), line);
    }
    let cut = "--set network.cut_through=on: network.cut_through = \"on\": ";
    for (sets, why) in [
        (
            &["network.shape=switched"][..],
            "`cut_through` needs link = \"emulated\"",
        ),
        (
            &["network.link=emulated"],
            "only switches forward a frame before all of it is there; write shape = \"switched\"",
        ),
        (
            &emulated(&["links.sender-switch.rate=100mbit"]),
            "a switch cannot forward a frame faster than it comes; give all links one rate",
        ),
        (
            &emulated(&["rate=none"]),
            "a link without a rate is done with a frame at once; give the links a rate",
        ),
    ] {
        let sets: Vec<&str> = sets
            .iter()
            .copied()
            .chain(["network.cut_through=on"])
            .collect();
        check_rejected(SMALL, &sets, &format!("{cut}{why}"));
    }
    check_rejected(
        SMALL,
        &["network.link_mtu=1400"],
        "--set network.link_mtu=1400: network.link_mtu = 1400: `link_mtu` needs link = \"emulated\"",
    );
}
