//! The budget of a search.

use std::str::FromStr;

use anyhow::{Error, bail};
use units::{Span, Time};

/// The maximum extent of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// So many trials, those of earlier parts of the search included.
    Runs(usize),
    /// So much time of this part.
    Time(Span),
}

impl Budget {
    /// The part of the budget that `runs` trials since `begun` have used; 1 or
    /// more if it is used up.
    pub fn part(self, runs: usize, begun: Time, now: Time) -> f64 {
        match self {
            Self::Runs(most) => runs as f64 / most as f64,
            Self::Time(most) => {
                let spent = now.since(begun).unwrap_or_default();
                spent.as_secs_f64() / most.as_secs_f64()
            }
        }
    }
}

impl FromStr for Budget {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self, Error> {
        let runs = text.strip_prefix("runs=").map(str::parse);
        match (runs, humantime::parse_duration(text)) {
            (Some(Ok(runs)), _) if runs > 0 => Ok(Self::Runs(runs)),
            (None, Ok(time)) if time.as_secs() > 0 => {
                Ok(Self::Time(Span::from_secs(time.as_secs())))
            }
            _ => bail!(
                "--budget {}: write a time, for instance 10min or 2h, or a number of trials, runs=5000",
                text.escape_debug()
            ),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_is_a_time_or_a_number_of_runs() {
        assert_eq!("runs=50".parse::<Budget>().unwrap(), Budget::Runs(50));
        let minutes = "10min".parse::<Budget>().unwrap();
        assert_eq!(minutes, Budget::Time(Span::from_secs(600)));
        let (begun, later) = (Time::ZERO, Time::ZERO + Span::from_secs(150));
        assert_eq!(minutes.part(1, begun, later), 0.25);
        assert_eq!(Budget::Runs(50).part(100, begun, later), 2.0);
        for wrong in ["", "runs=", "runs=0", "runs=-1", "ten", "0s", "5"] {
            let error = wrong.parse::<Budget>().unwrap_err().to_string();
            assert!(error.contains("runs=5000"), "{error}");
        }
    }
}
