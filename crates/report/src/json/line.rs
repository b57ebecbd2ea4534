//! Common parts of JSON lines.

use analysis::statistics::Mean;
use plan::{Flag, Trial};
use serde::Serialize;

/// An object as one line.
pub(crate) fn json_line(object: &impl Serialize) -> String {
    serde_json::to_string(object)
        .expect("a line holds only strings, numbers and maps with string keys")
}

/// Further fields of a mean that is a trimmed one; none of any other.
#[derive(Serialize)]
pub(super) struct Estimate {
    #[serde(skip_serializing_if = "Option::is_none")]
    estimate: Option<&'static str>,
    /// The mean of all trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    plain_mean: Option<f64>,
    /// The number of outliers among the trials.
    #[serde(skip_serializing_if = "Option::is_none")]
    outliers: Option<usize>,
}

impl Estimate {
    pub(super) fn of(mean: Option<&Mean>) -> Self {
        let trimmed = mean.and_then(|mean| mean.trimmed);
        Self {
            estimate: trimmed.map(|_| "trimmed mean"),
            plain_mean: trimmed.map(|trimmed| trimmed.plain),
            outliers: trimmed.map(|trimmed| trimmed.outliers),
        }
    }
}

/// Whether a flag of `trial` fails the certificate; unknown flags do.
pub(super) fn fails(trial: &Trial) -> bool {
    let flags = trial.flags.iter().map(|flag| flag.parse::<Flag>());
    flags.into_iter().any(|flag| flag.map_or(true, Flag::fails))
}
