//! Each fault of a path is found, with the size and the hop.

mod advice;
mod holes;
mod messages;
mod sizes;

use units::{Bytes, Span, Time};

use super::path::{
    Backend, FAR_END, Narrow, Path, Told, Which, drive, investigate, router, settings,
};
use crate::machine::{
    Answer, AnswerKind, Device, FindingKind, Hop, HopProbes, Limit, NotSeen, PathReport, Probe,
    Reflector, Remedy, Settings, TcpProbes, Verdict,
};
use link::{Direction, Protocol};

fn report(path: &Path) -> PathReport {
    investigate(path, settings(), 1)
}

fn mtu(bytes: u64) -> Option<Bytes> {
    Some(Bytes::new(bytes))
}

#[track_caller]
fn kinds(report: &PathReport) -> Vec<&FindingKind> {
    report.findings.iter().map(|one| &one.kind).collect()
}

fn address(hop: Option<Hop>) -> Option<core::net::IpAddr> {
    hop.and_then(|hop| hop.address)
}

#[track_caller]
fn first(report: &PathReport) -> &FindingKind {
    &report
        .findings
        .first()
        .unwrap_or_else(|| panic!("{report:#?}"))
        .kind
}

#[test]
fn a_clean_path_is_clean_in_both_directions_within_one_and_a_half_seconds() {
    let report = report(&Path::clean());
    assert_eq!(report.verdict, Verdict::Clean, "{report:#?}");
    assert_eq!(
        (report.forward.mtu, report.reverse.mtu),
        (mtu(9000), mtu(9000))
    );
    assert_eq!(
        (report.forward.limit, report.reverse.limit),
        (Limit::Asked, Limit::Asked)
    );
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(report.took <= Span::from_millis(1_500), "{}", report.took);
    let hops: Vec<_> = report.hops.iter().map(|hop| hop.address).collect();
    let all = [router(1), router(2), router(3), FAR_END].map(Some);
    assert_eq!(hops, all);
}

#[test]
fn the_own_interface_is_no_fault_of_the_path() {
    let settings = Settings {
        interface_mtu: mtu(1500),
        ..settings()
    };
    let report = investigate(&Path::clean(), settings, 1);
    assert_eq!(
        (report.verdict, report.forward.mtu),
        (Verdict::Problem, mtu(1500))
    );
    let interface = FindingKind::Interface {
        mtu: Bytes::new(1500),
    };
    assert_eq!(kinds(&report), [&interface]);
}

#[test]
fn what_the_own_system_rejects_to_send_limits_the_search() {
    let mut backend = Backend::new(&Path::clean(), 1);
    let report = drive(settings(), 1, &mut |probe: &Probe, now: Time| {
        let mtu = Bytes::new(1500);
        if probe.size > mtu {
            let kind = AnswerKind::LocallyTooBig { mtu };
            let (id, from) = (probe.id, router(0));
            return vec![(now, Answer { id, from, kind })];
        }
        backend.carry(probe, now).into_iter().collect()
    });
    assert_eq!(report.forward.mtu, mtu(1500));
    assert_eq!(report.forward.limit, Limit::Interface);
    let interface = FindingKind::Interface {
        mtu: Bytes::new(1500),
    };
    assert_eq!(kinds(&report), [&interface]);
}

#[test]
fn a_clamped_mss_is_compared_with_what_the_path_allows() {
    for (mss, is_clamped) in [(8960, false), (1460, true), (1400, true)] {
        let path = Path {
            mss: Some(mss),
            ..Path::clean()
        };
        let report = report(&path);
        let clamped = FindingKind::MssClamped {
            seen: mss,
            expected: 8960,
        };
        assert_eq!(
            kinds(&report).contains(&&clamped),
            is_clamped,
            "{report:#?}"
        );
        assert_eq!(report.verdict == Verdict::Problem, is_clamped);
    }
}

#[test]
fn dropped_fragments_are_a_problem_of_their_own() {
    let path = Path {
        drops_fragments: true,
        ..Path::clean()
    };
    let report = report(&path);
    assert_eq!(
        (report.verdict, report.forward.mtu),
        (Verdict::Problem, mtu(9000))
    );
    assert_eq!(kinds(&report), [&FindingKind::FragmentsDropped]);
}

#[test]
fn the_size_of_a_tunnel_is_explained() {
    for (size, name) in [
        (1420, "WireGuard"),
        (1450, "VXLAN over IPv4"),
        (8950, "VXLAN over IPv4"),
    ] {
        let report = report(&Path::with(Narrow::silent(2, size)));
        let named = kinds(&report).iter().any(|kind| {
            matches!(kind, FindingKind::Tunnel(tunnel) if tunnel.names.iter().any(|one| one == name))
        });
        assert!(named, "{report:#?}");
        assert_eq!(report.forward.mtu, mtu(size));
    }
}

#[test]
fn a_path_that_shrinks_while_it_is_probed_is_probed_again() {
    let later = Narrow {
        during: (70, u64::MAX),
        ..Narrow::silent(2, 1500)
    };
    let report = report(&Path::with(later));
    assert_eq!(report.forward.mtu, mtu(1500), "{report:#?}");
    assert!(
        kinds(&report).contains(&&FindingKind::MtuChanged {
            before: Bytes::new(9000),
            after: Bytes::new(1500),
        }),
        "{report:#?}"
    );
}

#[test]
fn a_path_that_grows_while_it_is_probed_is_probed_again() {
    let earlier = Narrow {
        during: (0, 500),
        ..Narrow::silent(2, 1500)
    };
    let report = report(&Path::with(earlier));
    assert_eq!(
        (report.verdict, report.forward.mtu),
        (Verdict::Clean, mtu(9000)),
        "{report:#?}"
    );
    assert!(
        kinds(&report).contains(&&FindingKind::MtuChanged {
            before: Bytes::new(1500),
            after: Bytes::new(9000),
        }),
        "{report:#?}"
    );
}

#[test]
fn a_far_end_that_does_not_answer_is_no_verdict() {
    let path = Path {
        answers: Vec::new(),
        ..Path::clean()
    };
    let report = report(&path);
    assert_eq!(
        (report.verdict, report.forward.mtu),
        (Verdict::Unclear, None)
    );
    assert_eq!(kinds(&report), [&FindingKind::NoAnswer]);
    // The routers answered all the same.
    assert_eq!(report.hops.len(), 3);
}

#[test]
fn one_protocol_is_enough() {
    for protocol in [Protocol::Icmp, Protocol::Udp, Protocol::Tcp] {
        for narrow in [vec![], vec![Narrow::silent(1, 1500)]] {
            let is_clean = narrow.is_empty();
            let path = Path {
                answers: vec![protocol],
                narrow,
                ..Path::clean()
            };
            let report = report(&path);
            // Answers to the other two are small: they do not show the way back.
            let verdict = match (is_clean, protocol) {
                (true, Protocol::Icmp) => Verdict::Clean,
                (true, _) => Verdict::Unclear,
                (false, _) => Verdict::Problem,
            };
            assert_eq!(report.verdict, verdict, "{protocol:?}: {report:#?}");
            let size = if is_clean { 9000 } else { 1500 };
            assert_eq!(report.forward.mtu, mtu(size), "{protocol:?}");
            if let FindingKind::BlackHole { place, .. } = first_or(&report) {
                assert_eq!(address(place.behind), Some(router(1)));
            }
        }
    }
}

fn first_or(report: &PathReport) -> FindingKind {
    let first = report.findings.first();
    first.map_or(FindingKind::NoAnswer, |one| one.kind.clone())
}

#[test]
fn round_trips_may_be_short_or_long() {
    for one_way in [50, 1_000, 150_000, 450_000].map(Span::from_micros) {
        let clean = Path {
            one_way,
            ..Path::clean()
        };
        let clean = report(&clean);
        assert_eq!(clean.verdict, Verdict::Clean, "{one_way:?} {clean:#?}");
        for narrow in [Narrow::silent(1, 1500), Narrow::told(1, 1500)] {
            let path = Path {
                one_way,
                ..Path::with(narrow)
            };
            let report = report(&path);
            assert_eq!(report.forward.mtu, mtu(1500), "{one_way:?}");
            match first(&report) {
                FindingKind::BlackHole { place, .. } => {
                    assert_eq!(address(place.behind), Some(router(1)), "{one_way:?}");
                }
                FindingKind::Rejected { hop, .. } => assert_eq!(*hop, Some(1)),
                other => panic!("{one_way:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn without_rights_it_says_what_was_not_seen() {
    let settings = Settings {
        can_echo: false,
        tcp: TcpProbes::Connect,
        can_fragment: false,
        ..settings()
    };
    let report = investigate(&Path::clean(), settings, 1);
    assert_eq!(
        (report.verdict, report.forward.mtu),
        (Verdict::Unclear, mtu(9000)),
        "{report:#?}"
    );
    for what in [
        NotSeen::Echo,
        NotSeen::TcpSizes,
        NotSeen::Fragments,
        NotSeen::Reverse,
    ] {
        assert!(report.not_seen.contains(&what), "{what:?}");
    }
}
