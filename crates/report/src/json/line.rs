//! Common parts of JSON lines.

use analysis::compare::Comparison;
use analysis::statistics::{Mean, Trimmed};
use plan::{Flag, Trial};
use serde::Serialize;

/// Further fields of a mean that is a trimmed or an approximate one, or does not count all
/// trials; none of any other.
#[derive(Default, Serialize)]
pub(super) struct Estimate {
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<&'static str>,
    #[serde(flatten)]
    trimmed: Option<Trimmed>,
    /// Whether it is approximate; absent if it is not.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    approximate: bool,
    /// The number of values that other work disturbed.
    #[serde(skip_serializing_if = "is_none")]
    disturbed: usize,
    /// The number of trials that do not count because other work disturbed them.
    #[serde(skip_serializing_if = "is_none")]
    left_out: usize,
}

impl Estimate {
    pub(super) fn of(mean: Option<&Mean>) -> Self {
        let trimmed = mean.and_then(|mean| mean.trimmed);
        Self {
            estimate: trimmed.map(|_| "trimmed_mean"),
            trimmed,
            approximate: mean.is_some_and(|mean| mean.is_approximate),
            ..Self::default()
        }
    }

    /// The estimate of a cell, with the number of its trials.
    pub(super) fn of_cell(cell: &Comparison) -> Self {
        Self {
            disturbed: cell.passes.disturbed,
            left_out: cell.passes.left_out,
            ..Self::of(cell.mean.as_ref())
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_none(count: &usize) -> bool {
    *count == 0
}

/// Whether a flag of `trial` fails the quality check; unknown flags do.
pub(super) fn fails(trial: &Trial) -> bool {
    let flags = trial.flags.iter().map(|flag| flag.parse::<Flag>());
    flags.into_iter().any(|flag| flag.map_or(true, Flag::fails))
}
