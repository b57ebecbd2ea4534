//! The answer to the question of an experiment: the level that is set against the baseline,
//! the metrics that tell, and the rows that the experiment declares.

mod finding;

use plan::metric::{CPU_TOTAL, Metric, THROUGHPUT};
use plan::{COPY, Cell, Level, Plan, ReportRow, Trial, evidence};

use crate::compare::{Comparison, find};
pub use finding::Finding;

/// The answer of a run.
pub struct Answer<'a> {
    /// The level of the compared factor that is set against the baseline.
    pub level: Option<Level>,
    /// The metrics that tell.
    pub metrics: Vec<&'static Metric>,
    /// The declared rows that have a figure, in the order of the experiment.
    pub rows: Vec<Row<'a>>,
    /// Those without one.
    pub absent: Vec<Absent<'a>>,
}

/// A measured row at one level of the compared factor.
pub struct Row<'a> {
    pub declared: &'a ReportRow,
    /// The row's title, with the levels of other factors that vary.
    pub name: String,
    pub level: &'a Level,
    pub finding: Finding,
    pub comparison: Comparison,
    pub baseline: Comparison,
}

/// A declared row without a figure.
pub struct Absent<'a> {
    pub declared: &'a ReportRow,
    pub why: String,
}

impl<'a> Answer<'a> {
    pub(crate) fn of(
        plan: &'a Plan,
        by_cell: &[Vec<&Trial>],
        comparisons: &[Comparison],
        baselines: &[Option<usize>],
    ) -> Self {
        let is_measured = |metric: &&'static Metric| {
            let mut rows = comparisons.iter();
            rows.any(|row| row.metric == *metric && row.n > 0)
        };
        let chosen = plan.report.metrics.iter();
        let chosen = chosen.filter_map(|name| Metric::named(name));
        let chosen: Vec<&'static Metric> = chosen.filter(is_measured).collect();
        let (mut rows, mut absent) = (Vec::new(), Vec::new());
        for declared in &plan.report.rows {
            let measured = rows_of(plan, declared, comparisons, baselines);
            if measured.is_empty() {
                let why = why_absent(plan, declared, by_cell);
                absent.push(Absent { declared, why });
            }
            rows.extend(measured);
        }
        Self {
            level: plan.report.level.clone().or_else(|| last_level(plan)),
            metrics: match chosen.is_empty() {
                true => usual_metrics(plan),
                false => chosen,
            },
            rows,
            absent,
        }
    }
}

/// The last level of the compared factor that is not the baseline.
pub fn last_level(plan: &Plan) -> Option<Level> {
    let cells = plan.cells.iter();
    let mut levels = cells.filter_map(|cell| cell.factors.level(&plan.compare.factor));
    levels
        .rfind(|level| **level != plan.compare.baseline)
        .cloned()
}

/// The metrics that tell if the experiment chooses none.
pub fn usual_metrics(plan: &Plan) -> Vec<&'static Metric> {
    let leading = plan.leading.iter().map(String::as_str);
    let usual = [THROUGHPUT.name, CPU_TOTAL.name];
    match plan.leading.is_empty() {
        true => usual.into_iter().filter_map(Metric::named).collect(),
        false => leading.filter_map(Metric::named).collect(),
    }
}

/// The metric of a row in the experiment's words.
pub fn called(row: &ReportRow) -> &str {
    let metric = Metric::named(&row.metric);
    let title = metric.map_or(&*row.metric, |metric| metric.title);
    row.called.as_deref().unwrap_or(title)
}

fn rows_of<'a>(
    plan: &'a Plan,
    declared: &'a ReportRow,
    comparisons: &[Comparison],
    baselines: &[Option<usize>],
) -> Vec<Row<'a>> {
    let Some(metric) = Metric::named(&declared.metric) else {
        return Vec::new();
    };
    let rows = cells_of(plan, declared).filter_map(|(position, cell)| {
        let comparison = find(comparisons, metric, position)?;
        comparison.change?;
        let baseline = find(comparisons, metric, baselines[position]?)?;
        Some(Row {
            declared,
            name: name(plan, declared, cell),
            level: cell.factors.level(&plan.compare.factor)?,
            finding: Finding::of(comparison),
            comparison: comparison.clone(),
            baseline: baseline.clone(),
        })
    });
    rows.collect()
}

/// The cells of a row, with their positions in the plan.
fn cells_of<'a>(
    plan: &'a Plan,
    row: &'a ReportRow,
) -> impl Iterator<Item = (usize, &'a Cell)> + Clone {
    let cells = plan.cells.iter().enumerate();
    cells.filter(|(_, cell)| row.includes(&cell.factors) && cell.factors.level(COPY).is_none())
}

/// The title of a row with the levels of a cell that tell it from others of the row.
fn name(plan: &Plan, row: &ReportRow, cell: &Cell) -> String {
    let compared = &plan.compare.factor;
    let varies = |(name, level): &&(String, Level)| {
        let is_of_row = row.cells.iter().any(|(listed, _)| listed == name);
        name != compared
            && !is_of_row
            && cells_of(plan, row).any(|(_, other)| other.factors.level(name) != Some(level))
    };
    let others = cell.factors.0.iter().filter(varies);
    let others = others.map(|(name, level)| format!(", {name} {}", plan.label(name, level)));
    format!("{}{}", row.title, others.collect::<String>())
}

fn why_absent(plan: &Plan, row: &ReportRow, by_cell: &[Vec<&Trial>]) -> String {
    const REASONS: [&str; 3] = ["not measured here: ", "not simulated: ", "not predicted: "];
    let cells: Vec<(usize, &Cell)> = cells_of(plan, row).collect();
    let mut settings = cells.iter().map(|(_, cell)| &cell.setting);
    if let Some(why) = settings.find_map(|setting| setting.as_ref().err()) {
        let bare = REASONS.iter().find_map(|reason| why.strip_prefix(reason));
        return bare.unwrap_or(why).to_owned();
    }
    let trials = || {
        let trials = cells.iter().flat_map(|&(cell, _)| &by_cell[cell]);
        trials.filter(|trial| trial.failure.is_none())
    };
    let not_predicted = trials().find_map(|trial| {
        let mut absent = trial.evidence.get(evidence::NOT_PREDICTED)?;
        absent.remove(&row.metric)
    });
    not_predicted.unwrap_or_else(|| match trials().next() {
        None => "no trial finished".to_owned(),
        Some(_) if trials().all(|trial| !trial.metrics.contains_key(&row.metric)) => {
            format!("no {} is measured here", called(row))
        }
        Some(_) => "there is nothing to compare it with".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use plan::synthetic::{cell, full_factors, plan};

    use super::*;

    #[test]
    fn a_factor_that_set_adds_is_named_in_each_row() {
        let off = cell(full_factors("a", "off", 1500));
        let on = cell(full_factors("a", "on", 1500));
        let plan = plan(vec![off, on], 1, Vec::new());
        let row = ReportRow {
            title: "Case a".into(),
            metric: "throughput".into(),
            called: None,
            cells: vec![("scenario".into(), vec![Level::Text("a".into())])],
            place: None,
        };
        assert_eq!(name(&plan, &row, &plan.cells[1]), "Case a, offloads on");
    }
}
