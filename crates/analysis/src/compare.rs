//! Compares every cell of a plan with its baseline, and both with published
//! values.

mod comparison;
mod diff;
mod sample_size;
mod sensitivity;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use plan::metric::{self, Metric, measured, position};
use plan::{COPY, Cell, Factors, Plan, Trial};

use crate::decomposition::Decomposition;
use crate::passes::{Passes, groups};
use crate::resolution::resolution;
use crate::statistics::{self, Estimator, Mean, holm};
use crate::verdict::{Judgement, Measured, Verdict, judge, judge_interval, published_figures};
use comparison::LEVEL;
pub use comparison::{Comparison, Difference, NotFound};
pub(crate) use diff::same_factors;
pub use diff::{Shift, diff};

/// How the reason of a cell begins that this backend cannot measure, once.
pub(crate) const NOT_HERE: &str = "not measured here: ";

/// Every metric that was measured or published, in every cell: by metric in
/// the catalogue's order, then by cell in the plan's.
pub fn compare(plan: &Plan, trials: &[Trial]) -> Vec<Comparison> {
    let metrics = metrics(plan, trials);
    if metrics.is_empty() {
        return Vec::new();
    }
    let by_cell = by_cell(plan, trials);
    let baselines = baselines(plan);
    let mut all = Vec::new();
    for metric in metrics {
        all.push(of_metric(plan, metric, &by_cell, &baselines));
    }
    for position in 0..all.len() {
        let upper = all[position][..]
            .first()
            .and_then(|first| first.metric.attribution());
        let upper = upper.and_then(|upper| {
            all.iter()
                .find(|group| group.first().is_some_and(|first| first.metric == upper))
                .cloned()
        });
        for cell in 0..all[position].len() {
            let high = upper.as_ref().map(|upper| &upper[cell]);
            attribute_and_judge(plan, &by_cell, &mut all[position][cell], high);
        }
        sensitivity::check(plan, &mut all[position]);
        for comparison in &mut all[position] {
            if let (Some(judgement), Some(_)) = (&mut comparison.judgement, &comparison.fitted_to) {
                judgement.reason = format!("fitted hosts, {}", judgement.reason);
            }
            if let Some(judgement) = &mut comparison.judgement
                && comparison.mean.is_some_and(|mean| mean.is_approximate)
            {
                judgement.reason += "; approximate: other work disturbed the trials";
            }
            comparison.trials_to_settle = sample_size::trials_to_settle(comparison);
        }
    }
    take_apart(plan, &by_cell, &baselines, all.iter_mut().flatten());
    all.into_iter().flatten().collect()
}

/// One metric in one cell.
pub fn find<'a>(
    comparisons: &'a [Comparison],
    metric: &Metric,
    cell: usize,
) -> Option<&'a Comparison> {
    // Each metric has every cell, in the plan's order.
    let cells = comparisons.last()?.cell + 1;
    let mut metrics = comparisons.chunks(cells);
    metrics.find(|own| own[0].metric == metric)?.get(cell)
}

/// The trials of each cell, in their order.
pub fn by_cell<'a>(plan: &Plan, trials: &'a [Trial]) -> Vec<Vec<&'a Trial>> {
    // In large plans, few cells have equal text.
    let mut named: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (position, cell) in plan.cells.iter().enumerate() {
        named
            .entry(cell.factors.to_string())
            .or_default()
            .push(position);
    }
    let of = |factors: &Factors| -> Vec<usize> {
        let alike = named.get(&factors.to_string()).into_iter().flatten();
        alike
            .copied()
            .filter(|&position| plan.cells[position].factors == *factors)
            .collect()
    };
    // Trials that were read from a folder share the factors of their cell.
    let mut known: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut found = vec![Vec::new(); plan.cells.len()];
    for trial in trials {
        let factors = Arc::as_ptr(&trial.factors).addr();
        let positions = known.entry(factors).or_insert_with(|| of(&trial.factors));
        for &position in &*positions {
            found[position].push(trial);
        }
    }
    found
}

/// The first trial that belongs to no cell of the plan.
pub fn without_cell<'a>(plan: &Plan, trials: &'a [Trial]) -> Option<&'a Trial> {
    let cells: BTreeSet<String> = plan
        .cells
        .iter()
        .map(|cell| cell.factors.to_string())
        .collect();
    // Trials that were read from a folder share the factors of their cell.
    let mut known: BTreeMap<usize, bool> = BTreeMap::new();
    trials.iter().find(|trial| {
        let factors = Arc::as_ptr(&trial.factors).addr();
        let is_known = || cells.contains(&trial.factors.to_string());
        !*known.entry(factors).or_insert_with(is_known)
    })
}

/// The metrics that were measured or published, in the catalogue's order.
fn metrics(plan: &Plan, trials: &[Trial]) -> Vec<&'static Metric> {
    let mut metrics = measured(trials);
    for name in plan.published.iter().map(|published| &published.metric) {
        if let Some(metric) = Metric::named(name)
            && !metrics.contains(&metric)
        {
            metrics.push(metric);
        }
    }
    metrics.sort_by_key(|metric| position(metric));
    metrics
}

/// The baseline of each cell: itself, if it is one.
pub fn baselines(plan: &Plan) -> Vec<Option<usize>> {
    let groups = groups(plan);
    let mut of_group: BTreeMap<usize, usize> = BTreeMap::new();
    for (position, (cell, group)) in plan.cells.iter().zip(&groups).enumerate() {
        let level = cell.factors.level(&plan.compare.factor);
        let is_baseline = level.is_some_and(|level| level.is_same(&plan.compare.baseline));
        if is_baseline && cell.factors.level(COPY).is_none() {
            of_group.entry(*group).or_insert(position);
        }
    }
    groups
        .iter()
        .map(|group| of_group.get(group).copied())
        .collect()
}

/// One metric in every cell, without verdicts.
fn of_metric(
    plan: &Plan,
    metric: &'static Metric,
    by_cell: &[Vec<&Trial>],
    baselines: &[Option<usize>],
) -> Vec<Comparison> {
    let estimators = estimators(plan, metric, by_cell);
    let mut cells: Vec<Comparison> = plan
        .cells
        .iter()
        .zip(by_cell)
        .enumerate()
        .map(|(position, (cell, trials))| {
            in_cell(plan, metric, (position, cell), trials, estimators[position])
        })
        .collect();
    for position in 0..cells.len() {
        let Some(base) = baselines[position].filter(|&base| base != position) else {
            continue;
        };
        let baseline = cells[base].clone();
        hold(&mut cells[position], &baseline);
    }
    decide(&mut cells);
    cells
}

/// Compares one cell with another, if both were measured.
fn hold(cell: &mut Comparison, baseline: &Comparison) {
    let (Some(mean), Some(of_baseline)) = (cell.mean, baseline.mean) else {
        return;
    };
    cell.change = Some(statistics::change(&mean, &of_baseline));
    cell.compared = cell.passes.and(baseline.passes);
    cell.threshold = larger(cell.resolution, baseline.resolution);
    cell.resolution_percent = cell
        .threshold
        .filter(|_| of_baseline.mean > 0.0)
        .map(|threshold| 100.0 * threshold / of_baseline.mean);
}

/// The estimator of `metric` in each cell, given the trials of each cell of the plan.
///
/// Where results do not depend on the machine, each trial is an outcome of the model, and
/// the estimator is the mean. Cells that are compared with one another have the same one,
/// approximate if a value of one of them is disturbed ([`crate::passes`]).
pub fn estimators(plan: &Plan, metric: &Metric, by_cell: &[Vec<&Trial>]) -> Vec<Estimator> {
    if !plan.backend.profile().depends_on_machine {
        return vec![Estimator::Mean; by_cell.len()];
    }
    let is_disturbed = |trials: &Vec<&Trial>| Passes::of(metric, trials).is_approximate();
    let disturbed: Vec<bool> = by_cell.iter().map(is_disturbed).collect();
    let is_approximate = match disturbed.contains(&true) {
        false => disturbed,
        true => {
            let groups = groups(plan);
            let own = groups.iter().zip(&disturbed);
            let short: BTreeSet<usize> = own
                .filter(|&(_, &is_disturbed)| is_disturbed)
                .map(|(group, _)| *group)
                .collect();
            groups.iter().map(|group| short.contains(group)).collect()
        }
    };
    let sample = |((cell, trials), _): ((&Cell, &Vec<&Trial>), &bool)| {
        let values = values(metric, trials);
        let figure = statistics::mean(&values).map_or(0.0, |mean| mean.mean);
        let setting = cell.setting.as_ref().ok();
        let resolution = resolution(metric, figure, setting, trials).unwrap_or(0.0);
        (values, resolution)
    };
    let cells = plan.cells.iter().zip(by_cell).zip(&is_approximate);
    let sound = cells.filter(|(_, is_approximate)| !**is_approximate);
    let of_sound = Estimator::of(&sound.map(sample).collect::<Vec<_>>());
    let estimators = is_approximate
        .iter()
        .map(|is_approximate| match is_approximate {
            true => Estimator::Approximate,
            false => of_sound,
        });
    estimators.collect()
}

/// The values of a metric in the trials that finished.
pub(crate) fn values(metric: &Metric, trials: &[&Trial]) -> Vec<f64> {
    let finished = trials.iter().filter(|trial| trial.failure.is_none());
    finished
        .filter_map(|trial| trial.metrics.get(metric.name).copied())
        .collect()
}

/// The estimate of one metric in one cell at its position, without comparison.
pub fn in_cell(
    plan: &Plan,
    metric: &'static Metric,
    (position, cell): (usize, &Cell),
    trials: &[&Trial],
    estimator: Estimator,
) -> Comparison {
    let (finished, failed): (Vec<&Trial>, Vec<&Trial>) =
        trials.iter().partition(|trial| trial.failure.is_none());
    let mean = estimator.estimate(&values(metric, trials));
    let mean = match plan.backend.profile().predicts {
        true => mean.map(Mean::predicted),
        false => mean,
    };
    Comparison {
        metric,
        cell: position,
        factors: cell.factors.clone(),
        n: mean.map_or(0, |mean| mean.n),
        failed: failed.len(),
        mean,
        passes: Passes::of(metric, trials),
        compared: Passes::default(),
        resolution: mean
            .and_then(|mean| resolution(metric, mean.mean, cell.setting.as_ref().ok(), &finished)),
        threshold: None,
        change: None,
        resolution_percent: None,
        difference: None,
        together: 0,
        attribution: None,
        decomposition: None,
        trials_to_settle: None,
        fitted_to: { cell.setting.as_ref().ok() }
            .and_then(|setting| setting.host.costs.fitted_to.clone()),
        published: published_figures(plan, metric, &cell.factors),
        judgement: None,
    }
}

/// Adds the decompositions of goodput changes.
fn take_apart<'a>(
    plan: &Plan,
    by_cell: &[Vec<&Trial>],
    baselines: &[Option<usize>],
    comparisons: impl Iterator<Item = &'a mut Comparison>,
) {
    let finished = |cell: usize| -> Vec<&Trial> {
        let trials = by_cell[cell].iter().copied();
        trials.filter(|trial| trial.failure.is_none()).collect()
    };
    // The parts are estimated as the goodput of the studied or of the long transfer.
    let of_goodput = [&metric::THROUGHPUT, &metric::THROUGHPUT_LONG];
    let of_goodput = of_goodput.map(|metric| estimators(plan, metric, by_cell));
    let parts = |cell: usize| {
        let own = of_goodput.iter().map(|estimators| estimators[cell]);
        own.max().unwrap_or_default()
    };
    let goodput =
        comparisons.filter(|comparison| comparison.metric.name == metric::THROUGHPUT.name);
    for comparison in goodput.filter(|comparison| comparison.change.is_some()) {
        let settings = baselines[comparison.cell].and_then(|base| {
            let setting = |cell: usize| plan.cells[cell].setting.as_ref().ok();
            Some((setting(comparison.cell)?, setting(base)?, base))
        });
        comparison.decomposition = settings.and_then(|(setting, of_baseline, base)| {
            Decomposition::of(
                (setting, &finished(comparison.cell)),
                (of_baseline, &finished(base)),
                parts(comparison.cell),
            )
        });
    }
}

/// Decides for all comparisons of one metric whether there is a difference.
fn decide(cells: &mut [Comparison]) {
    let tested: Vec<(usize, f64)> = cells
        .iter()
        .enumerate()
        .filter_map(|(position, cell)| Some((position, cell.change?.p?)))
        .collect();
    let p_values: Vec<f64> = tested.iter().map(|&(_, p)| p).collect();
    let rejected = holm(&p_values, LEVEL);
    for cell in cells.iter_mut() {
        cell.difference = cell.change.map(|_| Difference::Unknown);
        cell.together = tested.len();
    }
    for (&(position, _), rejected) in tested.iter().zip(rejected) {
        let cell = &mut cells[position];
        let change = cell.change.map_or(0.0, |change| change.difference.abs());
        let visible = cell.threshold.is_none_or(|threshold| change > threshold);
        cell.difference = Some(if rejected && visible {
            Difference::Found
        } else {
            Difference::NotFound
        });
    }
}

/// Fills in the fields that need the other end of the attribution interval.
fn attribute_and_judge(
    plan: &Plan,
    by_cell: &[Vec<&Trial>],
    this: &mut Comparison,
    high: Option<&Comparison>,
) {
    this.attribution = this
        .mean
        .zip(high.and_then(|high| high.mean))
        .map(|(low, high)| [low.mean, high.mean]);
    let not_measured = |reason: String| {
        Some(Judgement {
            verdict: Verdict::NotMeasured,
            reason,
        })
    };
    this.judgement = match (
        &plan.cells[this.cell].setting,
        this.change,
        &this.published.claim,
    ) {
        (Err(why), _, _) => {
            let why = why.trim_start_matches(NOT_HERE);
            not_measured(format!("{NOT_HERE}{why}"))
        }
        (Ok(_), _, _) if this.n == 0 => {
            let trials = by_cell[this.cell].len();
            not_measured(match trials - this.failed {
                0 if this.failed > 0 => format!("all {trials} trials failed"),
                0 => "no trial was run; continue with --resume".into(),
                _ => "the trials do not report it".into(),
            })
        }
        (Ok(_), _, None) => None,
        (Ok(_), None, Some(_)) => not_measured(format!(
            "its baseline, {} = {}, was not measured",
            plan.compare.factor, plan.compare.baseline
        )),
        (Ok(_), Some(change), Some(claim)) => {
            let low = Measured {
                change: &change,
                resolution_percent: this.resolution_percent,
            };
            let high = high.and_then(|high| {
                Some(Measured {
                    change: high.change.as_ref()?,
                    resolution_percent: high.resolution_percent,
                })
            });
            Some(match this.metric.attribution() {
                Some(_) => judge_interval(claim, low, high),
                None => judge(claim, low),
            })
        }
    };
}

fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests;
