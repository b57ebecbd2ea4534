//! Queue disciplines of links.

use queue::{Limit, Spec};
use tcp::React;

use super::simulated::{check_round_trip_in_sim, sim};
use super::*;

const EMULATED: [&str; 2] = ["network.link=emulated", "network.shape=routed"];

fn emulated<'a>(sets: &[&'a str]) -> Vec<&'a str> {
    EMULATED.iter().chain(sets).copied().collect()
}

#[test]
fn every_link_has_its_queue_with_what_it_does_not_say_from_all_links() {
    let sets = emulated(&[
        "network.queue=red",
        "network.buffer=35 packets",
        "network.red.min=3",
        "network.red.max=9",
        "links.router-receiver.red.max=12",
        "links.sender-router.queue=fq_codel",
        "links.sender-router.fq_codel.queues=16",
        "links.sender-router.buffer=100kB",
    ]);
    let plan = plan(SMALL, &sets);
    check_round_trip(&plan);
    let [first, second] = &setting(&plan, 0).network.links[..] else {
        panic!("two links")
    };
    let Spec::FqCodel(fair) = first.queue() else {
        panic!("{:?}", first.queue())
    };
    assert_eq!(fair.queues, 16);
    assert_eq!(fair.codel.limit, Limit::Bytes(Bytes::new(100_000)));
    let Spec::Red(red) = second.queue() else {
        panic!("{:?}", second.queue())
    };
    assert_eq!(red.limit, Limit::Packets(35));
    assert_eq!((red.curve.min, red.curve.max), (3.0, 12.0));
    assert_eq!(red.mean_size, Bytes::new(1518));
    assert_eq!(second.buffer, Bytes::new(35 * 1538));
}

#[test]
fn queues_that_notify_sources_of_drops_say_how_these_react() {
    let reactions = |sets: &[&str]| {
        let plan = sim(SMALL, &[&["network.queue=mred"], sets].concat());
        check_round_trip_in_sim(&plan);
        let links = &setting(&plan, 0).network.links;
        links
            .iter()
            .map(|link| link.impairments.notices)
            .collect::<Vec<_>>()
    };
    let path = "links.sender-receiver.mred.reaction=retransmit + reduce";
    assert_eq!(reactions(&[]), [None]);
    assert_eq!(
        reactions(&["network.mred.notify=on"]),
        [Some(React::Retransmit)]
    );
    assert_eq!(
        reactions(&["network.mred.interpretation=letter"]),
        [Some(React::RetransmitAndReduce)],
        "the paper's text has it"
    );
    let reduces = reactions(&["network.mred.notify=on", path]);
    assert_eq!(reduces, [Some(React::RetransmitAndReduce)]);
    // So that `notify` can be swept.
    assert_eq!(reactions(&["network.mred.notify=off", path]), [None]);
}

#[test]
fn the_hash_covers_every_parameter() {
    let plain = plan(SMALL, &emulated(&["network.queue=red"])).hash;
    for other in [
        "network.red.weight=0.01",
        "network.red.ecn=on",
        "network.red.drop_position=front",
        "network.buffer=35 packets",
        "network.queue=ared",
    ] {
        let sets = emulated(&["network.queue=red", other]);
        assert_ne!(plan(SMALL, &sets).hash, plain, "{other}");
    }
}

#[test]
fn queues_that_cannot_be_are_rejected_by_name() {
    for (sets, line) in [
        (
            emulated(&["network.queue=blue"]),
            "--set network.queue=blue: network.queue = \"blue\": write \"droptail\", \"dropfront\", \"red\", \"ared\", \"codel\", \"pie\", \"fq_codel\", \"priority\", \"rio\" or \"mred\"",
        ),
        (
            emulated(&["network.red.min=5"]),
            "--set network.red.min=5: network.red.min = 5: a parameter of red, and the queue is droptail; write queue = \"red\" too, or leave it out",
        ),
        (
            emulated(&["network.queue=red", "links.sender-router.pie.target=5ms"]),
            "--set links.sender-router.pie.target=5ms: links.sender-router.pie.target = \"5ms\": a parameter of pie, and the queue is red; write queue = \"pie\" too, or leave it out",
        ),
        (
            emulated(&["network.queue=red", "network.red.min=20"]),
            "--set network.red.min=20: network.red.min = 20: min must be a number from 0 on, and max a larger one; write two others",
        ),
        (
            emulated(&["network.queue=red", "network.rate=none"]),
            "--set network.rate=none: network.rate = \"none\": RED reckons with the rate of its link; give the link a rate",
        ),
        (
            emulated(&["network.buffer=0 packets"]),
            "--set network.buffer=0 packets: network.buffer = \"0 packets\": write from 1 to 10000000 packets, for instance \"35 packets\"",
        ),
        (
            emulated(&["network.queue=mred", "network.mred.notify=on"]),
            "--set network.mred.notify=on: network.mred.notify = \"on\": only the sources of the backend `sim` understand it: --on sim, or write notify = off",
        ),
        (
            vec!["network.queue=red"],
            "--set network.queue=red: network.queue = \"red\": `queue` needs link = \"emulated\"",
        ),
        (
            vec!["network.buffer=35 packets"],
            "--set network.buffer=35 packets: network.buffer = \"35 packets\": a buffer in packets needs link = \"emulated\": write bytes, for instance \"500kB\"",
        ),
        (
            emulated(&["network.queue=red", "network.red.mim=5"]),
            "--set network.red.mim=5: network.red.mim = 5: unknown key; did you mean `network.red.min`?",
        ),
    ] {
        let rejection = planned(SMALL, &sets).unwrap_err();
        assert_eq!(format!("{rejection:#}"), line);
    }
}
