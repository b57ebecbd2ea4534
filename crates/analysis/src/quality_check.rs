//! The quality check of the instrument: the facts of a run, and whether its
//! results are reliable.

mod facts;
#[cfg(test)]
mod tests;
mod warning;

use std::fmt;

use plan::{Flag, RunFacts, Trial, evidence, metric};
use serde::Serialize;

use facts::describe;
pub use facts::word;
pub use warning::{Reason, Warning};

/// Whether a run's results are reliable, with the evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct QualityCheck {
    /// The faults, one line each.
    pub faults: Vec<String>,
    /// The warnings.
    pub warnings: Vec<Warning>,
    /// Notes that neither fail the quality check nor add a warning to it, one line
    /// each.
    pub notes: Vec<String>,
    /// Facts about program, machine and the trials' evidence, one line each.
    pub facts: Vec<String>,
}

/// The reliability of the results.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum State {
    /// They are reliable.
    Passed,
    /// The instrument worked, but something else may have changed the results.
    PassedWithWarnings,
    /// They are not reliable.
    Failed,
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Passed => "passed",
            Self::PassedWithWarnings => "passed with warnings",
            Self::Failed => "FAILED",
        })
    }
}

impl QualityCheck {
    /// The state: a fault fails the quality check, and a warning without a fault makes
    /// it pass with warnings.
    pub const fn state(&self) -> State {
        match (self.faults.is_empty(), self.warnings.is_empty()) {
            (false, _) => State::Failed,
            (true, false) => State::PassedWithWarnings,
            (true, true) => State::Passed,
        }
    }
}

/// The quality check of a run.
pub fn check_quality(facts: &RunFacts, trials: &[Trial]) -> QualityCheck {
    let finished: Vec<&Trial> = trials
        .iter()
        .filter(|trial| trial.failure.is_none())
        .collect();
    let (mut faults, mut notes) = (Vec::new(), Vec::new());
    let warnings = [
        Warning::of(Reason::Disturbed, finished.iter().copied()),
        Warning::of_any_cell(Reason::HostBound, &finished),
        Warning::of_any_cell(Reason::BelowLimit, &finished),
    ];
    if finished.is_empty() {
        faults.push("no trial finished: there is nothing to check".to_owned());
    }
    for flag in Flag::ALL {
        let flagged: Vec<&Trial> = finished
            .iter()
            .copied()
            .filter(|trial| carries(trial, flag))
            .collect();
        if let Some(first) = flagged.first() {
            let line = format!(
                "{flag}: {} in {} of {} trials, first {}{}",
                flag.meaning(),
                flagged.len(),
                finished.len(),
                first.id,
                detail(first, flag)
            );
            if flag.fails() {
                faults.push(line);
            } else {
                notes.push(line);
            }
        }
    }
    let mut unknown: Vec<&str> = finished
        .iter()
        .flat_map(|trial| &trial.flags)
        .map(String::as_str)
        .filter(|flag| flag.parse::<Flag>().is_err())
        .collect();
    unknown.sort_unstable();
    unknown.dedup();
    faults.extend(
        unknown
            .iter()
            .map(|flag| format!("{flag}: this program does not know the flag; use a newer one")),
    );
    let failed = trials.len() - finished.len();
    if let Some(why) = trials.iter().find_map(|trial| trial.failure.as_deref()) {
        notes.push(format!(
            "{failed} of {} trials failed and are in no figure; the first: {why}",
            trials.len()
        ));
    }
    notes.extend(
        { facts.judges_nothing() }.map(|why| format!("{why}: nothing that is published is judged")),
    );
    notes.extend(facts.resumed.iter().map(|resumed| {
        format!(
            "gone on with by force: version {}, build {}{}",
            resumed.version,
            resumed.binary,
            resumed
                .kernel
                .as_ref()
                .map_or_else(String::new, |kernel| format!(", {kernel}"))
        )
    }));
    QualityCheck {
        faults,
        warnings: warnings.into_iter().flatten().collect(),
        notes,
        facts: describe(facts, &finished),
    }
}

/// Goodput and the link's theoretical maximum in Mbit/s, if the first exceeds
/// the second by more than the error of stamps.
pub fn above_limit(trial: &Trial) -> Option<(f64, f64)> {
    let goodput = trial.metrics.of(&metric::THROUGHPUT)?;
    let limit = trial.number(evidence::LIMIT_MBIT)?;
    let late = trial.number(evidence::GOODPUT_LATE_PERCENT);
    let late = late.unwrap_or(0.0) / 100.0;
    (goodput > limit * (1.0 + meter::TOLERANCE + late)).then_some((goodput, limit))
}

/// Whether a trial has `flag`, or should have it: goodput is compared with the
/// limit again, so that a missing flag does not hide a fault.
fn carries(trial: &Trial, flag: Flag) -> bool {
    trial.flags.iter().any(|name| name == flag.as_str())
        || flag == Flag::AboveLimit && above_limit(trial).is_some()
}

fn detail(trial: &Trial, flag: Flag) -> String {
    let known = match flag {
        Flag::AboveLimit => above_limit(trial)
            .map(|(goodput, limit)| format!(" ({goodput:.1} of {limit:.1} Mbit/s)")),
        Flag::ProgramStamps => stamp_late(trial)
            .map(|late| format!("; times of single arrivals are resolved to {late:.0} us")),
        _ => None,
    };
    known.unwrap_or_default()
}

/// By how many microseconds the programs of both ends stamp arrivals late, if they do.
fn stamp_late(trial: &Trial) -> Option<f64> {
    let ends = [evidence::STAMP_LATE_US, evidence::ECHO_STAMP_LATE_US];
    let late = ends.into_iter().filter_map(|fact| trial.number(fact));
    late.reduce(f64::max)
}
