//! The progress of a run.

use analysis::compare::{Comparison, by_cell, estimator, in_cell};
use plan::metric::Metric;
use plan::{Plan, Trial};

use crate::figure;

/// The metrics whose means are shown during a run: the first one that is
/// measured.
const WATCHED: [&str; 2] = ["throughput", "delay"];

/// The maximum number of cells to show; more would fill the screen each time.
const MOST_CELLS: usize = 200;

/// The running means of the watched metric with their 95 % intervals: a line
/// for each cell that has trials, figures under one another. Of a plan with many
/// cells there are none.
pub fn progress(plan: &Plan, trials: &[Trial]) -> Vec<String> {
    if plan.cells.len() > MOST_CELLS {
        return Vec::new();
    }
    let measured = |name: &&&str| {
        let here = |trial: &Trial| trial.metrics.contains_key(**name);
        trials.iter().any(here)
    };
    let Some(metric) = WATCHED
        .iter()
        .find(measured)
        .and_then(|name| Metric::named(name))
    else {
        return Vec::new();
    };
    let by_cell = by_cell(plan, trials);
    let estimator = estimator(plan, metric, &by_cell);
    let cells: Vec<Comparison> = plan
        .cells
        .iter()
        .enumerate()
        .zip(&by_cell)
        .map(|(cell, trials)| in_cell(plan, metric, cell, trials, estimator))
        .filter(|cell| cell.n > 0)
        .collect();
    let mut means: Vec<String> = cells.iter().map(figure::mean).collect();
    figure::align(&mut means);
    let widest = |texts: &[String]| texts.iter().map(|text| text.chars().count()).max();
    let names: Vec<String> = cells.iter().map(|cell| cell.factors.to_string()).collect();
    let (name, mean) = (widest(&names).unwrap_or(0), widest(&means).unwrap_or(0));
    cells
        .iter()
        .zip(names.iter().zip(&means))
        .map(|(cell, (factors, text))| {
            format!(
                "{factors:name$}  {text:mean$} {}  ({} trials)",
                metric.unit, cell.n
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::study;

    #[test]
    fn each_cell_with_trials_has_a_line_and_figures_line_up() {
        let (plan, trials) = study();
        assert_eq!(
            progress(&plan, &trials[..3]),
            [
                "scenario=LU-LU offloads=off mtu=1500  948 ± 13 Mbit/s  (2 trials)",
                "scenario=LU-LU offloads=off mtu=9000  988      Mbit/s  (1 trials)",
            ]
        );
        assert!(progress(&plan, &[]).is_empty());
    }
}
