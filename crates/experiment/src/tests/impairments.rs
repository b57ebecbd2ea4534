//! Properties of emulated links: laws of jitter, links with a lower MTU than
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
        "network.jitter_law=exponential",
        "links.switch-receiver.jitter_law=normal",
        "links.sender-switch.wire_mtu=1400",
        "links.sender-switch.too_big=answer",
        "network.cut_through=true",
    ]);
    let plan = plan(SMALL, &sets);
    check_round_trip(&plan);
    let network = &setting(&plan, 1).network;
    assert!(network.cut_through);
    let [first, second] = &network.links[..] else {
        panic!("{network:?}")
    };
    assert_eq!(first.impairments.jitter_law, JitterLaw::Exponential);
    assert_eq!(second.impairments.jitter_law, JitterLaw::Normal);
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
    let wide = plan(SMALL, &emulated(&["mtu=1500", "network.wire_mtu=1500"]));
    assert_eq!(setting(&wide, 0).network.links[0].impairments.narrow, None);
    let default = plan(SMALL, &emulated(&["mtu=1500", "network.wire_mtu=mtu"]));
    assert_eq!(setting(&default, 0), setting(&wide, 0));
    // A newer key with its default value does not change a folder's name.
    let plain = plan(SMALL, &emulated(&["mtu=1500"]));
    assert_eq!(plain.hash, default.hash);
    let written = ["network.jitter_law=uniform", "network.too_big=drop"];
    assert_eq!(plan(SMALL, &written).hash, plan(SMALL, &[]).hash);
}

#[test]
fn every_new_key_changes_the_hash_where_it_changes_a_link() {
    let jitter = emulated(&["network.jitter=2ms"]);
    let plain = plan(SMALL, &jitter).hash;
    for other in [
        "network.jitter_law=normal",
        "network.wire_mtu=1400",
        "network.cut_through=on",
    ] {
        let sets: Vec<&str> = jitter.iter().copied().chain([other]).collect();
        assert_ne!(plan(SMALL, &sets).hash, plain, "{other}");
    }
}

#[test]
fn what_has_no_effect_is_refused_by_name() {
    for (set, line) in [
        (
            "network.jitter_law=normal",
            "--set network.jitter_law=normal: network.jitter_law = \"normal\": without jitter there is nothing to spread; write for instance jitter = \"2ms\" too",
        ),
        (
            "network.too_big=answer",
            "--set network.too_big=answer: network.too_big = \"answer\": no packet is too big for a wire that supports its mtu; write a smaller wire_mtu too",
        ),
        (
            "network.wire_mtu=1501",
            "--set network.wire_mtu=1501: network.wire_mtu = 1501: the interfaces of this link send at most its mtu = 1500; write less, or \"mtu\"",
        ),
        (
            "network.wire_mtu=1279",
            "--set network.wire_mtu=1279: network.wire_mtu = 1279: write an MTU of IPv6 from 1280 to 65535, or mtu",
        ),
        (
            "network.too_big=tell",
            "--set network.too_big=tell: network.too_big = \"tell\": write \"drop\" or \"answer\"",
        ),
    ] {
        check_refused(SMALL, &emulated(&["mtu=1500", set]), line);
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
        check_refused(SMALL, &sets, &format!("{cut}{why}"));
    }
    check_refused(
        SMALL,
        &["network.wire_mtu=1400"],
        "--set network.wire_mtu=1400: network.wire_mtu = 1400: `wire_mtu` needs link = \"emulated\"",
    );
}
