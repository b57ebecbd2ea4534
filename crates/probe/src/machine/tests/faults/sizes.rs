//! Ranges of sizes that are lost, and routers that reject all sizes.

use super::*;

/// A link that loses packets of these sizes.
fn range(link: u8, from: u64, to: u64) -> Narrow {
    Narrow {
        up_to: to,
        ..Narrow::silent(link, from - 1)
    }
}

/// The ranges that a report names, with their direction and protocol.
fn ranges(report: &PathReport) -> Vec<(u64, u64, Option<Direction>, Option<Protocol>)> {
    let kinds = kinds(report).into_iter();
    let ranges = kinds.filter_map(|kind| match *kind {
        FindingKind::LostRange {
            from,
            to,
            direction,
            protocol,
            ..
        } => Some((from.get(), to.get(), direction, protocol)),
        _ => None,
    });
    ranges.collect()
}

const RANGES: [(u64, u64); 6] = [
    (1401, 1500),
    (2000, 4100),
    (1373, 1472),
    (1473, 1475),
    (101, 700),
    (8000, 8999),
];

#[test]
fn a_range_of_sizes_that_is_lost_is_named_with_its_place() {
    for (from, to) in RANGES {
        for link in 0..=3 {
            let report = report(&Path::with(range(link, from, to)));
            assert_eq!(
                (report.verdict, report.forward.mtu),
                (Verdict::Problem, mtu(9000)),
                "{report:#?}"
            );
            let expected = (from, to, Some(Direction::Forward), None);
            assert_eq!(ranges(&report), [expected], "{report:#?}");
            let FindingKind::LostRange { place, .. } = first(&report) else {
                panic!("{report:#?}")
            };
            let behind = place.and_then(|place| address(place.behind));
            assert_eq!(behind, (link > 0).then(|| router(link)), "{report:#?}");
            // A smaller MTU avoids all sizes of the range.
            assert_eq!(report.advised_mtu(), mtu(from - 1));
        }
    }
}

#[test]
fn a_range_of_the_reverse_path_is_told_by_a_reflector_and_else_left_open() {
    for (from, to) in RANGES {
        let path = Path {
            reflects: true,
            ..Path::with(Narrow {
                direction: Some(Direction::Reverse),
                ..range(2, from, to)
            })
        };
        let settings = Settings {
            reflector: Reflector::ShortReplies,
            ..settings()
        };
        let told = investigate(&path, settings, 1);
        let expected = (from, to, Some(Direction::Reverse), None);
        assert_eq!(ranges(&told), [expected], "{told:#?}");
        let FindingKind::LostRange { place, .. } = first(&told) else {
            panic!("{told:#?}")
        };
        assert_eq!(address(place.unwrap().behind), Some(router(2)));
        assert_eq!(told.advised_mtu(), None);
        // Without a reflector, it may as well be a filter of echoes.
        let path = Path {
            reflects: false,
            ..path
        };
        let expected = (from, to, None, Some(Protocol::Icmp));
        assert_eq!(ranges(&report(&path)), [expected]);
    }
}

#[test]
fn a_search_that_ends_at_a_range_goes_on_behind_it() {
    for (from, to, limit) in [
        (1373, 1472, 1500),
        (1401, 1500, 2047),
        (1450, 3000, 4200),
        (4000, 8000, 8999),
    ] {
        let mut path = Path::with(Narrow::silent(2, limit));
        path.narrow.push(range(1, from, to));
        let report = report(&path);
        assert_eq!(report.forward.mtu, mtu(limit), "{report:#?}");
        let expected = (from, to, Some(Direction::Forward), None);
        assert_eq!(ranges(&report), [expected], "{report:#?}");
        let FindingKind::BlackHole { from: fails, .. } = first(&report) else {
            panic!("{report:#?}")
        };
        assert_eq!(fails.get(), limit + 1);
        assert_eq!(report.advised_mtu(), mtu(from - 1));
    }
}

#[test]
fn ranges_are_found_at_a_loss_of_fifteen_per_cent_in_most_investigations() {
    const SEEDS: u64 = 50;
    for (from, to) in [(1401, 1500), (2000, 4100)] {
        let path = Path::with(range(2, from, to)).losing(0.15);
        let found = (0..SEEDS).filter(|&seed| {
            let report = investigate(&path, settings(), seed);
            let found = ranges(&report);
            // A border is wrong if losses of a size that passes are taken for the range.
            assert!(found.len() <= 1, "{seed}: {report:#?}");
            found
                .first()
                .is_some_and(|range| (range.0, range.1) == (from, to))
        });
        let found = found.count();
        assert!(found >= 45, "{from}: {found} of {SEEDS}");
    }
}

#[test]
fn a_router_that_rejects_all_sizes_is_named_within_three_seconds() {
    for (link, announced) in [(2, 9000), (1, 1500), (3, 576)] {
        let narrow = Narrow {
            mtu: 0,
            told: Told::Announces(announced),
            direction: Some(Direction::Forward),
            ..Narrow::silent(link, 0)
        };
        let report = report(&Path::with(narrow));
        assert_eq!(
            (report.verdict, report.forward.mtu),
            (Verdict::Problem, None),
            "{report:#?}"
        );
        let expected = FindingKind::RejectsAll {
            router: router(link),
            hop: Some(link),
            size: Bytes::new(44),
            announced: Bytes::new(announced),
        };
        assert_eq!(kinds(&report), [&expected]);
        assert!(report.is_unanswered());
        assert!(report.took <= Span::from_secs(3), "{}", report.took);
        assert!(report.probes <= 200, "{}", report.probes);
        let advice = &report.advice[0];
        assert_eq!(advice.device, Device::Router(router(link)));
        let mtu = Bytes::new(announced);
        assert_eq!(advice.remedy, Remedy::AcceptPackets(mtu));
    }
}

#[test]
fn a_router_that_rejects_all_sizes_and_forwards_them_is_no_limit() {
    let mut backend = Backend::new(&Path::clean(), 1);
    let report = drive(settings(), 1, &mut |probe: &Probe, now: Time| {
        let kind = AnswerKind::TooBig {
            announced: Bytes::new(9000),
            quoted: probe.size,
        };
        let (id, from) = (probe.id, router(2));
        let message = (now + Span::from_millis(5), Answer { id, from, kind });
        let reply = backend.carry(probe, now);
        reply.into_iter().chain([message]).collect()
    });
    assert_eq!(
        (report.verdict, report.forward.mtu),
        (Verdict::Clean, mtu(9000)),
        "{report:#?}"
    );
}
