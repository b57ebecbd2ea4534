//! Recorded figures.

use analysis::statistics::Interval;
use serde::{Deserialize, Serialize};

/// Significant digits of recorded figures.
const DIGITS: usize = 4;

/// A figure and its 95 % interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// The figure.
    pub value: f64,
    /// Its interval, if there is one.
    pub interval: Option<[f64; 2]>,
}

/// A figure, rounded with its interval.
pub(super) fn measured(value: f64, interval: Option<Interval>) -> Measured {
    Measured {
        value: rounded(value),
        interval: interval.map(|interval| [rounded(interval.low), rounded(interval.high)]),
    }
}

/// A figure, rounded to [`DIGITS`] significant digits.
pub(super) fn rounded(value: f64) -> f64 {
    let text = format!("{value:.*e}", DIGITS - 1);
    text.parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_keep_four_digits() {
        assert_eq!(rounded(1234.56), 1235.0);
        assert_eq!(rounded(-0.000_123_456), -0.000_123_5);
        assert_eq!(rounded(0.0), 0.0);
    }
}
