use std::net::{IpAddr, Ipv4Addr};

use link::Protocol;
use probe::driver::{Effort, Outgoing};
use probe::machine::{
    DirectionResult, Finding, FindingKind, Limit, Loss, ProtocolResult, SizeLoss, Verdict,
};
use units::Span;

use super::*;

const FAR_END: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1));

/// The result of an investigation of a path that carries packets of this size.
fn result(mtu: u64) -> Investigated {
    let direction = DirectionResult {
        mtu: Some(Bytes::new(mtu)),
        limit: Limit::Asked,
        loss: None,
    };
    Investigated {
        outgoing: Outgoing {
            interface: "eth0".to_owned(),
            index: 2,
            mtu: Bytes::new(9000),
            ipv6: true,
            loopback: false,
            address: Ipv4Addr::new(192, 0, 2, 2).into(),
            gateway: None,
        },
        report: PathReport {
            far_end: FAR_END,
            asked: Bytes::new(9000),
            verdict: Verdict::Clean,
            forward: direction,
            reverse: direction,
            round_trip: None,
            hops: Vec::new(),
            protocols: vec![ProtocolResult {
                protocol: Protocol::Icmp,
                answers: true,
                largest: None,
                fails_from: None,
                mss: None,
            }],
            loss: None,
            losses: Vec::new(),
            findings: Vec::new(),
            advice: Vec::new(),
            not_seen: Vec::new(),
            probes: 0,
            bytes: Bytes::ZERO,
            took: Span::ZERO,
        },
    }
}

fn seen(mtu: u64) -> Sizes {
    Sizes::of(&result(mtu).report)
}

fn path() -> Path {
    let task = Task {
        to: (FAR_END, 0).into(),
        protocols: vec![Protocol::Icmp],
        port: None,
        reflector: None,
        up_to: None,
        interface: None,
        address: None,
        is_short: true,
        ignores_cache: false,
        most_time: None,
        effort: Effort::default(),
        capture: None,
    };
    Path::new(task, result(9000))
}

/// Looks at a path whose short and whole investigations find these sizes. Returns the size
/// before, if the path has changed.
fn look(path: &mut Path, short: u64, whole: u64) -> Option<u64> {
    if !path.looks_changed(seen(short)) {
        return None;
    }
    let before = path.investigated(seen(short), result(whole))?;
    before.report.forward.mtu.map(Bytes::get)
}

#[test]
fn a_path_that_shrinks_and_grows_back_has_changed_twice() {
    let mut path = path();
    assert_eq!(look(&mut path, 9000, 0), None, "no whole investigation");
    assert_eq!(look(&mut path, 1500, 1500), Some(9000));
    assert_eq!(look(&mut path, 1500, 0), None);
    assert_eq!(look(&mut path, 9000, 9000), Some(1500));
    assert_eq!((path.changes, path.latest), (2, result(9000)));
}

/// The same, which lost this share of 50 large packets and no small one.
fn lossy(lost: u32) -> Investigated {
    let size = |size, lost: u32, low, high| SizeLoss {
        size: Bytes::new(size),
        loss: Loss {
            sent: 50,
            lost,
            share: f64::from(lost) / 50.0,
            low,
            high,
        },
    };
    let share = f64::from(lost) / 50.0;
    let (low, high) = ((share - 0.08).max(0.0), share + 0.08);
    let (small, large) = (size(100, 0, 0.0, 0.07), size(9000, lost, low, high));
    let mut result = result(9000);
    result.report.losses = vec![small, large];
    if lost > 4 {
        let kind = FindingKind::LossBySize {
            direction: None,
            small,
            large,
            per_bit: None,
        };
        let evidence = Vec::new();
        result.report.findings = vec![Finding { kind, evidence }];
    }
    result
}

#[test]
fn loss_of_large_packets_is_a_change_and_its_end_is_one_when_it_is_certain() {
    let mut path = path();
    let mut change = |lost: u32| {
        let seen = path.sizes(&lossy(lost).report);
        path.looks_changed(seen) && path.investigated(seen, lossy(lost)).is_some()
    };
    assert!(!change(0));
    assert!(change(10));
    // A few of them do not prove it by themselves, and it may be the same loss.
    assert!(!change(3));
    assert!(!change(12));
    assert!(change(0));
    assert!(!change(3));
}

#[test]
fn a_path_that_stops_to_answer_and_answers_again_has_changed_twice() {
    let mut path = path();
    assert!(path.looks_changed(Sizes::NONE));
    let mut silent = result(9000);
    silent.report.forward.mtu = None;
    silent.report.protocols.clear();
    assert!(path.investigated(Sizes::NONE, silent).is_some());
    assert!(!path.looks_changed(Sizes::NONE));
    assert_eq!(look(&mut path, 9000, 9000), None, "there was no size");
    assert_eq!(path.changes, 2);
}

#[test]
fn a_change_that_an_investigation_misses_at_first_is_found_at_the_next_look() {
    let mut path = path();
    // The path has its old size for a moment.
    assert_eq!(look(&mut path, 1500, 9000), None);
    assert_eq!(look(&mut path, 1500, 1500), Some(9000));
}

#[test]
fn a_short_look_that_always_sees_less_leads_to_two_investigations() {
    let mut path = path();
    for _ in 0..2 {
        assert!(path.looks_changed(seen(8000)));
        assert_eq!(path.investigated(seen(8000), result(9000)), None);
    }
    assert!(!path.looks_changed(seen(8000)));
    assert!(path.looks_changed(seen(1500)));
    assert_eq!(path.changes, 0);
}

#[test]
fn a_failure_is_told_once_and_is_a_change_as_is_its_end() {
    let mut path = path();
    assert!(path.looks_changed(Sizes::NONE));
    assert!(path.is_new_failure(Sizes::NONE));
    assert_eq!(path.failed(), Some(result(9000)));
    assert_eq!(path.latest.report.verdict, Verdict::Unclear);
    assert_eq!(Sizes::of(&path.latest.report), Sizes::NONE);
    assert!(!path.looks_changed(Sizes::NONE), "as it was");
    assert_eq!(look(&mut path, 9000, 9000), None, "there was no size");
    assert_eq!((path.changes, &path.latest), (2, &result(9000)));
    assert!(path.looks_changed(Sizes::NONE));
    assert!(path.is_new_failure(Sizes::NONE), "it failed again");
    assert_eq!(path.failed(), Some(result(9000)));
}

#[test]
fn an_investigation_that_fails_although_looks_succeed_is_one_change() {
    let mut path = path();
    for is_new in [true, false, false] {
        assert!(path.looks_changed(seen(1500)));
        assert_eq!(path.is_new_failure(seen(1500)), is_new);
        assert_eq!(path.failed().is_some(), is_new);
    }
    assert_eq!(path.changes, 1);
}
