//! How often investigations were right about paths whose faults are known.

use plan::Trial;

/// The metrics of a score: 100 in a trial that was right, 0 in one that was wrong.
pub const RIGHT: [&str; 3] = ["verdict_right", "mtu_right", "hop_right"];

/// The metrics of its cost.
pub const COST: [&str; 3] = ["probes", "probe_bytes", "probe_time"];

/// The score of one cell.
#[derive(Clone, Debug, PartialEq)]
pub struct Score {
    /// The position of the cell in the plan.
    pub cell: usize,
    /// Finished trials.
    pub n: usize,
    /// The answers for each metric of [`RIGHT`].
    pub right: [Answers; 3],
    /// Medians of the metrics of [`COST`]; `None` if no trial has the metric.
    pub cost: [Option<f64>; 3],
    /// The reason why no trial finished.
    pub failure: Option<String>,
}

/// The answers to one question.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answers {
    /// Trials with the right answer.
    pub right: usize,
    /// Trials with an answer.
    pub given: usize,
}

impl Answers {
    /// Trials with a wrong answer.
    pub const fn wrong(self) -> usize {
        self.given - self.right
    }
}

impl Score {
    /// The score of a cell; `None` if no finished trial has one.
    fn of(cell: usize, trials: &[&Trial]) -> Option<Self> {
        let finished = trials.iter().filter(|trial| trial.failure.is_none());
        let scored: Vec<_> = finished
            .map(|trial| &trial.metrics)
            .filter(|metrics| RIGHT.iter().any(|name| metrics.contains_key(name)))
            .collect();
        let values = |name| -> Vec<f64> {
            let of_trials = scored.iter().filter_map(|metrics| metrics.get(name));
            of_trials.copied().collect()
        };
        let answers = |name| {
            let values = values(name);
            Answers {
                right: values.iter().filter(|value| **value > 50.0).count(),
                given: values.len(),
            }
        };
        let score = Self {
            cell,
            n: scored.len(),
            right: RIGHT.map(answers),
            cost: COST.map(|name| median(values(name))),
            failure: None,
        };
        (score.n > 0).then_some(score)
    }

    /// The score of a cell in which every trial failed, for the reason of the last one.
    fn of_failed(cell: usize, trials: &[&Trial]) -> Option<Self> {
        let all_failed = trials.iter().all(|trial| trial.failure.is_some());
        let last = trials.last().filter(|_| all_failed)?;
        Some(Self {
            cell,
            n: 0,
            right: [Answers::default(); 3],
            cost: [None; 3],
            failure: last.failure.as_deref().map(str::to_owned),
        })
    }

    /// Trials that were wrong by the metric by which most of them were.
    pub fn wrong(&self) -> usize {
        let wrong = self.right.into_iter().map(Answers::wrong);
        wrong.max().unwrap_or_default()
    }
}

/// The scores of all cells that have one, in the plan's order, with those whose trials
/// all failed.
pub(crate) fn scores(by_cell: &[Vec<&Trial>]) -> Vec<Score> {
    let cells = || by_cell.iter().enumerate();
    if !cells().any(|(cell, trials)| Score::of(cell, trials).is_some()) {
        return Vec::new();
    }
    let score = |(cell, trials): (usize, &Vec<&Trial>)| {
        Score::of(cell, trials).or_else(|| Score::of_failed(cell, trials))
    };
    cells().filter_map(score).collect()
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
        trial.metrics.insert("probes", probes);
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
            right: [3, 4, 2].map(|right| Answers { right, given: 4 }),
            cost: [Some(67.0), None, None],
            failure: None,
        };
        assert_eq!(score.wrong(), 2);
        assert_eq!(scores(&cells), [score]);
    }

    #[test]
    fn questions_without_an_answer_are_neither_right_nor_wrong() {
        let mut silent = trial([100.0; 3], 60.0);
        silent.metrics.remove("hop_right");
        let failed = Trial {
            failure: Some("the agent has ended".into()),
            ..trial([100.0; 3], 60.0)
        };
        let other = trial([100.0, 0.0, 0.0], 60.0);
        let cells = [vec![&silent, &other], vec![&failed]];
        let [score, not_run] = &scores(&cells)[..] else {
            panic!("two cells")
        };
        let hop = Answers { right: 0, given: 1 };
        assert_eq!((score.n, score.right[2], score.wrong()), (2, hop, 1));
        assert_eq!((not_run.n, not_run.wrong()), (0, 0));
        assert_eq!(not_run.failure.as_deref(), failed.failure.as_deref());
    }

    #[test]
    fn failed_trials_and_other_traffic_have_no_score() {
        let failed = Trial {
            failure: Some("no route".into()),
            ..trial([100.0; 3], 60.0)
        };
        let (_, others) = plan::synthetic::study();
        let cells = [vec![&failed], others.iter().collect()];
        assert_eq!(scores(&cells), []);
    }
}
