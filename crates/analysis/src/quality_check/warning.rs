//! Reasons to warning figures although the instrument worked.

use std::collections::BTreeMap;
use std::fmt;

use plan::{Flag, Trial};

/// More than one trial out of this many makes a warning.
const MANY: usize = 10;

/// A warning about values, and the trials that it is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Warning {
    /// The reason.
    pub reason: Reason,
    /// The number of trials that it is about.
    pub trials: usize,
    /// The number of finished trials.
    pub of: usize,
}

/// The reasons of warnings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Other work on the machine disturbed values that count, because too few others
    /// remain.
    Disturbed,
    /// An end host used a whole CPU, so the host was measured and not the link.
    HostBound,
    /// Goodput is below half of what links, windows and hosts allow.
    BelowLimit,
}

impl Warning {
    /// The warning for this reason about `trials`, of which it must concern
    /// more than a tenth. A single disturbed value that counts is enough: without it the
    /// results would be others.
    pub fn of<'a>(reason: Reason, trials: impl IntoIterator<Item = &'a Trial>) -> Option<Self> {
        let warning = Self::counted(reason, trials);
        let many = match reason {
            Reason::Disturbed => 1,
            Reason::HostBound | Reason::BelowLimit => warning.of / MANY + 1,
        };
        (warning.trials >= many).then_some(warning)
    }

    /// As [`Warning::of`], but it is enough that more than a tenth of the trials of
    /// one cell are concerned.
    pub(super) fn of_any_cell(reason: Reason, trials: &[&Trial]) -> Option<Self> {
        if !trials.iter().any(|trial| is_about(reason, trial)) {
            return None;
        }
        let mut cells: BTreeMap<String, Vec<&Trial>> = BTreeMap::new();
        for trial in trials {
            let cell = cells.entry(trial.factors.to_string()).or_default();
            cell.push(trial);
        }
        cells
            .into_values()
            .any(|cell| Self::of(reason, cell).is_some())
            .then(|| Self::counted(reason, trials.iter().copied()))
    }

    /// The finished trials that the reason concerns, however few.
    pub fn counted<'a>(reason: Reason, trials: impl IntoIterator<Item = &'a Trial>) -> Self {
        let finished = trials.into_iter().filter(|trial| trial.failure.is_none());
        let (trials, of) = finished.fold((0, 0), |(about, all), trial| {
            (about + usize::from(is_about(reason, trial)), all + 1)
        });
        Self { reason, trials, of }
    }
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, trials, of } = self;
        match reason {
            Reason::Disturbed => write!(
                f,
                "approximate results: other work disturbed {trials} of {of} trials; repeat on an idle machine"
            ),
            Reason::HostBound => write!(
                f,
                "the host was measured, not the link: an end used a whole CPU in {trials} of {of} trials"
            ),
            Reason::BelowLimit => write!(
                f,
                "goodput is below half of what links, windows and hosts allow in {trials} of {of} trials; look at timeouts"
            ),
        }
    }
}

fn is_about(reason: Reason, trial: &Trial) -> bool {
    match reason {
        Reason::Disturbed => {
            let mut values = trial.metrics.keys();
            trial.is_disturbed() && values.any(|metric| trial.is_disturbed_in(metric))
        }
        Reason::HostBound => has(trial, Flag::CpuBound),
        Reason::BelowLimit => has(trial, Flag::BelowLimit),
    }
}

fn has(trial: &Trial, flag: Flag) -> bool {
    trial.flags.iter().any(|name| name == flag.as_str())
}
