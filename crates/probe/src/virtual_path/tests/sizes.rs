//! Ranges of sizes that are lost, IPv6 below its smallest MTU, and routers that reject all
//! sizes, on paths of bytes.

use proptest::prelude::*;

use crate::machine::{
    FindingKind, Limit as Reason, PathReport, Reflector, Settings as Investigated, Verdict,
};

use super::*;

/// The report of an investigation of a path.
pub(super) fn report(path: &ProbePath, seed: u64) -> PathReport {
    let far_end = addresses(path.version, path.links.len())[path.links.len() - 1][1];
    let settings = Investigated {
        reflector: match path.far_end.reflects {
            true => Reflector::ShortReplies,
            false => Reflector::None,
        },
        ..Investigated::new(far_end, Bytes::new(9_000))
    };
    let mut investigation = Investigation::new(settings, Seed::new(seed)).unwrap();
    path.run(&mut investigation).unwrap();
    investigation.report()
}

/// A path whose link of this number has a rule for one direction or for both.
fn with_rule(
    version: IpVersion,
    link: usize,
    direction: Option<Direction>,
    action: Action,
) -> ProbePath {
    let mut path = path(version, 9_000);
    path.links[link].rules = vec![Rule {
        direction,
        ..Rule::always(action)
    }];
    path
}

fn ranges(report: &PathReport) -> Vec<[u64; 2]> {
    let kinds = report.findings.iter().map(|finding| &finding.kind);
    let ranges = kinds.filter_map(|kind| match kind {
        FindingKind::LostRange { from, to, .. } => Some([from.get(), to.get()]),
        _ => None,
    });
    ranges.collect()
}

fn below_ipv6(report: &PathReport) -> Option<(Direction, u64)> {
    let mut kinds = report.findings.iter().map(|finding| &finding.kind);
    kinds.find_map(|kind| match kind {
        FindingKind::BelowIpv6 { direction, mtu } => Some((*direction, mtu.get())),
        _ => None,
    })
}

#[test]
fn a_clean_path_takes_few_packets_and_little_time() {
    for version in VERSIONS {
        for reflects in [false, true] {
            let mut path = path(version, 9_000);
            path.far_end.reflects = reflects;
            let report = report(&path, 1);
            assert_eq!(report.verdict, Verdict::Clean, "{report:#?}");
            assert!(report.probes <= 150, "{version}: {}", report.probes);
            assert!(report.took <= Span::from_secs(3), "{}", report.took);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn a_range_around_a_known_size_is_exact(
        known in prop::sample::select(vec![576_u64, 1380, 1420, 1472, 1492, 1500, 2047, 4095, 8191]),
        below in 0_u64..300, above in 0_u64..300, link in 0_usize..4,
        is_v6: bool, reflects: bool, seed: u64,
    ) {
        let version = VERSIONS[usize::from(is_v6)];
        let [from, to] = [known - below.min(known - 200), known + above];
        // What the search and the probes in fragments begin with passes, and over IPv4 the
        // errors that quote a large packet [RFC1812 s4.3.2.3]: without them UDP has no answer.
        let passing = [600, 1200, 1280, if is_v6 { 600 } else { 576 }];
        prop_assume!(passing.iter().all(|size| !(from..=to).contains(size)));
        let action = Action::DropBetween { from: Bytes::new(from), to: Bytes::new(to) };
        let mut path = with_rule(version, link, None, action);
        path.far_end.reflects = reflects;
        path.seed = Seed::new(seed);
        let report = report(&path, seed);
        prop_assert_eq!(ranges(&report), vec![[from, to]], "{:#?}", report);
        prop_assert_eq!(report.forward.mtu, Some(Bytes::new(9_000)));
        prop_assert_eq!(report.verdict, Verdict::Problem);
    }

    #[test]
    fn ipv6_below_its_smallest_mtu_is_a_verdict_and_ipv4_is_a_smaller_path(
        mtu in 700_u64..1280, link in 0_usize..4, direction in prop::sample::select(vec![None, Some(Direction::Forward)]),
        is_v6: bool, reflects: bool, seed: u64,
    ) {
        let version = VERSIONS[usize::from(is_v6)];
        let mut path = with_rule(version, link, direction, Action::DropAbove(Bytes::new(mtu)));
        path.far_end.reflects = reflects;
        path.seed = Seed::new(seed);
        let report = report(&path, seed);
        prop_assert_eq!(report.verdict, Verdict::Problem);
        prop_assert_eq!(report.forward.mtu, Some(Bytes::new(mtu)), "{:#?}", report);
        prop_assert_eq!(report.forward.limit, Reason::Vanish);
        let expected = is_v6.then_some((Direction::Forward, mtu));
        prop_assert_eq!(below_ipv6(&report), expected);
    }
}

#[test]
fn ipv6_below_its_smallest_mtu_is_seen_in_each_direction() {
    for (mtu, link) in [(1_124, 1), (1_000, 3)] {
        for direction in Direction::BOTH {
            let action = Action::DropAbove(Bytes::new(mtu));
            let mut path = with_rule(IpVersion::V6, link, Some(direction), action);
            path.far_end.reflects = true;
            let report = report(&path, 1);
            assert_eq!(below_ipv6(&report), Some((direction, mtu)), "{report:#?}");
        }
    }
}

#[test]
fn a_router_that_rejects_what_ipv6_requires_is_no_excuse() {
    for mtu in [1_124, 1_279, 576] {
        let report = report(&path(IpVersion::V6, mtu), 1);
        assert_eq!(below_ipv6(&report), Some((Direction::Forward, mtu)));
        assert_eq!(report.forward.limit, Reason::Rejected, "{report:#?}");
    }
    let report = report(&path(IpVersion::V6, 1_280), 1);
    assert_eq!(below_ipv6(&report), None);
    assert_eq!(report.forward.mtu, Some(Bytes::new(1_280)));
}

#[test]
fn a_lossy_path_of_ipv6_is_not_taken_for_one_below_its_smallest_mtu() {
    for seed in 0..60 {
        let mut path = path(IpVersion::V6, 9_000);
        path.seed = Seed::new(seed);
        for direction in &mut path.links[1].directions {
            direction.loss = 0.15;
        }
        let report = report(&path, seed);
        assert_eq!(below_ipv6(&report), None, "{seed}: {report:#?}");
        assert_eq!(ranges(&report), [[0; 2]; 0], "{seed}: {report:#?}");
    }
}

#[test]
fn a_router_that_rejects_all_sizes_is_named() {
    for version in VERSIONS {
        for announced in [9_000, 1_500] {
            let mut path = path(version, 40);
            path.links[0].rules = vec![Rule::always(Action::AnnounceMtu(announced))];
            let report = report(&path, 1);
            let kinds: Vec<_> = report.findings.iter().map(|one| &one.kind).collect();
            let [
                FindingKind::RejectsAll {
                    router,
                    hop,
                    announced: said,
                    ..
                },
            ] = kinds[..]
            else {
                panic!("{version}: {report:#?}")
            };
            assert_eq!(*router, addresses(version, 4)[1][1]);
            assert_eq!((*hop, said.get()), (Some(2), u64::from(announced)));
            assert_eq!(report.verdict, Verdict::Problem);
            assert!(report.took <= Span::from_secs(5), "{}", report.took);
        }
    }
}
