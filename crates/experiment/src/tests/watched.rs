//! Recordings of single packets.

use super::simulated::{rejected, sim};
use super::*;
use crate::shipped;

fn queues() -> &'static str {
    shipped::text("mtu-and-queues").unwrap().1
}

#[test]
fn what_is_watched_is_planned_and_changes_the_hash_only_where_it_is_on() {
    let plain = sim(queues(), &[]);
    let off = sim(queues(), &["links.bottleneck.watch.queue=off"]);
    let bottleneck = |plan: &Plan| setting(plan, 0).network.links[1].watch;
    assert_eq!(bottleneck(&off), bottleneck(&plain));
    let on = sim(
        queues(),
        &[
            "links.bottleneck.watch.queue=on",
            "links.bottleneck.watch.interval=5ms",
            "links.bottleneck.watch.capture=on",
        ],
    );
    let expected = Watched {
        queue: true,
        interval: Some(Span::from_millis(5)),
        capture: true,
        ..Watched::default()
    };
    assert_eq!(bottleneck(&on), expected);
    assert_ne!(on.hash, plain.hash);
    let again = sim(&on.text, &[]);
    assert_eq!((again.text, again.hash), (on.text, on.hash));
}

#[test]
fn what_cannot_be_watched_is_rejected_by_name() {
    rejected(
        queues(),
        &["links.bottleneck.watch.interval=5ms"],
        "--set links.bottleneck.watch.interval=5ms: links.bottleneck.watch.interval = \"5ms\": only what waits is looked at in intervals; write watch.queue = on too",
    );
    rejected(
        queues(),
        &[
            "links.bottleneck.watch.queue=on",
            "links.bottleneck.watch.interval=0s",
        ],
        "--set links.bottleneck.watch.interval=0s: links.bottleneck.watch.interval = \"0s\": no time lies between two packets; write for instance \"10ms\", or \"arrival\" for every one",
    );
    let error = planned(SMALL, &["links.sender-receiver.watch.drops=on"]).unwrap_err();
    assert_eq!(
        format!("{error:#}"),
        "--set links.sender-receiver.watch.drops=on: links.sender-receiver.watch.drops = \"on\": only links of the backend `sim` are watched; write --on sim, or record = true on an emulated link"
    );
}
