//! One flow compared with ns-2.35, event by event [Ns2].

use tcp::Recovery;
use units::Span;

use crate::recording::{compare, read, run};

/// `millis`: the phase of ns-2's clock within its tick, to a millisecond.
fn agrees(recovery: Recovery, millis: u64, recorded: &str) {
    let theirs = read(recorded.lines().map(str::to_owned)).unwrap();
    assert!(theirs.len() > 800);
    let ours = run(
        recovery,
        3_000,
        20,
        Span::from_millis(millis),
        Span::from_picos(1),
    );
    let found = compare(&theirs, &ours);
    assert_eq!((found.events, found.first_apart), (theirs.len(), None));
    assert!(found.worst <= 2, "{} us", found.worst);
}

#[test]
fn tahoe_does_what_it_does_in_ns2() {
    agrees(
        Recovery::Tahoe,
        9,
        include_str!("ns2/tcp1_Tahoe_3000_20_events.csv"),
    );
}

#[test]
fn reno_does_what_it_does_in_ns2() {
    agrees(
        Recovery::Reno,
        7,
        include_str!("ns2/tcp1_Reno_3000_20_events.csv"),
    );
}

#[test]
fn newreno_does_what_it_does_in_ns2() {
    agrees(
        Recovery::NewReno,
        7,
        include_str!("ns2/tcp1_Newreno_3000_20_events.csv"),
    );
}

#[test]
fn sack_does_what_it_does_in_ns2() {
    agrees(
        Recovery::Sack,
        7,
        include_str!("ns2/tcp1_Sack1_3000_20_events.csv"),
    );
}
