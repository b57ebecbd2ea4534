//! `[[claim]]` and `[links.NAME.losses]`.

use plan::{Expected, Level, Over};

use super::simulated::{rejected, sim};

const CLAIMED: &str = "format = 1
name = \"claimed\"
backend = \"sim\"
[choices.flood.slow]
\"flows.others.rate\" = \"1mbit\"
[choices.flood.fast]
\"flows.others.rate\" = \"2mbit\"
[network]
rate = \"2mbit\"
[links.sender-receiver.losses]
window = \"0s..1s\"
[traffic]
kind = \"flows\"
[flows.all]
rate = \"1mbit\"
[sweep]
flood = [\"slow\", \"fast\"]
mtu = [1500, 9000]
[aliases]
mtu = \"network.mtu\"
[[claim]]
text = \"large packets lose more\"
source = \"[Key s1]\"
metric = \"drop_bias\"
cells = { mtu = 9000, flood = [\"slow\", \"fast\"] }
is = \"higher\"
than = { mtu = 1500 }
by = 2
";

#[test]
fn a_claim_is_read_and_written_into_the_plan() {
    let plan = sim(CLAIMED, &[]);
    let claim = &plan.claims[0];
    let text = |word: &str| Level::Text(word.into());
    let cells = vec![
        ("flood".to_owned(), vec![text("slow"), text("fast")]),
        ("mtu".to_owned(), vec![Level::Integer(9000)]),
    ];
    assert_eq!(claim.cells, cells);
    let Expected::Than { than, higher, by } = claim.expected.clone() else {
        panic!("{claim:?}");
    };
    assert_eq!(
        (than.to_string(), higher, by),
        ("mtu=1500".into(), true, 2.0)
    );
    // The flow that only a choice makes is in every cell once.
    let again = sim(&plan.text, &[]);
    assert_eq!((&again.claims, &again.hash), (&plan.claims, &plan.hash));
    assert_ne!(
        sim(&CLAIMED.replace("by = 2", "by = 3"), &[]).hash,
        plan.hash
    );
}

#[test]
fn a_claim_of_a_change_in_per_cent_is_read_and_written_into_the_plan() {
    for (written, percent, over) in [
        ("by_percent = 58.5", 58.5, Over::Each),
        ("by_percent = 0\nover = \"any\"", 0.0, Over::Any),
        ("by_percent = -5", -5.0, Over::Each),
        ("by_percent = 300\nover = \"mean\"", 300.0, Over::Mean),
    ] {
        let plan = sim(&CLAIMED.replace("by = 2", written), &[]);
        let claim = &plan.claims[0];
        let changed = matches!(&claim.expected, Expected::Changed { than, higher: true, percent: by, over: of }
            if (than.to_string().as_str(), *by, *of) == ("mtu=1500", percent, over));
        assert!(changed, "{claim:?}");
        let again = sim(&plan.text, &[]);
        assert_eq!((&again.claims, &again.hash), (&plan.claims, &plan.hash));
    }
}

#[test]
fn what_is_no_claim_or_no_window_of_losses_is_rejected() {
    for (from, to, wrong) in [
        (
            "by = 2",
            "by = 2\nby_percent = 2",
            "experiments/x.toml:29: claim.by_percent = 2: `by` gives the size as well; keep one of them",
        ),
        (
            "by = 2",
            "over = \"mean\"",
            "experiments/x.toml:28: claim.over = \"mean\": only changes in per cent have it; write by_percent = 20 too",
        ),
        (
            "is = \"higher\"\n",
            "",
            "experiments/x.toml:21: claim.is is missing; write for instance is = \"lower\", which `than`, `by`, `by_percent` and `over` belong to",
        ),
        (
            "by = 2",
            "at_most = 2",
            "experiments/x.toml:28: claim.at_most = 2: a claim states one bound; write another [[claim]] for the other",
        ),
        (
            "than = { mtu = 1500 }",
            "",
            "experiments/x.toml:26: claim.is = \"higher\": than is missing: write than = { queue = \"droptail\" }",
        ),
        (
            "than = { mtu = 1500 }",
            "than = { \"network.rate\" = \"1mbit\" }",
            "experiments/x.toml:27: claim.than.\"network.rate\" = \"1mbit\": it is not swept; [sweep] lists the factors",
        ),
        (
            "by = 2",
            "by = 2\nunit = \"ms\"",
            "experiments/x.toml:29: claim.unit = \"ms\": drop_bias is measured in %; use this unit",
        ),
        (
            "metric = \"drop_bias\"",
            "metric = \"drop_bais\"",
            "experiments/x.toml:24: claim.metric = \"drop_bais\": unknown metric; did you mean `drop_bias`?; docs/reference/metrics.md lists them",
        ),
        (
            "window = \"0s..1s\"",
            "epoch = \"1ms\"",
            "experiments/x.toml:11: links.sender-receiver.losses.epoch = \"1ms\": it needs links.sender-receiver.losses.window = \"0s..25s\" beside it",
        ),
        (
            "window = \"0s..1s\"",
            "window = \"0s..9s\"",
            "experiments/x.toml:11: links.sender-receiver.losses.window = \"0s..9s\": traffic.duration ends at 1s, before it; write a longer duration",
        ),
    ] {
        rejected(&CLAIMED.replace(from, to), &[], wrong);
    }
}

#[test]
fn a_tolerance_has_a_reason_and_is_written_into_the_plan() {
    let with = |rest: &str| CLAIMED.replace("by = 2", &format!("by = 2\n{rest}"));
    let plan = sim(
        &with("tolerance = 0.5\nreason = \"the clock ticks so\""),
        &[],
    );
    let tolerance = plan.claims[0].tolerance.as_ref().unwrap();
    assert_eq!(
        (tolerance.within, tolerance.reason.as_str()),
        (0.5, "the clock ticks so")
    );
    let again = sim(&plan.text, &[]);
    assert_eq!((&again.claims, &again.hash), (&plan.claims, &plan.hash));
    for (rest, why) in [
        (
            "tolerance = 0.5",
            "29: claim.tolerance = 0.5: give the reason in `reason`",
        ),
        (
            "reason = \"so\"",
            "29: claim.reason = \"so\": it gives the reason of a `tolerance`",
        ),
    ] {
        rejected(&with(rest), &[], &format!("experiments/x.toml:{why}"));
    }
}

#[test]
fn alternatives_are_swept_factors_and_are_written_into_the_plan() {
    let with = |rest: &str| CLAIMED.replace("by = 2", &format!("by = 2\n{rest}"));
    let own = "alternatives = [\"flood\"]\nstated = { flood = \"slow\" }";
    let plan = sim(&with(own), &[]);
    let slow = vec![Level::Text("slow".into())];
    let named = &plan.claims[0].alternatives;
    assert_eq!(named.factors, ["flood"]);
    assert_eq!(named.stated, [("flood".to_owned(), slow)]);
    let again = sim(&plan.text, &[]);
    assert_eq!((&again.claims, &again.hash), (&plan.claims, &plan.hash));
    for (rest, why) in [
        (
            "alternatives = [\"network.rate\"]",
            "29: claim.alternatives = [\"network.rate\"]: network.rate: it is not swept; [sweep] lists the factors",
        ),
        (
            "alternatives = [\"mtu\"]\nstated = { flood = \"slow\" }",
            "29: claim.alternatives = [\"mtu\"]: `stated` has levels of flood, which is none of them",
        ),
    ] {
        rejected(&with(rest), &[], &format!("experiments/x.toml:{why}"));
    }
}

#[test]
fn printed_means_say_of_how_many_trials_they_are_and_how_far_these_spread() {
    let with = |rest: &str| {
        format!(
            "{CLAIMED}[[published]]\nmetric = \"delay\"\nsource = \"[Key Table 4]\"\nchanges = {{ \"2\" = 3.5 }}\n{rest}"
        )
    };
    let all = "trials = 20\nspread_percent = 2.5\nspread_source = \"the study\"";
    let plan = sim(&with(all), &[]);
    let own = plan.published[0].sampling.as_ref().unwrap();
    assert_eq!(
        (own.trials, own.spread_percent, own.source.as_str()),
        (20, 2.5, "the study")
    );
    let again = sim(&plan.text, &[]);
    assert_eq!(
        (&again.published, &again.hash),
        (&plan.published, &plan.hash)
    );
    for (missing, example) in [
        ("trials", "trials = 20"),
        ("spread_percent", "spread_percent = 3.1"),
        (
            "spread_source",
            "spread_source = \"our kernel trials (os-comparison.netns)\"",
        ),
    ] {
        let others = all
            .lines()
            .filter(|line| !line.starts_with(&format!("{missing} ")));
        let others: Vec<&str> = others.collect();
        let why = format!(
            "experiments/x.toml:29: published.{missing} is missing; write for instance {example}"
        );
        rejected(&with(&others.join("\n")), &[], &why);
    }
}

#[test]
fn shipped_claims_with_a_figure_state_its_unit() {
    let mut stated = 0;
    for shipped in crate::shipped() {
        let (_, text) = crate::shipped::text(shipped.name).unwrap();
        for claim in text
            .split("\n[[")
            .filter_map(|table| table.strip_prefix("claim]]"))
        {
            let claim = claim.split("\n[").next().unwrap_or_default();
            let has = |key: &str| {
                claim
                    .lines()
                    .any(|line| line.starts_with(&format!("{key} =")))
            };
            if has("by") || has("at_most") || has("at_least") {
                // A wrong one is rejected when the experiment is read.
                assert!(has("unit"), "{}:{claim}", shipped.name);
                stated += 1;
            }
        }
    }
    assert!(stated > 20, "{stated}");
}
