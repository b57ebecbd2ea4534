//! Paired differences between cells and their baseline. In virtual networks all
//! trials of one repeat have the same seed, so the differences of such pairs
//! are more precise than those of the means [Fisher1935].

use std::collections::BTreeMap;

use plan::metric::Metric;
use plan::{Factors, Plan, Trial};

use crate::compare::{baselines, by_cell};
use crate::statistics::{self, Mean};

/// A cell with its changes.
#[derive(Clone, Debug)]
pub struct Paired<'a> {
    pub factors: &'a Factors,
    /// For each metric of [`Plan::paired`] the mean difference from the
    /// baseline over the repeats that both have.
    pub changes: Vec<Option<Mean>>,
}

/// The metrics with paired differences.
pub fn metrics(plan: &Plan) -> Vec<&'static Metric> {
    let names = plan.paired.iter();
    names.filter_map(|name| Metric::named(name)).collect()
}

/// Each cell that has a baseline other than itself, in the plan's order.
pub fn paired<'a>(plan: &'a Plan, trials: &[Trial]) -> Vec<Paired<'a>> {
    let metrics = metrics(plan);
    if metrics.is_empty() {
        return Vec::new();
    }
    let by_cell = by_cell(plan, trials);
    let cells = plan.cells.iter().enumerate();
    let pairs = cells
        .zip(baselines(plan))
        .filter_map(|((position, cell), base)| {
            let base = base.filter(|&base| base != position)?;
            let change = |metric: &&'static Metric| {
                let values = |cell: usize| by_repeat(metric.name, &by_cell[cell]);
                statistics::mean(&differences(&values(base), &values(position)))
            };
            Some(Paired {
                factors: &cell.factors,
                changes: metrics.iter().map(change).collect(),
            })
        });
    pairs.collect()
}

/// The mean difference of `other` from `base` over the repeats of both.
fn differences(base: &BTreeMap<u32, f64>, other: &BTreeMap<u32, f64>) -> Vec<f64> {
    let pairs = base.iter();
    pairs
        .filter_map(|(repeat, own)| Some(other.get(repeat)? - own))
        .collect()
}

/// A metric in the trials that finished, by repeat.
fn by_repeat(metric: &str, trials: &[&Trial]) -> BTreeMap<u32, f64> {
    let finished = trials.iter().filter(|trial| trial.failure.is_none());
    finished
        .filter_map(|trial| Some((trial.repeat, *trial.metrics.get(metric)?)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{cell, factors, plan, trial};

    #[test]
    fn what_both_cells_draw_alike_is_in_no_interval() {
        let cells = vec![cell(factors(1500)), cell(factors(9000))];
        let mut plan = plan(cells, 3, Vec::new());
        plan.paired = vec!["loss".into(), "throughput".into()];
        let mut trials = Vec::new();
        for (repeat, shared) in (1..).zip([10.0, 50.0, 90.0]) {
            let noise = shared / 1000.0;
            trials.push(trial(factors(1500), repeat, &[("loss", shared)]));
            trials.push(trial(
                factors(9000),
                repeat,
                &[("loss", shared + 2.0 + noise)],
            ));
        }
        // Repeats that one cell lacks and failed ones are in no pair.
        trials.push(trial(factors(9000), 4, &[("loss", 1e6)]));
        let mut failed = trial(factors(1500), 4, &[("loss", 0.0)]);
        failed.failure = Some("it broke".into());
        trials.push(failed);
        let [pair] = &paired(&plan, &trials)[..] else {
            panic!("one cell has a baseline")
        };
        assert_eq!(pair.factors, &factors(9000));
        let change = pair.changes[0].unwrap();
        assert_eq!(change.n, 3);
        assert!((change.mean - 2.05).abs() < 1e-9);
        assert!(change.ci95.unwrap().half() < 0.1, "{change:?}");
        assert_eq!(pair.changes[1], None);
        plan.paired.clear();
        assert!(paired(&plan, &trials).is_empty());
    }
}
