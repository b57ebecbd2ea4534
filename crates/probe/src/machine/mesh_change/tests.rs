//! Changes of paths that were made up.

use proptest::prelude::*;

use super::*;

const VERDICTS: [Option<Verdict>; 4] = [
    None,
    Some(Verdict::Clean),
    Some(Verdict::Unclear),
    Some(Verdict::Problem),
];

fn state(passed: Option<u64>, verdict: Option<Verdict>) -> Option<PathState> {
    let passed = passed.map(Bytes::new);
    Some(PathState { passed, verdict })
}

fn change(before: Option<PathState>, after: Option<PathState>) -> PathChange {
    let (from, to) = ("a".to_owned(), "b".to_owned());
    PathChange {
        from,
        to,
        before,
        after,
    }
}

#[test]
fn each_change_has_its_kind_and_is_better_or_worse() {
    let clean = state(Some(9000), VERDICTS[1]);
    let small = state(Some(1500), VERDICTS[3]);
    let lossy = state(Some(9000), VERDICTS[3]);
    // The interfaces were raised, and larger packets are lost behind them.
    let (low, hole) = (
        state(Some(1500), VERDICTS[1]),
        state(Some(4000), VERDICTS[3]),
    );
    let unseen = state(None, None);
    for (before, after, kind, better, worse) in [
        (clean, clean, None, false, false),
        (small, clean, Some(ChangeKind::Grew), true, false),
        (clean, small, Some(ChangeKind::Shrank), false, true),
        (low, hole, Some(ChangeKind::Grew), false, true),
        (low, small, Some(ChangeKind::Verdict), false, true),
        (clean, lossy, Some(ChangeKind::Verdict), false, true),
        (lossy, clean, Some(ChangeKind::Verdict), true, false),
        (unseen, clean, Some(ChangeKind::New), true, false),
        (clean, unseen, Some(ChangeKind::Gone), false, true),
        (None, small, Some(ChangeKind::New), false, false),
        (small, None, Some(ChangeKind::Gone), false, false),
        (unseen, unseen, None, false, false),
        // Only one of both was investigated by its sender.
        (state(Some(9000), None), lossy, None, false, false),
    ] {
        let change = change(before, after);
        assert_eq!(change.kind(), kind, "{change:?}");
        let judged = [change.is_better(), change.is_worse()];
        assert_eq!(judged, [better, worse], "{change:?}");
    }
}

fn any_state() -> impl Strategy<Value = Option<PathState>> {
    let passed = prop::option::of(prop::sample::select(vec![0_u64, 1500, 9000]));
    let verdict = prop::sample::select(VERDICTS.to_vec());
    (any::<bool>(), passed, verdict)
        .prop_map(|(is_there, passed, verdict)| state(passed, verdict).filter(|_| is_there))
}

proptest! {
    #[test]
    fn what_gets_better_gets_worse_the_other_way_round(one in any_state(), other in any_state()) {
        let (there, back) = (change(one, other), change(other, one));
        prop_assert!(!there.is_better() || back.is_worse());
        prop_assert!(!(there.is_better() && there.is_worse()));
        prop_assert_eq!(there.kind().is_none(), back.kind().is_none());
        prop_assert_eq!(change(one, one).kind().filter(|_| one.is_some()), None);
    }

    #[test]
    fn each_path_is_a_change_or_unchanged(
        before in prop::collection::btree_map("[a-c]", any_state(), 0..4),
        now in prop::collection::btree_map("[a-c]", any_state(), 0..4),
    ) {
        let mesh = |paths: &BTreeMap<String, Option<PathState>>| MeshState {
            asked: Bytes::new(9000),
            paths: paths
                .iter()
                .filter_map(|(name, state)| Some(((name.clone(), "x".to_owned()), (*state)?)))
                .collect(),
        };
        let (before, now) = (mesh(&before), mesh(&now));
        let found = MeshComparison::of(&before, &now);
        let mut all: Vec<_> = before.paths.keys().chain(now.paths.keys()).collect();
        all.sort();
        all.dedup();
        prop_assert_eq!(found.changes.len() + found.unchanged, all.len());
        let same = MeshComparison::of(&now, &now);
        prop_assert!(same.changes.is_empty() && !same.is_worse());
    }
}
