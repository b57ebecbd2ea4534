//! Reads shares and probabilities from options.

use anyhow::{Result, bail};

/// Parses a share of frames such as `0.1%` or 0 into a probability.
///
/// # Errors
/// One line that says what to write.
pub(super) fn share(text: &str) -> Result<f64> {
    let percent = match text {
        "0" => Some(0.0),
        _ => text
            .strip_suffix('%')
            .and_then(|number| number.trim().parse::<f64>().ok()),
    };
    match percent {
        Some(percent) if (0.0..=100.0).contains(&percent) => Ok(percent / 100.0),
        _ => bail!("write a share of frames in per cent, for instance 0.1%"),
    }
}

/// Parses a probability such as 1e-9.
///
/// # Errors
/// As [`share`].
pub(super) fn probability(text: &str) -> Result<f64> {
    match text.parse::<f64>() {
        Ok(number) if (0.0..=1.0).contains(&number) => Ok(number),
        _ => bail!("write a probability from 0 to 1, for instance 1e-9"),
    }
}
