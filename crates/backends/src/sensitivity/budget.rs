//! The budget of a search.

use units::{Span, Time};

/// The maximum extent of a search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Budget {
    /// So many trials, those of earlier parts of the search included.
    Trials(usize),
    /// So much time of this part.
    Time(Span),
}

impl Budget {
    /// The part of the budget that `trials` trials since `begun` have used; 1 or
    /// more if it is used up.
    pub fn part(self, trials: usize, begun: Time, now: Time) -> f64 {
        match self {
            Self::Trials(most) => trials as f64 / most as f64,
            Self::Time(most) => {
                let spent = now.since(begun).unwrap_or_default();
                spent.as_secs_f64() / most.as_secs_f64()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_part_that_is_used_is_one_of_trials_or_of_time() {
        let minutes = Budget::Time(Span::from_secs(600));
        let (begun, later) = (Time::ZERO, Time::ZERO + Span::from_secs(150));
        assert_eq!(minutes.part(1, begun, later), 0.25);
        assert_eq!(Budget::Trials(50).part(100, begun, later), 2.0);
    }
}
