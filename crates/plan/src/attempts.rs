//! Several attempts at one trial, and which of them counts.
//!
//! A trial that other work on the machine disturbed is run again. Whether it was
//! disturbed depends on the machine alone and is decided before the result is
//! looked at, so the choice of an attempt is independent of its values.

use std::collections::BTreeMap;
use std::mem;

use crate::{DisturbedPass, Flag, Trial};

/// The fewest undisturbed values of a cell that stand alone: one has no interval.
const FEWEST: usize = 2;

/// The trial that `attempts` at one repeat of a cell yield together; `None`
/// without attempts.
///
/// The first attempt without a disturbance counts as a whole. If there is none,
/// the first of those with the fewest disturbed passes counts, and each of its
/// disturbed passes is replaced by the same pass of the first attempt in which
/// it was not disturbed, if there is one. A finished attempt precedes a failed
/// one.
pub fn combined(attempts: &[Trial]) -> Option<Trial> {
    let rank = |trial: &&Trial| {
        let whole = has(trial, DisturbedPass::WHOLE);
        let passes = trial.disturbed.len();
        (trial.failure.is_some(), whole, trial.is_disturbed(), passes)
    };
    // Of equals the first.
    let best = attempts.iter().min_by_key(rank)?;
    let mut trial = best.clone();
    trial.attempt = attempts.iter().map(|one| one.attempt).max()?;
    for pass in trial.disturbed.iter_mut() {
        let sound = |other: &&Trial| {
            other.failure.is_none() && !has(other, &pass.pass) && !has(other, DisturbedPass::WHOLE)
        };
        let Some(other) = attempts
            .iter()
            .find(sound)
            .filter(|_| !pass.values.is_empty())
        else {
            continue;
        };
        for name in &pass.values {
            match other.metrics.get(name) {
                Some(&value) => trial.metrics.insert(name, value),
                None => trial.metrics.remove(name),
            }
            match other.evidence.get(name) {
                Some(value) => trial.evidence.insert(name, value),
                None => trial.evidence.remove(name),
            }
        }
        let further: Vec<_> = other
            .flags
            .iter()
            .filter(|flag| !trial.flags.contains(flag))
            .cloned()
            .collect();
        trial.flags.extend(further);
        pass.replaced_by = Some(other.attempt);
    }
    if !trial.is_disturbed() {
        trial.flags.retain(|flag| flag != Flag::Disturbed.as_str());
    }
    // Passes that only attempts which do not count had disturbed.
    for other in attempts
        .iter()
        .filter(|other| other.attempt != best.attempt)
    {
        for pass in &other.disturbed {
            if trial.disturbed.iter().all(|known| known.pass != pass.pass) {
                trial.disturbed.push(DisturbedPass {
                    replaced_by: Some(best.attempt),
                    ..pass.clone()
                });
            }
        }
    }
    Some(trial)
}

/// Removes the values of disturbed passes from `trials` of all cells, one trial
/// for each repeat, where a cell has other values.
///
/// A metric of a cell keeps its disturbed values only if fewer than half of the
/// cell's values, or fewer than two, are undisturbed: then the figure is one of a disturbed machine
/// and must show its spread.
pub fn leave_out_disturbed(trials: &mut [Trial]) {
    if !trials.iter().any(Trial::is_disturbed) {
        return;
    }
    let mut cells: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (position, trial) in trials.iter().enumerate() {
        if trial.failure.is_none() {
            let cell = trial.factors.to_string();
            cells.entry(cell).or_default().push(position);
        }
    }
    for positions in cells.into_values() {
        if !positions
            .iter()
            .any(|&position| trials[position].is_disturbed())
        {
            continue;
        }
        // By metric: the number of its values, and of the disturbed ones.
        let mut counts: BTreeMap<String, [usize; 2]> = BTreeMap::new();
        for &position in &positions {
            let trial = &trials[position];
            for metric in trial.metrics.keys() {
                let [all, disturbed] = counts.entry(metric.to_owned()).or_default();
                *all += 1;
                *disturbed += usize::from(trial.is_disturbed_in(metric));
            }
        }
        let enough = |metric: &str| {
            counts.get(metric).is_some_and(|[all, disturbed]| {
                disturbed * 2 <= *all && *all - *disturbed >= FEWEST
            })
        };
        for position in positions {
            let trial = &mut trials[position];
            let mut metrics = mem::take(&mut trial.metrics);
            metrics.retain(|metric| !(enough(metric) && trial.is_disturbed_in(metric)));
            trial.metrics = metrics;
        }
    }
}

/// Whether `pass` of `trial` was disturbed.
fn has(trial: &Trial, pass: &str) -> bool {
    let mut disturbed = trial.disturbed.iter();
    disturbed.any(|one| one.pass == pass && one.replaced_by.is_none())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{factors, trial};

    fn pass(name: &str, values: &[&str]) -> DisturbedPass {
        DisturbedPass {
            pass: name.into(),
            reason: "others used 1.0 processors".into(),
            values: values.iter().map(|&value| value.into()).collect(),
            replaced_by: None,
        }
    }

    /// Attempt `number` with these values, of which the passes of the names in
    /// `disturbed` were disturbed.
    fn attempt(number: u32, [goodput, delay]: [f64; 2], disturbed: &[&str]) -> Trial {
        let metrics = [("throughput", goodput), ("delay", delay)];
        let mut trial = trial(factors(1500), 1, &metrics);
        trial.attempt = number;
        trial.disturbed = { disturbed.iter() }
            .map(|&name| pass(name, &[name]))
            .collect();
        if !disturbed.is_empty() {
            trial.flags.push("disturbed".into());
        }
        trial
    }

    #[test]
    fn the_first_undisturbed_attempt_counts() {
        let attempts = [
            attempt(1, [600.0, 9.0], &["throughput", "delay"]),
            attempt(2, [900.0, 5.0], &[]),
            attempt(3, [950.0, 4.0], &[]),
        ];
        let one = combined(&attempts).unwrap();
        assert_eq!(one.metrics, attempts[1].metrics);
        assert!(!one.is_disturbed() && one.flags.is_empty(), "{one:?}");
        assert_eq!(one.attempt, 3, "the number of attempts");
        assert_eq!(one.disturbed.len(), 2, "their names stay known");
        assert_eq!(combined(&[]), None);
    }

    #[test]
    fn each_disturbed_pass_is_replaced_by_itself() {
        let attempts = [
            attempt(1, [600.0, 5.0], &["throughput"]),
            attempt(2, [900.0, 9.0], &["delay"]),
        ];
        let one = combined(&attempts).unwrap();
        assert_eq!(
            (one.metrics["throughput"], one.metrics["delay"]),
            (900.0, 5.0)
        );
        assert!(!one.is_disturbed());
        let replaced: Vec<_> = one.disturbed.iter().map(|pass| pass.replaced_by).collect();
        assert_eq!(replaced, [Some(2), Some(1)]);
    }

    #[test]
    fn a_pass_that_was_always_disturbed_stays_so() {
        let attempts = [1, 2].map(|number| attempt(number, [600.0, 5.0], &["throughput"]));
        let one = combined(&attempts).unwrap();
        assert!(one.is_disturbed());
        assert_eq!(one.flags, ["disturbed"]);
    }

    #[test]
    fn a_failed_attempt_counts_only_alone() {
        let mut failed = attempt(1, [0.0, 0.0], &[]);
        failed.failure = Some("late".into());
        failed.disturbed.push(DisturbedPass::of_trial("late"));
        let second = attempt(2, [600.0, 5.0], &["throughput"]);
        let one = combined(&[failed.clone(), second]).unwrap();
        assert_eq!((one.failure, one.metrics["delay"]), (None, 5.0));
        assert!(combined(&[failed]).unwrap().failure.is_some());
    }

    #[test]
    fn disturbed_values_are_left_out_unless_they_are_most() {
        let run = |disturbed: usize| -> Vec<Trial> {
            let mut trials: Vec<Trial> = (1..=8)
                .map(|repeat| Trial {
                    repeat,
                    ..attempt(1, [900.0, 5.0], &[])
                })
                .collect();
            for trial in &mut trials[..disturbed] {
                trial.disturbed.push(pass("throughput", &["throughput"]));
            }
            leave_out_disturbed(&mut trials);
            trials
        };
        let count = |trials: &[Trial], metric: &str| {
            let has = |trial: &&Trial| trial.metrics.contains_key(metric);
            trials.iter().filter(has).count()
        };
        for (disturbed, kept) in [(0, 8), (1, 7), (4, 4), (5, 8), (8, 8)] {
            let trials = run(disturbed);
            assert_eq!(count(&trials, "throughput"), kept, "{disturbed}");
            assert_eq!(count(&trials, "delay"), 8, "another pass");
        }
    }

    #[test]
    fn a_single_undisturbed_value_does_not_stand_alone() {
        let mut trials = vec![
            attempt(1, [600.0, 5.0], &["throughput"]),
            attempt(1, [900.0, 5.0], &[]),
        ];
        leave_out_disturbed(&mut trials);
        let metrics = trials.iter().map(|trial| trial.metrics.len());
        assert_eq!(metrics.collect::<Vec<_>>(), [2, 2]);
    }

    #[test]
    fn older_journals_have_only_the_flag_of_the_trial() {
        let old = r#"{"id":"c00-r01","factors":{"mtu":1500},"repeat":1,"seconds":0.5,
            "flags":["disturbed"],"metrics":{"throughput":900.0},"evidence":{}}"#;
        let trial: Trial = serde_json::from_str(old).unwrap();
        assert_eq!(trial.attempt, 1);
        assert!(trial.is_disturbed() && trial.is_disturbed_in("throughput"));
    }
}
