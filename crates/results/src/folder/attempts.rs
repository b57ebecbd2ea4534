//! The trials of a folder, with all attempts at those that were run again.

use std::collections::BTreeMap;
use std::sync::Arc;

use plan::attempts::combined;
use plan::{Factors, Shared, Trial};

/// A cell by its number in [`Attempts::cells`], and a repeat.
type TrialKey = (usize, u32);

/// The trials of a folder.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    /// One trial for each repeat of a cell, in order of the first attempts.
    trials: Vec<Trial>,
    /// The place of each of them.
    places: BTreeMap<TrialKey, usize>,
    /// All attempts at trials whose first one may be replaced.
    all: BTreeMap<TrialKey, Vec<Trial>>,
    /// The cells by their factors as text: numbers in order of their first trials,
    /// and the factors, which their trials share.
    cells: BTreeMap<String, (usize, Arc<Factors>)>,
    /// The names of values, which trials share.
    names: Shared,
}

impl Attempts {
    /// Adds an attempt. The same attempt twice counts once: a full run in
    /// addition to a shard may have repeated the same trial, with the same
    /// result.
    pub(super) fn take(&mut self, mut trial: Trial) {
        self.names.share(&mut trial);
        let number = self.cells.len();
        let new = || (number, Arc::clone(&trial.factors));
        let (cell, factors) = self
            .cells
            .entry(trial.factors.to_string())
            .or_insert_with(new);
        if *factors == trial.factors {
            trial.factors = Arc::clone(factors);
        }
        let key = (*cell, trial.repeat);
        let Some(&place) = self.places.get(&key) else {
            self.places.insert(key, self.trials.len());
            self.trials.push(trial);
            return;
        };
        let known = &self.trials[place];
        if trial.attempt <= known.attempt {
            return;
        }
        let first = || vec![known.clone()];
        let attempts = self.all.entry(key).or_insert_with(first);
        attempts.push(trial);
        if let Some(one) = combined(attempts) {
            self.trials[place] = one;
        }
    }

    /// Whether there is an attempt at this repeat of a cell.
    pub(super) fn holds(&self, factors: &Factors, repeat: u32) -> bool {
        let cell = self.cells.get(&factors.to_string());
        cell.is_some_and(|(cell, _)| self.places.contains_key(&(*cell, repeat)))
    }

    /// One trial for each repeat of a cell, the combination of its attempts.
    pub(super) fn trials(&self) -> &[Trial] {
        &self.trials
    }

    /// Reorders the trials.
    pub(super) fn sort(&mut self, into_order: impl FnOnce(&mut [Trial])) {
        into_order(&mut self.trials);
        for (place, trial) in self.trials.iter().enumerate() {
            if let Some((cell, _)) = self.cells.get(&trial.factors.to_string()) {
                self.places.insert((*cell, trial.repeat), place);
            }
        }
    }

    /// The same trials, to change them once all attempts are there.
    pub(super) fn trials_mut(&mut self) -> &mut [Trial] {
        &mut self.trials
    }

    /// The same trials alone.
    pub(super) fn combined(self) -> Vec<Trial> {
        self.trials
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::DisturbedPass;
    use plan::synthetic::{factors, trial};

    #[test]
    fn a_later_attempt_replaces_a_disturbed_one_in_its_place() {
        let of = |repeat, attempt, value| Trial {
            attempt,
            ..trial(factors(1500), repeat, &[("throughput", value)])
        };
        let mut disturbed = of(1, 1, 600.0);
        disturbed
            .disturbed
            .push(DisturbedPass::of_trial("steal 20 %"));
        let mut attempts = Attempts::default();
        for trial in [
            disturbed.clone(),
            of(2, 1, 905.0),
            of(1, 2, 900.0),
            disturbed,
            of(1, 2, 1.0),
        ] {
            attempts.take(trial);
        }
        let found = attempts.combined();
        let values: Vec<_> = { found.iter() }
            .map(|trial| (trial.repeat, trial.attempt, trial.metrics["throughput"]))
            .collect();
        assert_eq!(values, [(1, 2, 900.0), (2, 1, 905.0)]);
    }
}
