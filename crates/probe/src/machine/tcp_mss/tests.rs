//! Tests against a server in virtual time.

mod properties;
mod server;
mod unstated;

use units::{Bytes, Span};

use super::{MOST_CONNECTIONS, TcpTest};
use crate::machine::{Direction, FindingKind, Limit, NotSeen, PathReport, Verdict};
use server::{Server, settings};

/// The first sizes that vanish, by direction.
fn holes(report: &PathReport) -> [Option<u64>; 2] {
    Direction::BOTH.map(|direction| {
        let mut findings = report.findings.iter();
        findings.find_map(|finding| match finding.kind {
            FindingKind::BlackHole {
                direction: Some(way),
                from,
                ..
            } if way == direction => Some(from.get()),
            _ => None,
        })
    })
}

fn test(server: Server) -> (PathReport, TcpTest) {
    server.tested(settings(), 1)
}

fn mtu(size: u64) -> Option<Bytes> {
    Some(Bytes::new(size))
}

#[test]
fn a_clean_path_takes_three_connections_and_little_time() {
    let (report, test) = test(Server::default());
    assert_eq!(report.verdict, Verdict::Clean);
    assert_eq!([report.forward.mtu, report.reverse.mtu], [mtu(1500); 2]);
    assert_eq!(report.protocols[0].mss, Some(1460));
    assert!(report.findings.is_empty() && report.not_seen.is_empty());
    assert!(test.connections() <= 3, "{}", test.connections());
    assert!(report.took < Span::from_millis(600), "{}", report.took);
}

#[test]
fn a_hole_on_the_forward_path_is_exact() {
    for limit in [900, 1280, 1357, 1443, 1492, 1499] {
        let (report, test) = test(Server {
            forward: limit,
            ..Server::default()
        });
        assert_eq!(holes(&report), [Some(limit + 1), None], "{report:?}");
        assert_eq!(report.forward.mtu, mtu(limit));
        assert_eq!(
            [report.forward.limit, report.reverse.limit],
            [Limit::Vanish, Limit::Asked]
        );
        assert_eq!(report.verdict, Verdict::Problem);
        let seen = FindingKind::MssTooLarge {
            seen: 1460,
            expected: u16::try_from(limit - 40).unwrap(),
        };
        assert!(report.findings.iter().any(|finding| finding.kind == seen));
        assert!(report.not_seen.is_empty());
        assert!(test.connections() <= 8, "{}", test.connections());
        assert!(report.took < Span::from_secs(3), "{}", report.took);
    }
}

#[test]
fn a_hole_on_the_reverse_path_is_exact() {
    for limit in [900, 1280, 1357, 1443, 1492, 1499] {
        let (report, _) = test(Server {
            reverse: limit,
            ..Server::default()
        });
        assert_eq!(holes(&report), [None, Some(limit + 1)], "{report:?}");
        assert_eq!(report.reverse.mtu, mtu(limit));
        assert_eq!(
            [report.forward.limit, report.reverse.limit],
            [Limit::Asked, Limit::Vanish]
        );
        assert!(report.not_seen.is_empty());
        assert!(report.took < Span::from_millis(4_500), "{}", report.took);
    }
}

#[test]
fn holes_in_both_directions_are_exact_if_they_are_the_same() {
    for limit in [1000, 1357, 1438, 1492] {
        let (report, test) = test(Server {
            forward: limit,
            reverse: limit,
            ..Server::default()
        });
        assert_eq!(holes(&report), [Some(limit + 1); 2]);
        assert!(report.not_seen.is_empty());
        assert!(test.connections() < MOST_CONNECTIONS);
    }
}

#[test]
fn different_holes_are_found_and_a_size_that_is_not_exact_is_named_so() {
    let (report, _) = test(Server {
        forward: 1357,
        reverse: 1111,
        ..Server::default()
    });
    let [forward, reverse] = holes(&report);
    assert_eq!(forward, Some(1358));
    let passes = report.reverse.mtu.unwrap().get();
    assert!(
        passes <= 1111 && reverse > Some(1111),
        "{passes} {reverse:?}"
    );
    let is_exact = reverse == Some(passes + 1);
    assert_eq!(is_exact, !report.not_seen.contains(&NotSeen::ExactSize));
}

#[test]
fn a_server_of_one_connection_at_a_time_is_judged_as_others_are() {
    for limit in [900, 1443] {
        let (report, _) = test(Server {
            reverse: limit,
            is_sequential: true,
            ..Server::default()
        });
        assert_eq!(holes(&report), [None, Some(limit + 1)]);
    }
    let (report, _) = test(Server {
        is_sequential: true,
        ..Server::default()
    });
    assert_eq!(report.verdict, Verdict::Clean);
}

#[test]
fn a_server_that_rejects_the_beginning_of_a_request_is_tried_with_single_segments() {
    for limit in [1357, 1443] {
        let (report, _) = test(Server {
            forward: limit,
            is_impatient: true,
            ..Server::default()
        });
        assert_eq!(holes(&report), [Some(limit + 1), None], "{report:?}");
    }
    let (report, _) = test(Server {
        is_impatient: true,
        ..Server::default()
    });
    assert_eq!(report.verdict, Verdict::Clean);
}

#[test]
fn a_small_mss_is_a_finding_and_no_problem() {
    let (report, _) = test(Server {
        mss: 1360,
        sends: 1360,
        ..Server::default()
    });
    assert_eq!(report.verdict, Verdict::Clean);
    assert_eq!(report.asked, Bytes::new(1400));
    let kinds: Vec<&FindingKind> = report
        .findings
        .iter()
        .map(|finding| &finding.kind)
        .collect();
    let [
        FindingKind::SmallMss {
            direction: Direction::Forward,
            seen: 1360,
            expected: 1460,
        },
    ] = kinds[..]
    else {
        panic!("{kinds:?}");
    };
}

#[test]
fn an_mss_that_is_lowered_one_way_is_told() {
    // The far end's SYN/ACK passes a device that lowers its MSS.
    let (report, _) = test(Server {
        mss: 1260,
        sends: 1460,
        ..Server::default()
    });
    let clamped = FindingKind::MssClamped {
        seen: 1260,
        expected: 1460,
    };
    assert_eq!(report.findings[0].kind, clamped);
    assert_eq!(report.verdict, Verdict::Problem);
    // The own SYN does.
    let (report, _) = test(Server {
        sends: 1260,
        ..Server::default()
    });
    assert_eq!(report.reverse.limit, Limit::Asked);
    let small = FindingKind::SmallMss {
        direction: Direction::Reverse,
        seen: 1260,
        expected: 1460,
    };
    assert_eq!(report.findings[0].kind, small);
}

#[test]
fn a_path_mtu_that_the_kernel_learns_is_a_finding() {
    let (report, _) = test(Server {
        learns: Some(1400),
        ..Server::default()
    });
    assert_eq!(
        (report.forward.mtu, report.forward.limit),
        (mtu(1400), Limit::Rejected)
    );
    let known = FindingKind::KnownMtu {
        mtu: Bytes::new(1400),
    };
    assert!(report.findings.iter().any(|finding| finding.kind == known));
    assert_eq!(report.verdict, Verdict::Problem);
}

#[test]
fn a_small_answer_is_asked_for_several_times_and_otherwise_leaves_the_reverse_path_open() {
    let small = Server {
        answer: 300,
        reverse: 1420,
        ..Server::default()
    };
    let (report, _) = test(small.clone());
    assert_eq!(holes(&report), [None, Some(1421)]);
    let once = super::TcpSettings {
        repeats: false,
        ..settings()
    };
    let (report, _) = small.tested(once, 1);
    assert_eq!(report.verdict, Verdict::Unclear);
    assert_eq!(report.not_seen, [NotSeen::LargeAnswers]);
    assert_eq!(report.reverse.mtu, mtu(352));
}

#[test]
fn a_size_that_was_asked_for_is_the_one_that_counts() {
    let asked = |size| super::TcpSettings {
        asked: Some(Bytes::new(size)),
        ..settings()
    };
    let narrow = Server {
        forward: 1400,
        reverse: 1400,
        ..Server::default()
    };
    let (report, _) = narrow.tested(asked(1400), 1);
    assert_eq!(report.verdict, Verdict::Clean);
    let (report, _) = narrow.tested(asked(1401), 1);
    assert_eq!(holes(&report), [Some(1401); 2]);
    let (report, _) = Server::default().tested(asked(9000), 1);
    assert_eq!(report.forward.limit, Limit::Interface);
    assert_eq!(report.verdict, Verdict::Problem);
}

#[test]
fn a_port_that_is_closed_and_one_that_is_silent_are_told_apart() {
    let (report, test) = test(Server {
        is_closed: true,
        ..Server::default()
    });
    assert_eq!(report.findings[0].kind, FindingKind::ClosedPort);
    assert_eq!((report.verdict, test.connections()), (Verdict::Unclear, 1));
    let (report, test) = Server {
        rtt: Span::from_secs(1000),
        ..Server::default()
    }
    .tested(settings(), 1);
    assert_eq!(report.findings[0].kind, FindingKind::NoAnswer);
    assert_eq!((report.verdict, test.connections()), (Verdict::Unclear, 1));
}
