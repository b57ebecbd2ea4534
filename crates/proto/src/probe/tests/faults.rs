//! Each fault of a path is found, with the size and the hop.

use units::{Bytes, Span, Time};

use super::path::{
    FAR_END, Narrow, Path, Told, Which, World, drive, investigate, router, settings,
};
use crate::probe::{
    Answer, AnswerKind, Device, FindingKind, Hop, Limit, NotSeen, PathReport, Probe, Reflector,
    Remedy, Settings, TcpProbes, Verdict,
};
use crate::{Direction, Protocol};

fn report(path: &Path) -> PathReport {
    investigate(path, settings(), 1)
}

fn mtu(octets: u64) -> Option<Bytes> {
    Some(Bytes::new(octets))
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
fn a_clean_path_is_clean_in_both_directions_within_a_quarter_of_a_second() {
    let report = report(&Path::clean());
    assert_eq!(report.verdict, Verdict::Clean, "{report:#?}");
    assert_eq!(
        (report.forward.mtu, report.backward.mtu),
        (mtu(9000), mtu(9000))
    );
    assert_eq!(
        (report.forward.limit, report.backward.limit),
        (Limit::Asked, Limit::Asked)
    );
    assert!(report.findings.is_empty(), "{:?}", report.findings);
    assert!(report.took <= Span::from_millis(250), "{}", report.took);
    let hops: Vec<_> = report.hops.iter().map(|hop| hop.address).collect();
    let all = [router(1), router(2), router(3), FAR_END].map(Some);
    assert_eq!(hops, all);
}

#[test]
fn a_router_that_says_1500_is_named() {
    let report = report(&Path::with(Narrow::told(2, 1500)));
    assert_eq!(
        (report.verdict, report.forward.mtu),
        (Verdict::Problem, mtu(1500))
    );
    assert_eq!(report.forward.limit, Limit::Refused);
    let refused = FindingKind::Refused {
        mtu: Bytes::new(1500),
        router: router(2),
        hop: Some(2),
    };
    assert_eq!(kinds(&report), [&refused]);
    assert!(!report.findings[0].evidence.is_empty());
    let advice = report.advice[0];
    assert_eq!(advice.device, Device::Router(router(2)));
    assert_eq!(advice.remedy, Remedy::Mtu(Bytes::new(9000)));
}

#[test]
fn routers_of_two_sizes_are_both_named_the_smaller_size_first() {
    let path = Path {
        narrow: vec![Narrow::told(1, 4000), Narrow::told(3, 1500)],
        ..Path::clean()
    };
    let report = report(&path);
    let named = report.findings.iter().filter_map(|one| match one.kind {
        FindingKind::Refused { mtu, hop, .. } => Some((mtu.get(), hop)),
        _ => None,
    });
    assert_eq!(
        named.collect::<Vec<_>>(),
        [(1500, Some(3)), (4000, Some(1))]
    );
}

#[test]
fn a_black_hole_is_behind_its_router() {
    for link in 1..=3 {
        let report = report(&Path::with(Narrow::silent(link, 1500)));
        assert_eq!(
            (report.verdict, report.forward.mtu),
            (Verdict::Problem, mtu(1500))
        );
        assert_eq!(report.forward.limit, Limit::Vanish);
        let FindingKind::BlackHole {
            direction,
            from,
            place,
        } = first(&report)
        else {
            panic!("{link}: {report:#?}")
        };
        assert_eq!(from.get(), 1501);
        assert_eq!(address(place.behind), Some(router(link)), "{report:#?}");
        let before = (link < 3).then(|| router(link + 1));
        assert_eq!(address(place.before), before);
        assert_eq!(
            *direction == Some(Direction::Forward),
            link < 3,
            "{link}: {direction:?}"
        );
    }
}

#[test]
fn a_mismatch_on_the_first_link_is_told_apart() {
    for routers in [0, 3] {
        let path = Path {
            routers,
            ..Path::with(Narrow::silent(0, 1500))
        };
        let report = report(&path);
        let FindingKind::FirstLink { from, first } = first(&report) else {
            panic!("{report:#?}")
        };
        assert_eq!((from.get(), first.number), (1501, 1));
    }
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
fn what_the_own_system_refuses_to_send_limits_the_search() {
    let mut world = World::new(&Path::clean(), 1);
    let report = drive(settings(), 1, &mut |probe: &Probe, now: Time| {
        let mtu = Bytes::new(1500);
        if probe.size > mtu {
            let kind = AnswerKind::LocallyTooBig { mtu };
            let (id, from) = (probe.id, router(0));
            return vec![(now, Answer { id, from, kind })];
        }
        world.carry(probe, now).into_iter().collect()
    });
    assert_eq!(report.forward.mtu, mtu(1500));
    assert_eq!(report.forward.limit, Limit::Interface);
    let interface = FindingKind::Interface {
        mtu: Bytes::new(1500),
    };
    assert_eq!(kinds(&report), [&interface]);
}

#[test]
fn a_router_that_announces_too_little_does_not_lower_the_result() {
    let narrow = Narrow {
        told: Told::Announces(1400),
        ..Narrow::told(2, 1500)
    };
    let report = report(&Path::with(narrow));
    assert_eq!(report.forward.mtu, mtu(1500));
    assert!(
        kinds(&report).contains(&&FindingKind::AnnouncedTooSmall {
            router: router(2),
            announced: Bytes::new(1400),
            passes: Bytes::new(1500),
        }),
        "{report:#?}"
    );
}

#[test]
fn a_router_that_announces_too_much_is_named() {
    for announced in [1600, 4000, 9000, 60_000] {
        let narrow = Narrow {
            told: Told::Announces(announced),
            ..Narrow::told(2, 1500)
        };
        let report = report(&Path::with(narrow));
        assert_eq!(report.forward.mtu, mtu(1500));
        let named = kinds(&report).iter().any(|kind| {
            matches!(kind,
            FindingKind::AnnouncedTooLarge { router: by, fails_from, .. }
                if *by == router(2) && fails_from.get() == 1501)
        });
        assert!(named, "{announced}: {report:#?}");
    }
}

#[test]
fn messages_that_come_only_now_and_then_are_noticed() {
    for burst in [1, 3, 6] {
        let narrow = Narrow {
            told: Told::Limited(burst),
            ..Narrow::told(2, 1500)
        };
        let report = report(&Path::with(narrow));
        assert_eq!(report.forward.mtu, mtu(1500));
        let named = kinds(&report).iter().any(|kind| {
            matches!(kind, FindingKind::AnswersLimited { router: by, .. } if *by == router(2))
        });
        assert!(named, "{burst}: {report:#?}");
    }
}

#[test]
fn a_backward_hole_is_told_from_a_forward_one() {
    for link in 0..=3 {
        let narrow = Narrow {
            direction: Some(Direction::Backward),
            ..Narrow::silent(link, 1500)
        };
        let report = report(&Path::with(narrow));
        assert_eq!(report.forward.mtu, mtu(9000), "{report:#?}");
        assert_eq!(
            (report.backward.mtu, report.backward.limit),
            (mtu(1500), Limit::Vanish)
        );
        let place = match first(&report) {
            FindingKind::BlackHole {
                direction: Some(Direction::Backward),
                place,
                ..
            } => *place,
            FindingKind::FirstLink { .. } if link == 0 => continue,
            other => panic!("{link}: {other:?}"),
        };
        assert_eq!(address(place.behind), Some(router(link)), "{link}");
    }
}

#[test]
fn a_reflector_tells_the_directions_apart() {
    let settings = Settings {
        reflector: Reflector::ShortReplies,
        ..settings()
    };
    for direction in Direction::BOTH {
        let narrow = Narrow {
            direction: Some(direction),
            ..Narrow::silent(2, 1500)
        };
        let path = Path {
            reflects: true,
            ..Path::with(narrow)
        };
        let report = investigate(&path, settings.clone(), 1);
        let is_backward = direction == Direction::Backward;
        assert_eq!(
            report.forward.mtu,
            mtu(if is_backward { 9000 } else { 1500 })
        );
        assert_eq!(report.backward.mtu, mtu(1500));
        let FindingKind::BlackHole {
            direction: found,
            place,
            ..
        } = first(&report)
        else {
            panic!("{report:#?}")
        };
        assert_eq!(*found, Some(direction));
        assert_eq!(address(place.behind), Some(router(2)));
    }
}

#[test]
fn a_hole_for_one_protocol_is_named_with_its_place() {
    for protocol in [Protocol::Icmp, Protocol::Udp, Protocol::Tcp] {
        let narrow = Narrow {
            which: Which::Of(protocol),
            ..Narrow::silent(1, 1500)
        };
        let report = report(&Path::with(narrow));
        assert_eq!(report.verdict, Verdict::Problem);
        let FindingKind::OneProtocol {
            protocol: named,
            from,
            others,
            place,
        } = first(&report)
        else {
            panic!("{protocol:?}: {report:#?}")
        };
        assert_eq!((*named, from.get(), others.get()), (protocol, 1501, 9000));
        assert_eq!(address(place.unwrap().behind), Some(router(1)));
    }
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
fn a_small_branch_is_found_by_its_flows() {
    // The first flow is in the branch of the others, or in the small one.
    for rest in [0, 1] {
        for told in [Told::Silent, Told::Announces(1500)] {
            let narrow = Narrow {
                which: Which::Flows(rest),
                told,
                ..Narrow::silent(1, 1500)
            };
            let report = report(&Path::with(narrow));
            assert_eq!(
                (report.verdict, report.forward.mtu),
                (Verdict::Problem, mtu(1500))
            );
            let FindingKind::Branches {
                flows,
                of,
                small,
                large,
                place,
            } = first(&report)
            else {
                panic!("{rest}: {report:#?}")
            };
            assert_eq!((*of, small.get(), large.get()), (16, 1500, 9000));
            let expected: Vec<u16> = (0..16).filter(|flow| flow % 3 == rest).collect();
            assert_eq!(*flows, expected);
            assert_eq!(address(place.unwrap().behind), Some(router(1)));
        }
    }
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
        assert_eq!(report(&clean).verdict, Verdict::Clean, "{one_way:?}");
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
                FindingKind::Refused { hop, .. } => assert_eq!(*hop, Some(1)),
                other => panic!("{one_way:?}: {other:?}"),
            }
        }
    }
}

#[test]
fn silent_routers_leave_a_range_of_hops() {
    let path = Path {
        silent: [2].into(),
        ..Path::with(Narrow::silent(2, 1500))
    };
    let report = report(&path);
    let FindingKind::BlackHole { place, .. } = first(&report) else {
        panic!("{report:#?}")
    };
    assert_eq!(address(place.behind), Some(router(1)));
    assert_eq!(address(place.before), Some(router(3)));
    assert_eq!(report.hops[1].address, None);
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
        NotSeen::Backward,
    ] {
        assert!(report.not_seen.contains(&what), "{what:?}");
    }
}
