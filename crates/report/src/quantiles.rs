//! Means of the quantiles that trials hold.

use std::collections::BTreeSet;

use analysis::statistics::{Mean, mean};
use plan::Trial;
use proto::streaming_recorder::SHARES;

/// The times of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// One-way delays.
    Delay,
    /// Round trips.
    RoundTrip,
}

impl Kind {
    /// The evidence that has the quantiles, by flow.
    const fn evidence(self) -> &'static str {
        match self {
            Self::Delay => "delay_quantiles",
            Self::RoundTrip => "rtt_quantiles",
        }
    }

    /// The flows of which trials have quantiles.
    pub(crate) fn flows<'a>(self, trials: impl Iterator<Item = &'a Trial>) -> BTreeSet<String> {
        let all = trials.filter_map(|trial| trial.evidence.object(self.evidence()));
        all.flat_map(|flows| flows.into_iter().map(|(name, _)| name))
            .collect()
    }
}

/// The quantiles [`SHARES`] of a flow in milliseconds, means over `trials`; `None` if no
/// trial has them.
pub(crate) fn quantiles(trials: &[&Trial], kind: Kind, flow: &str) -> Option<[Mean; SHARES.len()]> {
    let of_trial = |trial: &&Trial| -> Option<[f64; SHARES.len()]> {
        let flows = trial.evidence.object(kind.evidence())?;
        let numbers = flows
            .get(flow)?
            .as_str()?
            .split_whitespace()
            .map(|word| word.parse().ok());
        let numbers: Option<Vec<f64>> = numbers.collect();
        numbers?.try_into().ok()
    };
    let all: Vec<[f64; SHARES.len()]> = trials.iter().filter_map(of_trial).collect();
    let at = |place: usize| mean(&all.iter().map(|one| one[place]).collect::<Vec<f64>>());
    let means: Option<Vec<Mean>> = (0..SHARES.len()).map(at).collect();
    means?.try_into().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{factors, trial};

    fn of(text: &str) -> Trial {
        let mut trial = trial(factors(1500), 1, &[]);
        let quantiles = serde_json::json!({ "a": text });
        trial.evidence.insert("delay_quantiles", quantiles);
        trial
    }

    #[test]
    fn quantiles_are_means_over_the_trials_that_have_all_of_them() {
        let trials = [
            of("1 2 3 4 5 6 7 8 9 10"),
            of("3 4 5 6 7 8 9 10 11 12"),
            of("1 2 3"),
            of("1 2 3 4 5 6 7 8 9 x"),
        ];
        let all: Vec<&Trial> = trials.iter().collect();
        let means = quantiles(&all, Kind::Delay, "a").unwrap();
        assert_eq!((means[0].n, means[0].mean, means[9].mean), (2, 2.0, 11.0));
        assert!(quantiles(&all, Kind::Delay, "b").is_none());
        assert!(quantiles(&all, Kind::RoundTrip, "a").is_none());
        assert!(quantiles(&all[2..], Kind::Delay, "a").is_none());
        assert_eq!(
            Kind::Delay.flows(trials.iter()),
            BTreeSet::from(["a".to_owned()])
        );
    }
}
