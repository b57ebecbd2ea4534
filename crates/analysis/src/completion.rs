//! Whether a run has all the trials that its plan asks for.

use std::borrow::Cow;

use plan::metric::{METRICS, Metric};
use plan::{Plan, Trial, Until};

use crate::compare::{by_cell, estimators, values};
use crate::passes::leave_out_disturbed;
use crate::statistics::{Estimator, Interval};

/// The minimum number of trials: an interval of fewer can be narrow by chance.
const FEWEST: usize = 5;

/// Whether no trial of `plan` is left to run.
pub fn complete(plan: &Plan, trials: &[Trial]) -> bool {
    plan.finished_trials(trials) == plan.expected_trials() || enough(plan, trials)
}

/// Whether `trials` are complete repeats and meet the plan's stop condition.
pub fn enough(plan: &Plan, trials: &[Trial]) -> bool {
    let Some(until) = plan.until else {
        return false;
    };
    let measured = plan.cells.iter().filter(|cell| cell.setting.is_ok());
    let repeats = trials.iter().map(|trial| trial.repeat).max().unwrap_or(0);
    // Every cell has each repeat at most once: counting is enough.
    let all = measured.flat_map(|_| 1..=repeats).count();
    repeats > 0 && trials.len() == all && met(until, plan, trials)
}

/// Whether `trials`, complete repeats of `plan`, meet the condition `until`.
fn met(until: Until, plan: &Plan, trials: &[Trial]) -> bool {
    let of_tables = |metric: &&Metric| {
        let measured = |trial: &Trial| trial.metrics.contains_key(metric.name);
        plan.leads(metric) && trials.iter().any(measured)
    };
    let metrics: Vec<&Metric> = match until.metric {
        Some(one) => vec![one],
        None => METRICS.iter().filter(of_tables).collect(),
    };
    let mut trials = Cow::Borrowed(trials);
    if trials.iter().any(Trial::is_disturbed) {
        leave_out_disturbed(plan, trials.to_mut());
    }
    let by_cell = by_cell(plan, &trials);
    let narrow = |metric: &&Metric| {
        let estimators = estimators(plan, metric, &by_cell).into_iter();
        let mut cells = plan.cells.iter().zip(&by_cell).zip(estimators);
        cells.all(|((cell, trials), estimator)| {
            cell.setting.is_err() || narrow(until, &values(metric, trials), estimator)
        })
    };
    !metrics.is_empty() && metrics.iter().all(narrow)
}

fn narrow(until: Until, values: &[f64], estimator: Estimator) -> bool {
    let half = |ci95: Option<Interval>| ci95.map(Interval::half);
    values.len() >= FEWEST
        && estimator.estimate(values).is_some_and(|mean| {
            half(mean.ci95).is_some_and(|half| half <= mean.mean.abs() * until.percent / 100.0)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::statistics::mean;
    use plan::synthetic::{Normal, cell, factors, plan, trial};

    fn trials(mtu: i64, values: &[f64]) -> Vec<Trial> {
        (1..)
            .zip(values)
            .map(|(repeat, &value)| trial(factors(mtu), repeat, &[("throughput", value)]))
            .collect()
    }

    #[test]
    fn every_cell_has_to_be_narrow_and_five_trials_are_the_least() {
        let plan = plan(
            vec![cell(factors(1500)), cell(factors(9000))],
            20,
            Vec::new(),
        );
        let until: Until = "ci <= 2%".parse().unwrap();
        let narrow = [100.0, 101.0, 100.0, 99.0, 100.0];
        let wide = [100.0, 120.0, 80.0, 99.0, 101.0];
        let run = |a: &[f64], b: &[f64]| [trials(1500, a), trials(9000, b)].concat();
        assert!(met(until, &plan, &run(&narrow, &narrow)));
        assert!(!met(until, &plan, &run(&narrow, &wide)));
        assert!(!met(until, &plan, &run(&narrow[..4], &narrow[..4])));
        assert!(!met(until, &plan, &run(&narrow, &[])));
        assert!(!met(until, &plan, &[]));
        let of_delay: Until = "delay ci <= 2%".parse().unwrap();
        assert!(
            !met(of_delay, &plan, &run(&narrow, &narrow)),
            "not measured"
        );
    }

    #[test]
    fn a_run_is_enough_with_whole_repeats_only() {
        let mut plan = plan(
            vec![cell(factors(1500)), cell(factors(9000))],
            20,
            Vec::new(),
        );
        let narrow = [100.0, 101.0, 100.0, 99.0, 100.0, 100.0];
        let run = |n: usize| [trials(1500, &narrow), trials(9000, &narrow[..n])].concat();
        assert!(!enough(&plan, &run(6)), "without a condition");
        plan.until = Some("ci <= 2%".parse().unwrap());
        assert!(enough(&plan, &run(6)));
        assert!(!enough(&plan, &run(5)), "a trial of the sixth is missing");
        assert!(!enough(&plan, &[]));
    }

    #[test]
    fn an_outlier_does_not_keep_a_run_going() {
        let plan = plan(vec![cell(factors(1500))], 20, Vec::new());
        let until: Until = "ci <= 2%".parse().unwrap();
        let stalled = [100.0, 100.4, 64.0, 100.3, 99.8, 99.9, 100.1, 99.7];
        assert!(met(until, &plan, &trials(1500, &stalled)));
    }

    #[test]
    fn a_run_that_stopped_early_still_covers() {
        let plan = plan(vec![cell(factors(1500))], 200, Vec::new());
        let until: Until = "ci <= 2%".parse().unwrap();
        let mut normal = Normal::new(5);
        let held = (0..300).filter(|_| {
            let values = normal.sample(200, 100.0, 5.0);
            let all = trials(1500, &values);
            let n = (FEWEST..200)
                .find(|&n| met(until, &plan, &all[..n]))
                .unwrap();
            mean(&values[..n]).unwrap().ci95.unwrap().holds(100.0)
        });
        assert!(held.count() >= 270, "at least 90 of 100");
    }
}
