//! Joins runs of one experiment in several backends.

use plan::metric::{Metric, position};
use plan::{Cell, Factors, Level, Plan, Trial};

use crate::Findings;
use crate::compare::{Comparison, find, in_cell, same_factors};
use crate::statistics::Estimator;

/// The factor that distinguishes the cells of different runs.
pub const BACKEND: &str = "backend";

/// Runs of one experiment, joined into one.
#[derive(Clone, Debug)]
pub struct AcrossBackends {
    /// The name of each run: its backend, with a number if two runs share one.
    pub names: Vec<String>,
    /// The cells of all runs, run by run, each with the additional first factor
    /// [`BACKEND`]. Everything else is from the first run.
    pub plan: Plan,
    /// The trials of all runs.
    pub trials: Vec<Trial>,
    /// By metric in the catalogue's order, then by cell: each run compared with
    /// its own baselines, as in its own report.
    pub comparisons: Vec<Comparison>,
}

/// One metric at one combination of levels, in all runs.
#[derive(Clone, Debug)]
pub struct Row<'a> {
    /// The levels, without the backend.
    pub factors: Factors,
    /// By run; `None` for runs without such a cell.
    pub of_runs: Vec<Option<&'a Comparison>>,
}

/// Joins `runs`.
///
/// # Errors
/// One line of text if they are runs of different experiments, or compare along
/// different factors or with different baselines.
pub fn across_backends(runs: &[&Findings<'_>]) -> Result<AcrossBackends, String> {
    let first = runs.first().ok_or("no run to report")?.plan;
    for run in runs {
        let plan = run.plan;
        alike("experiments", &first.name, &plan.name)?;
        alike(
            "compared factors",
            &first.compare.factor,
            &plan.compare.factor,
        )?;
        let baseline = |plan: &Plan| plan.compare.baseline.to_string();
        alike("baselines", &baseline(first), &baseline(plan))?;
    }
    let names = names(runs);
    let mut all = AcrossBackends {
        plan: Plan {
            cells: Vec::new(),
            ..first.clone()
        },
        names,
        trials: Vec::new(),
        comparisons: Vec::new(),
    };
    let mut metrics: Vec<&'static Metric> = Vec::new();
    for comparison in runs.iter().flat_map(|run| &run.comparisons) {
        if !metrics.contains(&comparison.metric) {
            metrics.push(comparison.metric);
        }
    }
    metrics.sort_by_key(|metric| position(metric));
    for metric in metrics {
        let mut before = 0;
        for (name, run) in all.names.iter().zip(runs) {
            let plan = run.plan;
            let of_cells = plan.cells.iter().enumerate().map(|(position, cell)| {
                let found = find(&run.comparisons, metric, position).cloned();
                let mut found = found.unwrap_or_else(|| {
                    in_cell(plan, metric, (position, cell), &[], Estimator::Mean)
                });
                found.cell = before + position;
                found.factors = in_backend(name, &found.factors);
                found
            });
            all.comparisons.extend(of_cells);
            before += plan.cells.len();
        }
    }
    for (name, run) in all.names.iter().zip(runs) {
        let plan = run.plan;
        all.plan.cells.extend(plan.cells.iter().map(|cell| Cell {
            factors: in_backend(name, &cell.factors),
            setting: cell.setting.clone(),
        }));
        all.trials.extend(run.trials.iter().map(|trial| Trial {
            id: format!("{name} {}", trial.id).into(),
            factors: in_backend(name, &trial.factors).into(),
            ..trial.clone()
        }));
        if all.plan.published.is_empty() {
            all.plan.published.clone_from(&plan.published);
        }
    }
    Ok(all)
}

impl AcrossBackends {
    /// The metrics, in the catalogue's order.
    pub fn metrics(&self) -> Vec<&'static Metric> {
        let mut metrics: Vec<&'static Metric> = Vec::new();
        for comparison in &self.comparisons {
            if metrics.last() != Some(&comparison.metric) {
                metrics.push(comparison.metric);
            }
        }
        metrics
    }

    /// The rows of `metric` that at least one run measured, ordered so that
    /// rows that differ only in the compared factor are together.
    pub fn rows(&self, metric: &Metric) -> Vec<Row<'_>> {
        let mut rows: Vec<Row<'_>> = Vec::new();
        let of_metric = self.comparisons.iter().filter(|row| row.metric == metric);
        for comparison in of_metric {
            let (run, factors) = self.split(&comparison.factors);
            let row = match rows
                .iter()
                .position(|row| same_factors(&row.factors, &factors))
            {
                Some(position) => position,
                None => {
                    let of_runs = vec![None; self.names.len()];
                    rows.push(Row { factors, of_runs });
                    rows.len() - 1
                }
            };
            if let Some(place) = run.and_then(|run| rows[row].of_runs.get_mut(run)) {
                *place = Some(comparison);
            }
        }
        rows.retain(|row| row.of_runs.iter().flatten().any(|of_run| of_run.n > 0));
        let compared = &self.plan.compare.factor;
        let others = |row: &Row<'_>| -> Vec<String> {
            let other = |(name, _): &&(String, Level)| name != compared;
            let others = row.factors.0.iter().filter(other);
            others
                .map(|(name, level)| format!("{name}={level}"))
                .collect()
        };
        let mut kinds: Vec<Vec<String>> = Vec::new();
        for row in &rows {
            if !kinds.contains(&others(row)) {
                kinds.push(others(row));
            }
        }
        rows.sort_by_key(|row| kinds.iter().position(|kind| *kind == others(row)));
        rows
    }

    /// The run of a cell, and the cell's factors in that run.
    fn split(&self, factors: &Factors) -> (Option<usize>, Factors) {
        let (backend, others): (Vec<_>, Vec<_>) = factors
            .0
            .iter()
            .cloned()
            .partition(|(name, _)| name == BACKEND);
        let named = |name: &String| {
            backend
                .first()
                .is_some_and(|(_, level)| level.to_string() == *name)
        };
        (self.names.iter().position(named), Factors(others))
    }
}

impl Row<'_> {
    /// The published values of the row.
    pub fn published(&self) -> Option<&crate::verdict::PublishedFigures> {
        let mut figures = self
            .of_runs
            .iter()
            .flatten()
            .map(|of_run| &of_run.published);
        figures.find(|figures| figures.value.is_some() || figures.claim.is_some())
    }
}

fn alike(what: &str, one: &str, other: &str) -> Result<(), String> {
    match one == other {
        true => Ok(()),
        false => Err(format!(
            "runs in different backends can be compared only if they are of one experiment; their {what} differ: {one}, {other}"
        )),
    }
}

fn names(runs: &[&Findings<'_>]) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for (position, run) in runs.iter().enumerate() {
        let like = |other: &&&Findings<'_>| other.plan.backend == run.plan.backend;
        let number = runs[..=position].iter().filter(like).count();
        names.push(match runs.iter().filter(like).count() {
            1 => run.plan.backend.to_string(),
            _ => format!("{} {number}", run.plan.backend),
        });
    }
    names
}

fn in_backend(name: &str, factors: &Factors) -> Factors {
    let backend = (BACKEND.to_owned(), Level::Text(name.to_owned()));
    Factors(
        std::iter::once(backend)
            .chain(factors.0.iter().cloned())
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{Difference, compare};
    use plan::Backend;
    use plan::synthetic::{facts, study};

    /// The study in two backends; the simulator has no offloads and fewer
    /// metrics.
    fn two() -> [(Plan, Vec<Trial>); 2] {
        let (live, of_live) = study();
        let (mut plan, mut trials) = study();
        plan.backend = Backend::Sim;
        for cell in &mut plan.cells {
            if cell.factors.to_string().contains("offloads=on") {
                cell.setting = Err("not simulated: hosts have no offloads".into());
            }
        }
        trials.retain(|trial| !trial.factors.to_string().contains("offloads=on"));
        for trial in &mut trials {
            trial.metrics.remove("cpu_sender");
        }
        [(plan, trials), (live, of_live)]
    }

    fn joined(runs: &[(Plan, Vec<Trial>)]) -> Result<AcrossBackends, String> {
        let facts = facts();
        let runs: Vec<Findings<'_>> = runs
            .iter()
            .map(|(plan, trials)| Findings::of(plan, trials, &facts))
            .collect();
        across_backends(&runs.iter().collect::<Vec<_>>())
    }

    #[test]
    fn a_row_holds_a_cell_of_every_backend_that_has_it() {
        let all = joined(&two()).unwrap();
        assert_eq!(all.names, ["sim", "netns"]);
        let of_its_cell = |row: &Comparison| all.plan.cells[row.cell].factors == row.factors;
        assert!(!all.comparisons.is_empty() && all.comparisons.iter().all(of_its_cell));
        let rows = all.rows(Metric::named("throughput").unwrap());
        let seen: Vec<(String, Vec<usize>)> = rows
            .iter()
            .map(|row| {
                let counts = row
                    .of_runs
                    .iter()
                    .map(|of_run| of_run.map_or(0, |row| row.n));
                (row.factors.to_string(), counts.collect())
            })
            .collect();
        let row = |offloads: &str, mtu: i64, counts: &[usize]| {
            let factors = format!("scenario=LU-LU offloads={offloads} mtu={mtu}");
            (factors, counts.to_vec())
        };
        assert_eq!(
            seen,
            [
                row("off", 1500, &[2, 2]),
                row("off", 9000, &[2, 2]),
                row("on", 1500, &[0, 2]),
                row("on", 9000, &[0, 2]),
            ]
        );
        let claim = rows[1]
            .published()
            .and_then(|figures| figures.claim.as_ref())
            .unwrap();
        assert_eq!(claim.percent, 25.03);
        // A metric that only one backend has keeps its position in the other.
        let cpu = all.rows(Metric::named("cpu_sender").unwrap());
        assert_eq!(cpu[0].of_runs[0].map(|row| row.n), Some(0));
        assert_eq!(cpu[0].of_runs[1].map(|row| row.n), Some(2));
    }

    #[test]
    fn each_backend_is_judged_as_it_is_alone() {
        let runs = two();
        let all = joined(&runs).unwrap();
        let alone = compare(&runs[1].0, &runs[1].1);
        let offset = runs[0].0.cells.len();
        for row in &alone {
            let here =
                |other: &&Comparison| other.metric == row.metric && other.cell == row.cell + offset;
            let here = all.comparisons.iter().find(here).unwrap();
            assert_eq!(here.difference, row.difference, "{}", row.factors);
            assert_eq!(here.judgement, row.judgement, "{}", row.factors);
        }
        let found = |row: &&Comparison| row.difference == Some(Difference::Found);
        assert!(all.comparisons.iter().any(|row| found(&row)));
    }

    #[test]
    fn runs_of_one_backend_are_numbered_and_those_of_another_experiment_rejected() {
        let [sim, live] = two();
        let three = [sim.clone(), live.clone(), sim.clone()];
        assert_eq!(joined(&three).unwrap().names, ["sim 1", "netns", "sim 2"]);
        let mut other = live;
        other.0.name = "replay".into();
        let error = joined(&[sim, other]).unwrap_err();
        assert!(
            error.ends_with("their experiments differ: synthetic, replay"),
            "{error}"
        );
    }
}
