//! Several attempts at one trial, and which of them counts.
//!
//! A trial that other work on the machine disturbed is run again. Whether it was
//! disturbed depends on the machine alone and is decided before the result is
//! looked at, so the choice of an attempt is independent of its values.

use crate::{DisturbedPass, Flag, Trial};

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
            match other.evidence.parsed(name) {
                Some(value) => trial.evidence.set(name, value),
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
    fn older_journals_have_only_the_flag_of_the_trial() {
        let old = r#"{"id":"c00-r01","factors":{"mtu":1500},"repeat":1,"seconds":0.5,
            "flags":["disturbed"],"metrics":{"throughput":900.0},"evidence":{}}"#;
        let trial: Trial = serde_json::from_str(old).unwrap();
        assert_eq!(trial.attempt, 1);
        assert!(trial.is_disturbed() && trial.is_disturbed_in("throughput"));
    }
}
