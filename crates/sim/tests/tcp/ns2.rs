//! One flow against ns-2.35, event by event [Ns2].

use proto::tcp::Recovery;
use units::Span;

use crate::recording::{compare, read, run};

fn agrees(recovery: Recovery, recorded: &str) {
    let theirs = read(recorded.lines().map(str::to_owned)).unwrap();
    assert!(theirs.len() > 800);
    // Their clock stood somewhere in 7 ms to 8 ms of its tick.
    let ours = run(
        recovery,
        3_000,
        20,
        Span::from_millis(7),
        Span::from_picos(1),
    );
    let found = compare(&theirs, &ours);
    assert_eq!((found.events, found.first_apart), (theirs.len(), None));
    assert!(found.worst <= 2, "{} us", found.worst);
}

#[test]
fn reno_does_what_it_does_in_ns2() {
    agrees(
        Recovery::Reno,
        include_str!("ns2/tcp1_Reno_3000_20_events.csv"),
    );
}

#[test]
fn newreno_does_what_it_does_in_ns2() {
    agrees(
        Recovery::NewReno,
        include_str!("ns2/tcp1_Newreno_3000_20_events.csv"),
    );
}

#[test]
fn sack_does_what_it_does_in_ns2() {
    agrees(
        Recovery::Sack,
        include_str!("ns2/tcp1_Sack1_3000_20_events.csv"),
    );
}
