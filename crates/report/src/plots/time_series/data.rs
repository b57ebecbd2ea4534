//! Combines the time series of many trials.

use std::collections::BTreeSet;

use analysis::statistics::{Mean, mean};
use plan::{Trial, UNKNOWN};
use serde_json::Value;

use super::Quantity;

/// The maximum number of points of a line; more are indistinguishable and
/// enlarge the page.
const MOST_POINTS: usize = 1_000;

/// Means over trials, by interval.
pub(super) struct TimeSeries {
    /// The length of an interval in seconds; the last one may be shorter.
    interval: f64,
    /// `None`: no trial has a value.
    pub(super) means: Vec<Option<Mean>>,
}

impl TimeSeries {
    /// The starts of the intervals, and the end of the last one.
    pub(super) fn instants(&self) -> Vec<f64> {
        let bounds = (0..=self.means.len()).map(super::traces::number);
        bounds
            .map(|number| super::traces::rounded(number * self.interval))
            .collect()
    }
}

/// The names of links with time series.
pub(super) fn links(trials: &[Trial]) -> BTreeSet<String> {
    let series = trials
        .iter()
        .filter_map(|trial| trial.evidence.get("series")?.as_object());
    series.flat_map(|links| links.keys().cloned()).collect()
}

/// The time series of a quantity of `link` over `trials`; `None` if no trial
/// has it.
pub(super) fn series<'a>(
    trials: impl Iterator<Item = &'a Trial>,
    link: &str,
    quantity: Quantity,
) -> Option<TimeSeries> {
    let mut interval = None;
    // The trials' values by interval.
    let mut values: Vec<Vec<f64>> = Vec::new();
    for trial in trials {
        let Some(of_link) = trial
            .evidence
            .get("series")
            .and_then(|links| links.get(link))
        else {
            continue;
        };
        let Some(of_trial) = figures(of_link, quantity) else {
            continue;
        };
        interval = interval.or_else(|| of_link["interval_s"].as_f64());
        values.resize_with(values.len().max(of_trial.len()), Vec::new);
        for (all, value) in values.iter_mut().zip(of_trial) {
            all.extend(value);
        }
    }
    let interval = interval.filter(|interval| *interval > 0.0)?;
    // Merges neighbours if there are too many to distinguish.
    let together = values.len().div_ceil(MOST_POINTS).max(1);
    let means = values.chunks(together);
    let means: Vec<Option<Mean>> = means.map(|chunk| mean(&chunk.concat())).collect();
    let interval = interval * super::traces::number(together);
    (!means.is_empty()).then_some(TimeSeries { interval, means })
}

/// The values of one trial, by interval.
fn figures(of_link: &Value, quantity: Quantity) -> Option<Vec<Option<f64>>> {
    let numbers = |key: &str| -> Option<Vec<Option<f64>>> {
        let words = of_link.get(key)?.as_str()?.split_whitespace();
        let number = |word: &str| match word {
            UNKNOWN => None,
            word => word.parse().ok(),
        };
        Some(words.map(number).collect())
    };
    match quantity {
        Quantity::Queue => numbers("queue"),
        Quantity::Average => numbers("average"),
        Quantity::Drops => {
            let rate = |(drops, arrivals): (Option<f64>, Option<f64>)| {
                let arrivals = arrivals.filter(|arrivals| *arrivals > 0.0)?;
                Some(100.0 * drops? / arrivals)
            };
            let pairs = numbers("drops")?.into_iter().zip(numbers("arrivals")?);
            Some(pairs.map(rate).collect())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{factors, trial};

    fn of_series(repeat: u32, queue: &str, drops: &str, arrivals: &str) -> Trial {
        let mut trial = trial(factors(1500), repeat, &[]);
        let series = serde_json::json!({ "wire": {
            "interval_s": 0.5, "queue": queue, "drops": drops, "arrivals": arrivals,
        }});
        trial.evidence.insert("series".into(), series);
        trial
    }

    fn means(series: &TimeSeries) -> Vec<Option<f64>> {
        let mean = |mean: &Option<Mean>| mean.map(|mean| mean.mean);
        series.means.iter().map(mean).collect()
    }

    #[test]
    fn each_interval_has_the_mean_of_the_trials_that_can_tell() {
        let trials = [
            of_series(1, "1 2 3", "0 1 0", "4 2 0"),
            of_series(2, "2 4 0.5", "1 0 0", "4 2 0"),
        ];
        assert_eq!(links(&trials), BTreeSet::from(["wire".to_owned()]));
        let of = |quantity| series(trials.iter(), "wire", quantity);
        let queue = of(Quantity::Queue).unwrap();
        assert_eq!(means(&queue), [Some(1.5), Some(3.0), Some(1.75)]);
        assert_eq!(queue.instants(), [0.0, 0.5, 1.0, 1.5]);
        let drops = of(Quantity::Drops).unwrap();
        assert_eq!(means(&drops), [Some(12.5), Some(25.0), None]);
        assert!(of(Quantity::Average).is_none(), "drop-tail has none");
        assert!(series(trials.iter(), "other", Quantity::Queue).is_none());
    }

    #[test]
    fn what_cannot_be_told_apart_is_drawn_together() {
        let long = "7 ".repeat(2 * MOST_POINTS + 1);
        let trials = [of_series(1, &long, "", "")];
        let queue = series(trials.iter(), "wire", Quantity::Queue).unwrap();
        assert_eq!(queue.means.len(), (2 * MOST_POINTS + 1).div_ceil(3));
        assert_eq!(queue.instants()[1], 1.5);
        assert!(means(&queue).iter().all(|mean| *mean == Some(7.0)));
    }
}
