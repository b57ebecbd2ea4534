use plan::synthetic::{cell, factors, full_factors, plan, published, trial};
use plan::{DisturbedPass, Plan};

use super::*;
use crate::compare::{Comparison, compare};
use crate::statistics::Estimator;

mod coverage;

const GOODPUT: &str = "throughput";

/// A trial whose throughput pass was disturbed, if it says so.
fn measured(mtu: i64, repeat: u32, goodput: f64, is_disturbed: bool) -> Trial {
    let metrics = [(GOODPUT, goodput), ("rtt", 5.0)];
    let mut trial = trial(factors(mtu), repeat, &metrics);
    if is_disturbed {
        trial.disturbed.push(DisturbedPass {
            pass: GOODPUT.into(),
            reason: "others used 1.0 CPUs".into(),
            values: vec![GOODPUT.into()],
            replaced_by: None,
        });
    }
    trial
}

/// A plan of `repeat` repeats at these MTUs.
fn plan_of(mtus: &[i64], repeat: u32) -> Plan {
    let cells = mtus.iter().map(|&mtu| cell(factors(mtu))).collect();
    plan(cells, repeat, Vec::new())
}

/// The trials of a cell, the first of which are disturbed.
fn cell_of(mtu: i64, all: u32, disturbed: u32) -> Vec<Trial> {
    let trial = |repeat| measured(mtu, repeat, 900.0 + f64::from(repeat), repeat <= disturbed);
    (1..=all).map(trial).collect()
}

/// The comparisons of goodput after the choice, by cell.
fn compared(plan: &Plan, mut trials: Vec<Trial>) -> Vec<Comparison> {
    leave_out_disturbed(plan, &mut trials);
    let mut all = compare(plan, &trials);
    all.retain(|row| row.metric.name == GOODPUT);
    all
}

#[test]
fn undisturbed_values_stand_alone_if_each_compared_cell_has_five() {
    let plan = plan_of(&[1500, 9000], 20);
    let found = compared(
        &plan,
        [cell_of(1500, 20, 15), cell_of(9000, 20, 8)].concat(),
    );
    let [base, other] = &found[..] else {
        panic!("two cells")
    };
    assert_eq!((base.n, other.n), (5, 12));
    assert!(!base.is_approximate() && !other.is_approximate());
    let passes = |used, left_out| Passes {
        used,
        disturbed: 0,
        left_out,
    };
    assert_eq!(
        (base.passes, other.compared),
        (passes(5, 15), passes(17, 23))
    );
    assert_eq!(other.compared.all(), 40);
}

#[test]
fn otherwise_all_values_of_all_compared_cells_count() {
    let plan = plan_of(&[1500, 4000, 9000], 20);
    let cells = [
        cell_of(1500, 20, 0),
        cell_of(4000, 20, 3),
        cell_of(9000, 20, 16),
    ];
    let found = compared(&plan, cells.concat());
    for row in &found {
        assert_eq!((row.n, row.is_approximate()), (20, true), "{}", row.factors);
    }
    assert_eq!(found[2].compared.disturbed, 16);
}

#[test]
fn a_verdict_says_that_it_is_about_an_approximate_result() {
    let mut plan = plan_of(&[1500, 9000], 20);
    plan.published = vec![published(GOODPUT, &[], &[(9000, 6.4)])];
    let reason = |disturbed| {
        let found = compared(
            &plan,
            [cell_of(1500, 20, 0), cell_of(9000, 20, disturbed)].concat(),
        );
        found[1].judgement.as_ref().unwrap().reason.clone()
    };
    let words = "; approximate: other work disturbed the trials";
    assert!(reason(16).ends_with(words) && !reason(15).contains("approximate"));
}

#[test]
fn a_metric_of_another_pass_is_chosen_by_its_own_disturbances() {
    let plan = plan_of(&[1500, 9000], 20);
    let mut trials = [cell_of(1500, 20, 18), cell_of(9000, 20, 0)].concat();
    leave_out_disturbed(&plan, &mut trials);
    let round_trips = compare(&plan, &trials);
    let mut round_trips = round_trips.iter().filter(|row| row.metric.name == "rtt");
    assert!(round_trips.all(|row| row.n == 20 && !row.is_approximate()));
}

#[test]
fn cells_that_are_not_compared_do_not_share_a_choice() {
    let mut cells = Vec::new();
    let mut trials = Vec::new();
    for (offloads, disturbed) in [("off", 18), ("on", 10)] {
        for mtu in [1500, 9000] {
            let factors = full_factors("LU-LU", offloads, mtu);
            let own = cell_of(mtu, 20, disturbed).into_iter();
            trials.extend(own.map(|trial| Trial {
                factors: factors.clone().into(),
                ..trial
            }));
            cells.push(cell(factors));
        }
    }
    let plan = plan(cells, 20, Vec::new());
    let found = compared(&plan, trials);
    let approximate: Vec<bool> = found.iter().map(Comparison::is_approximate).collect();
    assert_eq!(approximate, [true, true, false, false]);
}

#[test]
fn with_fewer_than_five_repeats_all_of_them_must_be_undisturbed() {
    let plan = plan_of(&[1500, 9000], 3);
    for (disturbed, is_approximate) in [(0, false), (1, true), (3, true)] {
        let found = compared(
            &plan,
            [cell_of(1500, 3, disturbed), cell_of(9000, 3, 0)].concat(),
        );
        for row in found {
            assert_eq!((row.n, row.is_approximate()), (3, is_approximate));
        }
    }
}

#[test]
fn the_choice_does_not_depend_on_values() {
    let plan = plan_of(&[1500, 9000], 20);
    let kept = |scale: f64| -> Vec<bool> {
        let mut trials = [cell_of(1500, 20, 12), cell_of(9000, 20, 14)].concat();
        for (position, trial) in trials.iter_mut().enumerate() {
            let value = 900.0 - scale * (position % 7) as f64;
            trial.metrics.insert(GOODPUT, value);
        }
        leave_out_disturbed(&plan, &mut trials);
        let kept = trials.iter();
        kept.map(|trial| trial.metrics.contains_key(GOODPUT))
            .collect()
    };
    assert_eq!(kept(0.0), kept(100.0));
}

#[test]
fn a_simulated_run_has_no_approximate_result() {
    let mut plan = plan_of(&[1500], 20);
    plan.backend = plan::Backend::Sim;
    let trials = cell_of(1500, 20, 18);
    let trials: Vec<&Trial> = trials.iter().collect();
    let metric = Metric::named(GOODPUT).unwrap();
    let own = crate::compare::estimators(&plan, metric, &[trials]);
    assert_eq!(own, [Estimator::Mean]);
}

/// The attempts that a run makes at disturbed trials, each of which succeeds if `helps`.
fn attempts(plan: &Plan, mut trials: Vec<Trial>, helps: impl Fn(Further) -> bool) -> Vec<Further> {
    for (position, trial) in trials.iter_mut().enumerate() {
        let cell = plan
            .cells
            .iter()
            .position(|cell| cell.factors == *trial.factors);
        trial.id = plan::trial_id(cell.unwrap_or(position), trial.repeat).into();
    }
    let mut made = Vec::new();
    while let Some((next, missing)) = next_attempt(plan, &trials)
        && made.len() < 100
    {
        assert!(missing > 0);
        made.push(next);
        let factors = &plan.cells[next.cell].factors;
        let own = |trial: &&mut Trial| *trial.factors == *factors && trial.repeat == next.repeat;
        let trial = trials.iter_mut().find(own).unwrap();
        trial.attempt = next.attempt;
        if helps(next) {
            trial.disturbed = Default::default();
        }
    }
    made
}

#[test]
fn further_attempts_go_where_values_are_missing_until_each_cell_has_five() {
    let plan = plan_of(&[1500, 4000, 9000], 20);
    let cells = [
        cell_of(1500, 20, 18),
        cell_of(4000, 20, 15),
        cell_of(9000, 20, 17),
    ];
    let made = attempts(&plan, cells.concat(), |_| true);
    let cells: Vec<usize> = made.iter().map(|next| next.cell).collect();
    // The one with two values comes first, then both with three, then those with four.
    assert_eq!(cells.len(), 5);
    assert_eq!(cells[0], 0);
    let count = |cell| cells.iter().filter(|&&other| other == cell).count();
    assert_eq!([count(0), count(1), count(2)], [3, 0, 2]);
    let mut repeats: Vec<u32> = made
        .iter()
        .filter(|next| next.cell == 0)
        .map(|next| next.repeat)
        .collect();
    repeats.sort_unstable();
    assert_eq!(repeats, [1, 2, 3], "each repeat once");
}

#[test]
fn where_all_cells_have_five_undisturbed_values_nothing_runs_again() {
    let plan = plan_of(&[1500, 9000], 20);
    let trials = [cell_of(1500, 20, 15), cell_of(9000, 20, 1)].concat();
    assert_eq!(next_attempt(&plan, &trials), None);
    let few = plan_of(&[1500], 3);
    assert!(next_attempt(&few, &cell_of(1500, 3, 1)).is_some());
    assert_eq!(next_attempt(&few, &cell_of(1500, 3, 0)), None);
}

#[test]
fn attempts_that_do_not_help_are_shared_out_among_cells_and_repeats() {
    let plan = plan_of(&[1500, 9000], 6);
    let trials = [cell_of(1500, 6, 6), cell_of(9000, 6, 6)].concat();
    let made = attempts(&plan, trials, |_| false);
    assert_eq!(made.len(), 100, "the retry limit ends it");
    for cell in [0, 1] {
        for repeat in 1..=6 {
            let own = made
                .iter()
                .filter(|next| (next.cell, next.repeat) == (cell, repeat));
            let own = own.count();
            assert!((8..=9).contains(&own), "{cell} {repeat}: {own}");
        }
    }
}

#[test]
fn a_resumed_run_goes_on_with_the_same_attempts() {
    let plan = plan_of(&[1500, 4000, 9000], 8);
    let trials = [1500, 4000, 9000].map(|mtu| cell_of(mtu, 8, 7)).concat();
    let whole = attempts(&plan, trials.clone(), |next| next.attempt > 2);
    let mut later = trials;
    for next in &whole[..9] {
        let factors = &plan.cells[next.cell].factors;
        let own = |trial: &&mut Trial| *trial.factors == *factors && trial.repeat == next.repeat;
        let trial = later.iter_mut().find(own).unwrap();
        trial.attempt = next.attempt;
        if next.attempt > 2 {
            trial.disturbed = Default::default();
        }
    }
    let rest = attempts(&plan, later, |next| next.attempt > 2);
    assert_eq!(rest, whole[9..]);
}

#[test]
fn a_trial_that_failed_because_it_was_disturbed_is_tried_again() {
    let plan = plan_of(&[1500], 1);
    let mut failed = trial(factors(1500), 1, &[]);
    failed.failure = Some("the emulator could not keep up".into());
    assert_eq!(
        next_attempt(&plan, &[failed.clone()]),
        None,
        "it failed by itself"
    );
    failed.disturbed.push(DisturbedPass::of_trial("late"));
    let (next, missing) = next_attempt(&plan, &[failed]).unwrap();
    let expected = Further {
        cell: 0,
        repeat: 1,
        attempt: 2,
    };
    assert_eq!((next, missing), (expected, 1));
}
