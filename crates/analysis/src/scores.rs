//! How often a prober was right about paths whose faults are known.

use plan::Trial;

/// The metrics of a score: 100 in a trial that was right, 0 in one that was wrong.
pub const RIGHT: [&str; 3] = ["verdict_right", "mtu_right", "hop_right"];

/// The metrics of its cost.
pub const COST: [&str; 3] = ["probes", "probe_octets", "probe_time"];

/// The score of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The position of the cell in the plan.
    pub cell: usize,
    /// Finished trials.
    pub n: usize,
    /// Those that were right, for each metric of [`RIGHT`].
    pub right: [usize; 3],
    /// Medians of the metrics of [`COST`]; `None` if no trial has the metric.
    pub cost: [Option<f64>; 3],
}

impl Score {
    /// The score of a cell; `None` if no finished trial has one.
    fn of(cell: usize, trials: &[&Trial]) -> Option<Self> {
        let finished = trials.iter().filter(|trial| trial.failure.is_none());
        let scored: Vec<_> = finished
            .map(|trial| &trial.metrics)
            .filter(|metrics| RIGHT.iter().all(|name| metrics.contains_key(*name)))
            .collect();
        let values = |name| -> Vec<f64> {
            let of_trials = scored.iter().filter_map(|metrics| metrics.get(name));
            of_trials.copied().collect()
        };
        let score = Self {
            cell,
            n: scored.len(),
            right: RIGHT.map(|name| values(name).iter().filter(|value| **value > 50.0).count()),
            cost: COST.map(|name| median(values(name))),
        };
        (score.n > 0).then_some(score)
    }

    /// Trials that were wrong by the metric by which most of them were.
    pub fn wrong(&self) -> usize {
        let right = self.right.into_iter().min().unwrap_or_default();
        self.n - right
    }
}

/// The scores of all cells that have one, in the plan's order.
pub(crate) fn scores(by_cell: &[Vec<&Trial>]) -> Vec<Score> {
    let cells = by_cell.iter().enumerate();
    cells
        .filter_map(|(cell, trials)| Score::of(cell, trials))
        .collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let (low, high) = (
        values.get(values.len().checked_sub(1)? / 2)?,
        values.get(values.len() / 2)?,
    );
    Some(low.midpoint(*high))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(right: [f64; 3], probes: f64) -> Trial {
        let (_, mut trials) = plan::synthetic::study();
        let mut trial = trials.swap_remove(0);
        trial.failure = None;
        trial.metrics = RIGHT.into_iter().map(str::to_owned).zip(right).collect();
        trial.metrics.insert("probes".to_owned(), probes);
        trial
    }

    #[test]
    fn trials_that_were_right_are_counted_and_costs_have_medians() {
        let trials = [
            trial([100.0; 3], 60.0),
            trial([100.0, 100.0, 0.0], 70.0),
            trial([0.0, 100.0, 0.0], 90.0),
            trial([100.0; 3], 64.0),
        ];
        let cells = [Vec::new(), trials.iter().collect()];
        let score = Score {
            cell: 1,
            n: 4,
            right: [3, 4, 2],
            cost: [Some(67.0), None, None],
        };
        assert_eq!(score.wrong(), 2);
        assert_eq!(scores(&cells), [score]);
    }

    #[test]
    fn failed_trials_and_other_traffic_have_no_score() {
        let failed = Trial {
            failure: Some("no route".to_owned()),
            ..trial([100.0; 3], 60.0)
        };
        let (_, others) = plan::synthetic::study();
        let cells = [vec![&failed], others.iter().collect()];
        assert_eq!(scores(&cells), []);
    }
}
