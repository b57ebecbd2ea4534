//! Packets that arrive in fragments although they ask not to be fragmented.

use proptest::prelude::*;

use crate::machine::{FindingKind, Hop, Limit as Reason, PathReport, Verdict};

use super::sizes::report;
use super::*;

/// A path with a link of this MTU, in front of which DF is cleared in these directions.
fn clearing(mtu: u64, directions: &[Direction]) -> ProbePath {
    let mut path = path(IpVersion::V4, mtu);
    path.far_end.reflects = true;
    // The rules of a link come before the next router decides.
    for (link, direction) in [(1, Direction::Forward), (3, Direction::Reverse)] {
        if directions.contains(&direction) {
            path.links[link].rules = vec![Rule {
                direction: Some(direction),
                ..Rule::always(Action::ClearDontFragment)
            }];
        }
    }
    path
}

fn forward_fragments(report: &PathReport) -> Option<u64> {
    let mut kinds = report.findings.iter().map(|finding| &finding.kind);
    kinds.find_map(|kind| match kind {
        FindingKind::ForwardFragments { mtu, .. } => Some(mtu.get()),
        _ => None,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn packets_in_pieces_are_told_with_the_exact_size_by_a_reflector(mtu in 1201_u64..8990, seed: u64) {
        let mut path = clearing(mtu, &Direction::BOTH);
        path.seed = Seed::new(seed);
        let report = report(&path, seed);
        prop_assert_eq!(report.verdict, Verdict::Problem);
        let found = (report.forward.mtu, report.forward.limit);
        prop_assert_eq!(found, (Some(Bytes::new(mtu)), Reason::Fragmented), "{:#?}", report);
        prop_assert_eq!(forward_fragments(&report), Some(mtu));
        prop_assert_eq!(report.reverse.limit, Reason::Fragmented);
        prop_assert_eq!(report.advised_mtu(), Some(Bytes::new(mtu)));
        prop_assert!(report.findings.iter().all(|finding| {
            matches!(finding.kind, FindingKind::ForwardFragments { .. } | FindingKind::ReverseLimit { .. } | FindingKind::Tunnel(_))
        }), "{:#?}", report);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// The far end answers whole packets, whatever came of them: routers quote the fragments.
    #[test]
    fn without_a_reflector_routers_tell_the_exact_size_and_where_df_is_cleared(
        mtu in 1201_u64..8990,
        link in 0_usize..2,
        seed: u64,
    ) {
        let mut path = clearing(9_000, &[]);
        path.seed = Seed::new(seed);
        path.far_end.reflects = false;
        path.links[link].rules = vec![Rule::always(Action::ClearDontFragment)];
        path.links[2].mtu = Bytes::new(9_000);
        path.links[link + 1].mtu = Bytes::new(mtu);
        let report = report(&path, seed);
        let found = (report.forward.mtu, report.forward.limit);
        prop_assert_eq!(found, (Some(Bytes::new(mtu)), Reason::Fragmented), "{:#?}", report);
        let kind = report.findings.iter().map(|one| &one.kind).find(|kind| kind.is_problem());
        let Some(FindingKind::ForwardFragments { cleared: Some(place), .. }) = kind else {
            panic!("{report:#?}")
        };
        let hop = |hop: Option<Hop>| hop.map_or(0, |hop| usize::from(hop.number));
        prop_assert!(report.probes <= 200, "{:#?}", report);
        prop_assert_eq!([hop(place.behind), hop(place.before)], [link, link + 1]);
    }
}

#[test]
fn a_cleared_flag_that_divides_nothing_is_no_fault() {
    for seed in 0..10 {
        let mut path = clearing(9_000, &Direction::BOTH);
        path.far_end.reflects = false;
        path.seed = Seed::new(seed);
        let report = report(&path, seed);
        assert_eq!(report.verdict, Verdict::Clean, "{report:#?}");
    }
}

#[test]
fn a_link_in_front_of_which_the_flag_is_kept_rejects() {
    for mtu in [1_500, 1_400] {
        let report = report(&clearing(mtu, &[Direction::Reverse]), 1);
        assert_eq!(forward_fragments(&report), None);
        assert_eq!(report.forward.limit, Reason::Rejected, "{report:#?}");
    }
}

#[test]
fn one_direction_may_fragment_alone() {
    for mtu in [1_500, 1_400] {
        let report = report(&clearing(mtu, &[Direction::Forward]), 1);
        assert_eq!(forward_fragments(&report), Some(mtu), "{report:#?}");
    }
}

#[test]
fn loss_does_not_look_like_pieces() {
    for seed in 0..30 {
        let mut path = clearing(9_000, &Direction::BOTH);
        path.seed = Seed::new(seed);
        for direction in &mut path.links[1].directions {
            direction.loss = 0.1;
        }
        let report = report(&path, seed);
        assert_eq!(report.verdict, Verdict::Clean, "{seed}: {report:#?}");
    }
}
