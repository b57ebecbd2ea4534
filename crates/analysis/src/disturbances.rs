//! How far other work on the machine disturbed a run.

use plan::Trial;

/// The trials of a run that other work disturbed, one trial for each repeat of a
/// cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Disturbances {
    /// All trials, failed ones included.
    pub trials: usize,
    /// Trials of which an attempt was disturbed.
    pub disturbed: usize,
    /// Further attempts at trials.
    pub repeated: usize,
    /// Trials with a pass that was disturbed in every attempt.
    pub left: usize,
}

impl Disturbances {
    /// The disturbances of `trials`, each the combination of its attempts
    /// ([`plan::attempts::combined`]).
    pub fn of(trials: &[Trial]) -> Self {
        let count = |matches: fn(&Trial) -> bool| {
            let matching = trials.iter().filter(|trial| matches(trial));
            matching.count()
        };
        Self {
            trials: trials.len(),
            disturbed: count(|trial| trial.is_disturbed() || !trial.disturbed.is_empty()),
            repeated: { trials.iter() }
                .map(|trial| trial.attempt.saturating_sub(1) as usize)
                .sum(),
            left: count(Trial::is_disturbed),
        }
    }
}

#[cfg(test)]
mod tests;
