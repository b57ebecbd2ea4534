//! Large packets vanish: where, in which direction, and of which protocol or flow.

use super::*;

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
fn a_reverse_hole_is_told_from_a_forward_one() {
    for link in 0..=3 {
        let narrow = Narrow {
            direction: Some(Direction::Reverse),
            ..Narrow::silent(link, 1500)
        };
        let report = report(&Path::with(narrow));
        assert_eq!(report.forward.mtu, mtu(9000), "{report:#?}");
        // Replies of the far end alone are lost on the last link: a filter of large echoes
        // there looks the same.
        let limit = match link {
            3 => Limit::NotSeen,
            _ => Limit::Vanish,
        };
        assert_eq!(
            (report.reverse.mtu, report.reverse.limit),
            (mtu(1500), limit)
        );
        let place = match first(&report) {
            FindingKind::BlackHole {
                direction: Some(Direction::Reverse),
                place,
                ..
            } => *place,
            FindingKind::FirstLink { .. } if link == 0 => continue,
            FindingKind::OneProtocol {
                protocol: Protocol::Icmp,
                ..
            } if link == 3 => {
                // Nothing is to be made smaller.
                assert_eq!(report.advised_mtu(), None);
                continue;
            }
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
        let is_reverse = direction == Direction::Reverse;
        assert_eq!(
            report.forward.mtu,
            mtu(if is_reverse { 9000 } else { 1500 })
        );
        assert_eq!(report.reverse.mtu, mtu(1500));
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
fn echo_requests_stand_for_datagrams_where_only_they_show_a_router() {
    let path = Path {
        reflects: true,
        ..Path::with(Narrow::silent(2, 1500))
    };
    for (hop_probes, behind) in [(HopProbes::Echo, Some(router(2))), (HopProbes::None, None)] {
        let settings = Settings {
            reflector: Reflector::ShortReplies,
            hop_probes,
            ..settings()
        };
        let mut backend = Backend::new(&path, 1);
        let mut answer = |probe: &Probe, now: Time| {
            if probe.hop_limit.is_some() {
                assert_eq!(hop_probes, HopProbes::Echo);
                assert_eq!(probe.protocol, Protocol::Icmp);
            }
            backend.carry(probe, now).into_iter().collect()
        };
        let report = drive(settings, 1, &mut answer);
        assert_eq!(report.forward.mtu, mtu(1500));
        let FindingKind::BlackHole { place, .. } = first(&report) else {
            panic!("{report:#?}")
        };
        assert_eq!(address(place.behind), behind);
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
fn a_filter_of_large_echoes_is_no_limit_of_the_path() {
    // The report's filter above 1000 bytes, and others; at the far end, and on the way.
    for (link, from, path_mtu) in [(3, 1001, 1500), (3, 4001, 9000), (1, 1473, 8000)] {
        let mut path = Path::with(Narrow::silent(0, path_mtu));
        path.narrow.push(Narrow {
            which: Which::Of(Protocol::Icmp),
            ..Narrow::silent(link, from - 1)
        });
        let settings = Settings {
            asked: Bytes::new(path_mtu),
            ..settings()
        };
        let report = investigate(&path, settings, 1);
        assert_eq!(report.forward.mtu, mtu(path_mtu), "{report:#?}");
        assert_eq!(report.reverse.limit, Limit::NotSeen, "{report:#?}");
        let [
            FindingKind::OneProtocol {
                protocol: Protocol::Icmp,
                from: first,
                others,
                ..
            },
        ] = kinds(&report)[..]
        else {
            panic!("{report:#?}")
        };
        assert_eq!((first.get(), others.get()), (from, path_mtu));
        assert_eq!(report.advised_mtu(), None);
    }
}
