//! Which passes of disturbed trials count, and which trials are worth another attempt.
//!
//! The choice depends on how many passes other work on the machine disturbed, and never
//! on a value.

use std::collections::{BTreeMap, BTreeSet};
use std::mem;

use plan::metric::Metric;
use plan::{COPY, Cell, Factors, Plan, Trial};
use units::Seed;

use crate::compare::by_cell;

/// The number of undisturbed values of a cell that stand alone.
pub const ENOUGH: usize = 5;

/// The trials behind the result of one metric.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Passes {
    /// Trials with a value that counts.
    pub used: usize,
    /// Those of them whose value other work disturbed.
    pub disturbed: usize,
    /// Trials whose value does not count because other work disturbed it.
    pub left_out: usize,
}

impl Passes {
    /// The passes of `metric` in the trials of one cell, after the choice of
    /// [`leave_out_disturbed`].
    pub fn of(metric: &Metric, trials: &[&Trial]) -> Self {
        let mut passes = Self::default();
        for trial in trials {
            let is_disturbed = trial.is_disturbed_in(metric.name);
            let counts = trial.failure.is_none() && trial.metrics.contains_key(metric.name);
            passes.used += usize::from(counts);
            passes.disturbed += usize::from(counts && is_disturbed);
            passes.left_out += usize::from(!counts && is_disturbed);
        }
        passes
    }

    /// Whether the result is approximate: other work disturbed some of its values.
    pub const fn is_approximate(self) -> bool {
        self.disturbed > 0
    }

    /// All trials, those left out included.
    pub const fn all(self) -> usize {
        self.used + self.left_out
    }

    /// Of both together.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self {
            used: self.used + other.used,
            disturbed: self.disturbed + other.disturbed,
            left_out: self.left_out + other.left_out,
        }
    }
}

/// The group of each cell of `plan`: cells that differ in the compared factor alone, and
/// copies of them, are compared with one another.
pub(crate) fn groups(plan: &Plan) -> Vec<usize> {
    let mut known: BTreeMap<String, usize> = BTreeMap::new();
    let group = |cell: &Cell| {
        let shared = cell.factors.0.iter();
        let shared = shared.filter(|(name, _)| *name != plan.compare.factor && name != COPY);
        let next = known.len();
        let key = Factors(shared.cloned().collect()).to_string();
        *known.entry(key).or_insert(next)
    };
    plan.cells.iter().map(group).collect()
}

/// Removes the values of disturbed passes from `trials` of `plan`, one trial for each
/// repeat of a cell, where enough other values remain.
///
/// A metric is decided for a group of compared cells at once: if each of them has
/// [`ENOUGH`] undisturbed values of the metric, or no disturbed one, the disturbed values
/// are removed. Otherwise all of them count, in every cell of the group: undisturbed
/// trials of one cell would differ from disturbed ones of another for that alone.
pub fn leave_out_disturbed(plan: &Plan, trials: &mut [Trial]) {
    if !trials.iter().any(Trial::is_disturbed) {
        return;
    }
    let groups = groups(plan);
    let cells = plan.cells.iter().map(|cell| cell.factors.to_string());
    let cells: BTreeMap<String, usize> = cells.zip(0..).collect();
    let cell = |trial: &Trial| cells.get(&trial.factors.to_string()).copied();
    // By cell and metric: the numbers of undisturbed and of disturbed values.
    let mut counts: BTreeMap<(usize, String), [usize; 2]> = BTreeMap::new();
    for trial in trials.iter().filter(|trial| trial.failure.is_none()) {
        let Some(cell) = cell(trial) else { continue };
        for metric in trial.metrics.keys() {
            let count = counts.entry((cell, metric.to_owned())).or_default();
            count[usize::from(trial.is_disturbed_in(metric))] += 1;
        }
    }
    let is_short = |[undisturbed, disturbed]: [usize; 2]| disturbed > 0 && undisturbed < ENOUGH;
    let short = counts.into_iter().filter(|&(_, counts)| is_short(counts));
    let short: BTreeSet<(usize, String)> = short
        .map(|((cell, metric), _)| (groups[cell], metric))
        .collect();
    for trial in trials.iter_mut().filter(|trial| trial.is_disturbed()) {
        let Some(cell) = cell(trial) else { continue };
        let mut metrics = mem::take(&mut trial.metrics);
        metrics.retain(|metric| {
            !trial.is_disturbed_in(metric) || short.contains(&(groups[cell], metric.to_owned()))
        });
        trial.metrics = metrics;
    }
}

/// A trial that is worth another attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Further {
    /// The position of its cell in the plan.
    pub cell: usize,
    /// Its repeat.
    pub repeat: u32,
    /// The number of the attempt.
    pub attempt: u32,
}

/// The next trial of `plan` to run again, given the combined attempts so far, and the
/// number of undisturbed values that are missing in all cells.
///
/// A cell lacks values until it has [`ENOUGH`] undisturbed ones of each metric, or one of
/// each repeat if the plan has fewer. The cell with the fewest comes first; of equals the
/// one with the fewest further attempts, then chance decides. `None` if no cell lacks
/// values that another attempt may supply.
pub fn next_attempt(plan: &Plan, trials: &[Trial]) -> Option<(Further, usize)> {
    if !trials.iter().any(Trial::is_disturbed) {
        return None;
    }
    let target = ENOUGH.min(plan.repeat as usize);
    let further = |trials: &[&Trial]| -> u32 {
        let further = trials.iter().map(|trial| trial.attempt.saturating_sub(1));
        further.sum()
    };
    let by_cell = by_cell(plan, trials);
    let round: u32 = by_cell.iter().map(|trials| further(trials)).sum();
    let short = by_cell.iter().enumerate().filter_map(|(cell, trials)| {
        let is_measured = plan.cells[cell].setting.is_ok();
        let (undisturbed, again) = fewest(trials).filter(|_| is_measured)?;
        let missing = target
            .checked_sub(undisturbed)
            .filter(|&missing| missing > 0)?;
        let tie = Seed::derive(plan.seed, &format!("order/{round}/{cell}")).get();
        let attempt = again.attempt.checked_add(1)?;
        let next = Further {
            cell,
            repeat: again.repeat,
            attempt,
        };
        Some(((undisturbed, further(trials), tie), next, missing))
    });
    let short: Vec<_> = short.collect();
    let missing = short.iter().map(|(_, _, missing)| missing).sum();
    let (_, next, _) = short.into_iter().min_by_key(|(order, _, _)| *order)?;
    Some((next, missing))
}

/// The number of undisturbed values of the metric of a cell that has the fewest of them
/// and disturbed ones besides, and the disturbed trial with the fewest attempts.
fn fewest<'a>(trials: &[&'a Trial]) -> Option<(usize, &'a Trial)> {
    let named = trials.iter().flat_map(|trial| {
        let of_passes = trial.disturbed.iter().flat_map(|pass| &pass.values);
        let of_passes = of_passes.map(String::as_str);
        trial.metrics.keys().chain(of_passes)
    });
    let mut names: BTreeSet<&str> = named.filter(|name| Metric::named(name).is_some()).collect();
    if names.is_empty() {
        // No attempt has left a value yet: any metric stands for all.
        names.insert("");
    }
    let of_metric = |name: &&str| {
        let disturbed = trials.iter().filter(|trial| trial.is_disturbed_in(name));
        let again = disturbed.min_by_key(|trial| (trial.attempt, trial.repeat))?;
        let sound = |trial: &&&Trial| {
            trial.failure.is_none()
                && trial.metrics.contains_key(name)
                && !trial.is_disturbed_in(name)
        };
        Some((trials.iter().filter(sound).count(), *again))
    };
    let found = names.iter().filter_map(of_metric);
    found.min_by_key(|(undisturbed, _)| *undisturbed)
}

#[cfg(test)]
mod tests;
