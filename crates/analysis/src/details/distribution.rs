//! Means of the quantiles that trials hold.

use std::collections::BTreeMap;

use meter::streaming_recorder::SHARES;
use plan::evidence::{DELAY_QUANTILES, Fact, RTT_QUANTILES};

use crate::statistics::{Mean, mean};

/// The number of quantiles.
pub(super) const COUNT: usize = SHARES.len();

/// The quantiles at [`SHARES`] in milliseconds, means over trials.
pub type Quantiles = [Mean; COUNT];

/// The times of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Times {
    /// One-way delays.
    Delay,
    RoundTrip,
}

impl Times {
    /// All of them.
    pub(super) const ALL: [Self; 2] = [Self::Delay, Self::RoundTrip];

    /// The evidence that has the quantiles, by flow.
    pub(super) const fn evidence(self) -> Fact<BTreeMap<String, String>> {
        match self {
            Self::Delay => DELAY_QUANTILES,
            Self::RoundTrip => RTT_QUANTILES,
        }
    }
}

/// The quantiles of a flow in one trial; `None` unless it has all of them.
pub(super) fn of_trial(text: &str) -> Option<[f64; COUNT]> {
    let words = text.split_ascii_whitespace();
    let numbers: Option<Vec<f64>> = words.map(|word| word.parse().ok()).collect();
    numbers?.try_into().ok()
}

/// The means of the quantiles of many trials.
pub(super) fn means(trials: &[[f64; COUNT]]) -> Option<Quantiles> {
    let at = |place: usize| mean(&trials.iter().map(|one| one[place]).collect::<Vec<f64>>());
    let means: Option<Vec<Mean>> = (0..COUNT).map(at).collect();
    means?.try_into().ok()
}
