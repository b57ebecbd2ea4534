use plan::attempts::combined;
use plan::synthetic::{Normal, cell, factors, plan, trial};
use plan::{DisturbedPass, Plan};
use rand::Rng as _;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use super::*;
use crate::compare::{Difference, compare};
use crate::passes::{leave_out_disturbed, next_attempt};

#[test]
fn repeated_trials_and_those_left_are_counted() {
    let attempt = |repeat, attempt, disturbed| {
        let mut trial = trial(factors(1500), repeat, &[("throughput", 900.0)]);
        trial.attempt = attempt;
        if disturbed {
            trial.disturbed.push(DisturbedPass::of_trial("steal 20 %"));
        }
        trial
    };
    let trials = [
        combined(&[attempt(1, 1, false)]).unwrap(),
        combined(&[attempt(2, 1, true), attempt(2, 2, false)]).unwrap(),
        combined(&[
            attempt(3, 1, true),
            attempt(3, 2, true),
            attempt(3, 3, true),
        ])
        .unwrap(),
        combined(&[attempt(4, 1, true)]).unwrap(),
    ];
    let expected = Disturbances {
        trials: 4,
        disturbed: 3,
        repeated: 3,
        left: 2,
    };
    assert_eq!(Disturbances::of(&trials), expected);
}

/// A machine with other work, which disturbs a trial of `seconds` with the
/// probability 1 - exp(-rate * seconds), and costs it a third of its goodput.
struct Busy {
    /// Bursts of work each second.
    rate: f64,
    chance: ChaCha8Rng,
    noise: Normal,
}

/// The goodput of all cells, in Mbit/s, and its standard deviation.
const TRUE: f64 = 930.0;
const SPREAD: f64 = 9.3;

impl Busy {
    fn new(seed: u64, rate: f64) -> Self {
        Self {
            rate,
            chance: ChaCha8Rng::seed_from_u64(seed),
            noise: Normal::new(seed),
        }
    }

    /// An attempt at a trial of `seconds`, which is longer if goodput is low.
    fn attempt(&mut self, mtu: i64, repeat: u32, attempt: u32, seconds: f64) -> Trial {
        let [goodput] = self.noise.sample(1, TRUE, SPREAD)[..] else {
            panic!("one value was asked for");
        };
        let seconds = seconds * TRUE / goodput;
        let undisturbed = (-self.rate * seconds).exp();
        let is_disturbed = f64::from(self.chance.next_u32()) / f64::from(u32::MAX) > undisturbed;
        let goodput = if is_disturbed { goodput / 1.5 } else { goodput };
        let mut trial = trial(factors(mtu), repeat, &[("throughput", goodput)]);
        trial.attempt = attempt;
        if is_disturbed {
            trial
                .disturbed
                .push(DisturbedPass::of_trial("others used 1.0 CPUs"));
        }
        trial
    }

    /// A run of `plan` with the trials of its cells lasting `seconds`, as the
    /// program runs it: disturbed trials again where values are missing, while the
    /// retry limit allows.
    fn run(&mut self, plan: &Plan, seconds: impl Fn(i64) -> f64) -> Vec<Trial> {
        let mtus = plan.cells.iter();
        let mtus: Vec<i64> = mtus
            .filter_map(|cell| mtu(cell.factors.level("mtu")?))
            .collect();
        let repeats = plan.repeat as usize;
        let mut attempts: Vec<Vec<Trial>> = Vec::new();
        for &mtu in &mtus {
            for repeat in 1..=plan.repeat {
                attempts.push(vec![self.attempt(mtu, repeat, 1, seconds(mtu))]);
            }
        }
        let mut trials: Vec<Trial> = attempts.iter().filter_map(|all| combined(all)).collect();
        for _ in 0..plan.retry_limit.further_trials(trials.len()) {
            let Some((next, _)) = next_attempt(plan, &trials) else {
                break;
            };
            let mtu = mtus[next.cell];
            let further = self.attempt(mtu, next.repeat, next.attempt, seconds(mtu));
            let place = next.cell * repeats + next.repeat as usize - 1;
            attempts[place].push(further);
            trials[place] = combined(&attempts[place]).unwrap();
        }
        leave_out_disturbed(plan, &mut trials);
        trials
    }
}

fn mtu(level: &plan::Level) -> Option<i64> {
    match level {
        plan::Level::Integer(mtu) => Some(*mtu),
        _ => None,
    }
}

/// A plan of a baseline and 40 cells equal to it.
fn equal_cells() -> Plan {
    plan(
        (0..=40)
            .map(|number| cell(factors(1500 + number)))
            .collect(),
        8,
        Vec::new(),
    )
}

/// The share of comparisons that find a difference, over 25 runs.
fn found(rate: f64, seconds: impl Fn(i64) -> f64) -> f64 {
    let plan = equal_cells();
    let (mut found, mut all) = (0, 0);
    for seed in 0..25 {
        let trials = Busy::new(seed, rate).run(&plan, &seconds);
        for comparison in compare(&plan, &trials) {
            all += usize::from(comparison.change.is_some());
            found += usize::from(comparison.difference == Some(Difference::Found));
        }
    }
    assert_eq!(all, 25 * 40, "every cell is compared");
    found as f64 / all as f64
}

#[test]
fn equal_cells_differ_in_at_most_five_of_a_hundred_comparisons() {
    // No work, work that hits each third trial, and work that hits most.
    for rate in [0.0, 0.8, 1.6] {
        let share = found(rate, |_| 0.5);
        assert!(share <= 0.05, "{rate}: {share}");
    }
}

#[test]
fn trials_that_last_longer_are_hit_more_often_and_do_not_differ_for_that() {
    // Of the longest, two of three are hit; of the shortest, one of fifty.
    let share = found(1.0, |mtu| 0.02 + (mtu - 1500) as f64 * 0.025);
    assert!(share <= 0.05, "{share}");
}

#[test]
fn the_bias_of_a_choice_by_duration_is_what_the_covariance_says() {
    // A trial is chosen with a probability proportional to exp(-rate * seconds),
    // and seconds fall with goodput. To first order the mean of those chosen is
    // too high by rate * seconds * SPREAD^2 / TRUE.
    let plan = plan(vec![cell(factors(1500))], 20_000, Vec::new());
    for (rate, seconds) in [(0.0, 0.5), (1.0, 0.5), (1.0, 0.045)] {
        let trials = Busy::new(7, rate).run(&plan, |_| seconds);
        let values: Vec<f64> = { trials.iter() }
            .filter(|trial| !trial.is_disturbed())
            .filter_map(|trial| trial.metrics.get("throughput").copied())
            .collect();
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        let predicted = rate * seconds * SPREAD * SPREAD / TRUE;
        let error = 4.0 * SPREAD / (values.len() as f64).sqrt();
        assert!(
            (mean - TRUE - predicted).abs() < error,
            "{rate} {seconds}: {mean}"
        );
        assert!(predicted / TRUE < 1e-4, "a ten-thousandth of the figure");
    }
}

#[test]
fn without_the_choice_a_disturbed_run_would_differ() {
    // The same load on one half of the cells: the disturbed trials alone are a
    // difference, so the tests above would see a bias.
    let plan = equal_cells();
    let mut trials = Busy::new(3, 0.0).run(&plan, |_| 0.5);
    for trial in trials
        .iter_mut()
        .filter(|trial| *trial.factors != factors(1500))
    {
        trial.metrics.insert("throughput", TRUE / 1.1);
    }
    let differs =
        |comparison: &crate::compare::Comparison| comparison.difference == Some(Difference::Found);
    assert!(
        compare(&plan, &trials)
            .iter()
            .filter(|one| differs(one))
            .count()
            >= 35
    );
}
