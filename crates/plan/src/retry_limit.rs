//! How far a run repeats trials that other work on the machine disturbed.

use std::fmt;
use std::str::FromStr;

use units::Span;

/// `"50%, 10min"`: a limit of the further trials, in per cent of the trials of
/// the plan, and a limit of their time; `"none"`: no further trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RetryLimit {
    /// Further trials in per cent of the trials of the plan.
    pub percent: u32,
    /// The time for further trials and for waits until the machine is idle.
    pub time: Span,
}

/// The most further trials in per cent of the trials of the plan.
const MOST_PERCENT: u32 = 10_000;

impl Default for RetryLimit {
    /// Half as many trials again, and ten minutes.
    fn default() -> Self {
        Self {
            percent: 50,
            time: Span::from_secs(600),
        }
    }
}

impl RetryLimit {
    /// No further trial and no wait.
    pub const NONE: Self = Self {
        percent: 0,
        time: Span::ZERO,
    };

    /// The most further trials of a plan of `trials` trials.
    pub fn further_trials(self, trials: usize) -> usize {
        trials.saturating_mul(self.percent as usize).div_ceil(100)
    }
}

impl FromStr for RetryLimit {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let right = || "write retry_limit = \"50%, 10min\" or \"none\"".to_owned();
        if text.trim() == "none" {
            return Ok(Self::NONE);
        }
        let (percent, time) = text.split_once(',').ok_or_else(right)?;
        let percent = percent.trim().strip_suffix('%').ok_or_else(right)?;
        let percent: u32 = percent.trim().parse().map_err(|_| right())?;
        if percent > MOST_PERCENT {
            return Err(format!("write at most {MOST_PERCENT} %"));
        }
        let time = time.trim().parse().map_err(|_| right())?;
        Ok(Self { percent, time })
    }
}

impl fmt::Display for RetryLimit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self == Self::NONE {
            true => f.write_str("none"),
            false => write!(f, "{}%, {}", self.percent, self.time),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_limit_reads_what_it_prints() {
        for retry_limit in [RetryLimit::default(), RetryLimit::NONE] {
            assert_eq!(retry_limit.to_string().parse(), Ok(retry_limit));
        }
        assert_eq!("50%, 10min".parse(), Ok(RetryLimit::default()));
    }

    #[test]
    fn other_text_is_rejected_with_an_example() {
        for text in [
            "",
            "50%",
            "10min",
            "50, 10min",
            "-1%, 1s",
            "1%, soon",
            "99999%, 1s",
        ] {
            let error = text.parse::<RetryLimit>().unwrap_err();
            assert!(error.starts_with("write"), "{text}: {error}");
        }
    }

    #[test]
    fn few_trials_may_be_repeated_too() {
        let further = |trials| RetryLimit::default().further_trials(trials);
        assert_eq!([0, 1, 3, 120].map(further), [0, 1, 2, 60]);
        assert_eq!(RetryLimit::NONE.further_trials(120), 0);
    }
}
