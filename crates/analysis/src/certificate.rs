//! The certificate of the instrument: the facts of a run, and whether its
//! results are reliable.

mod facts;
#[cfg(test)]
mod tests;

use plan::{Flag, RunFacts, Trial};

use facts::describe;
pub use facts::word;

/// One disturbed trial out of this many causes a warning on the first screen.
const MANY: usize = 5;

/// Whether a run's results are reliable, with the evidence.
#[derive(Clone, Debug, PartialEq)]
pub struct Certificate {
    /// Whether no fault was found.
    pub passed: bool,
    /// A warning that every reader should see although the certificate passed.
    pub warning: Option<String>,
    /// The faults, one line each.
    pub faults: Vec<String>,
    /// Notes that do not fail the certificate, one line each.
    pub notes: Vec<String>,
    /// Facts about program, machine and the trials' evidence, one line each.
    pub facts: Vec<String>,
}

/// The certificate of a run.
pub fn certify(facts: &RunFacts, trials: &[Trial]) -> Certificate {
    let finished: Vec<&Trial> = trials
        .iter()
        .filter(|trial| trial.failure.is_none())
        .collect();
    let (mut faults, mut notes) = (Vec::new(), Vec::new());
    let disturbed = finished
        .iter()
        .filter(|trial| carries(trial, Flag::Disturbed));
    let disturbed = disturbed.count();
    let warning = (disturbed * MANY > finished.len()).then(|| {
        format!(
            "other work disturbed {disturbed} of {} trials: let the machine be idle and run again",
            finished.len()
        )
    });
    if finished.is_empty() {
        faults.push("no trial finished: there is nothing to certify".to_owned());
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
    Certificate {
        passed: faults.is_empty(),
        warning,
        faults,
        notes,
        facts: describe(facts, &finished),
    }
}

/// Goodput and the link's theoretical maximum in Mbit/s, if the first exceeds
/// the second by more than the error of stamps.
pub fn above_limit(trial: &Trial) -> Option<(f64, f64)> {
    let goodput = *trial.metrics.get("throughput")?;
    let limit = trial.number("limit_mbit")?;
    let late = trial.number("goodput_late_percent").unwrap_or(0.0) / 100.0;
    (goodput > limit * (1.0 + proto::TOLERANCE + late)).then_some((goodput, limit))
}

/// Whether a trial has `flag`, or should have it: goodput is compared with the
/// limit again, so that a missing flag does not hide a fault.
fn carries(trial: &Trial, flag: Flag) -> bool {
    trial.flags.iter().any(|name| name == flag.as_str())
        || flag == Flag::AboveLimit && above_limit(trial).is_some()
}

fn detail(trial: &Trial, flag: Flag) -> String {
    match above_limit(trial).filter(|_| flag == Flag::AboveLimit) {
        Some((goodput, limit)) => format!(" ({goodput:.1} of {limit:.1} Mbit/s)"),
        None => String::new(),
    }
}
