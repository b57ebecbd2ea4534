//! The tables of the study: measured values, changes, published values and
//! verdicts of each metric.

use analysis::Findings;
use analysis::compare::{Comparison, Difference};
use document::{Block, Cell, Column, Emphasis, Remark, Section, Style, Table};
use plan::metric::Metric;
use plan::{Factors, Plan};

use crate::figure;
use crate::rows::{
    aligned, factor_cells, factor_names, first_metrics, framing_note, heading, model, study_rows,
    tone,
};
use crate::section::crosstab::{self, MOST_ROWS};
use crate::section::summary;

/// A table for each metric of the study. With many rows, a terminal shows only
/// a cross table of the levels of the compared factor.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let plan = found.plan;
    let metrics = first_metrics(plan, &found.comparisons);
    if metrics.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Page(vec![Block::heading("Tables")])];
    for metric in metrics {
        let rows = study_rows(plan, &found.comparisons, metric);
        let published = rows.iter().any(|row| row.published.value.is_some());
        let heading = heading(plan, metric);
        let note = figure::notes(rows.iter().copied());
        let note = note.map(|note| Block::paragraph(Style::Note, note));
        let folded = (rows.len() > MOST_ROWS && !published).then(|| {
            let heading = format!("{heading}, by {}", plan.compare.factor);
            let table = crosstab::table(found, metric);
            vec![Block::subheading(heading), Block::Table(table)]
        });
        let (here, elsewhere): (Vec<&Comparison>, Vec<&Comparison>) =
            (rows.iter()).partition(|row| plan.cells[row.cell].setting.is_ok());
        let mut whole = vec![Block::subheading(heading)];
        if !here.is_empty() {
            whole.push(Block::Table(of_metric(found, metric, &here)));
        }
        whole.extend(not_measured(found, metric, &elsewhere));
        match folded {
            Some(folded) => blocks.extend([Block::Terminal(folded), Block::Page(whole)]),
            None => blocks.extend(whole),
        }
        blocks.extend(note);
    }
    Some(Section {
        id: "tables",
        blocks,
    })
}

/// The rows of cells that this backend cannot measure, folded on the page; the headline
/// of a terminal counts them.
fn not_measured(found: &Findings<'_>, metric: &Metric, rows: &[&Comparison]) -> Option<Block> {
    let fold = Block::Fold {
        summary: format!(
            "{} rows of the study that were not measured here",
            rows.len()
        ),
        blocks: vec![Block::Table(of_metric(found, metric, rows))],
    };
    (!rows.is_empty()).then(|| Block::Page(vec![fold]))
}

/// One metric, one row per cell. A metric that is one end of an attribution
/// interval has the other end in a row below.
fn of_metric(found: &Findings<'_>, metric: &Metric, rows: &[&Comparison]) -> Table {
    let plan = found.plan;
    let names = factor_names(plan);
    let values = rows.iter().any(|row| row.published.value.is_some());
    let claims = rows.iter().any(|row| row.published.claim.is_some());
    let high = |row: &Comparison| {
        let high = found.find(metric.attribution()?, row.cell)?;
        (high.n > 0).then_some(high)
    };
    let lines: Vec<&Comparison> = rows
        .iter()
        .flat_map(|&row| [Some(row), high(row)])
        .flatten()
        .collect();
    let means = aligned(lines.iter().copied().map(Some), figure::mean);
    let changes = aligned(lines.iter().copied().map(Some), figure::change);
    let papers: Vec<Option<f64>> = lines.iter().map(|line| line.published.value).collect();
    let papers = figure::published(&papers);
    let models: Vec<Option<f64>> = lines.iter().map(|line| model(plan, line)).collect();
    let has_models = models.iter().any(Option::is_some);

    let mut columns: Vec<Column> = names.iter().map(Column::new).collect();
    columns.push(Column {
        unit: metric.unit.to_owned(),
        brief: Some(metric.unit.to_owned()),
        ..Column::new(plan.backend.profile().words.figures)
    });
    columns.extend(has_models.then(|| Column::right("model")));
    columns.push(Column::new(format!("% against {}", plan.compare.baseline)));
    columns.extend(values.then(|| Column::right("paper")));
    columns.extend(claims.then(|| Column::right("paper %")));
    columns.push(Column::new(if claims { "verdict" } else { "" }));
    let row = |(position, line): (usize, &&Comparison)| {
        let of_row = line.metric == metric;
        let factors = match of_row {
            true => line.factors.clone(),
            false => Factors::default(),
        };
        let model = models[position].map_or_else(String::new, figure::predicted);
        let claim = line.published.claim.as_ref();
        let claim = claim.map_or_else(String::new, |claim| figure::signed(claim.percent, 2));
        let mut cells = factor_cells(plan, &names, &factors);
        cells.push(Cell::figure(&*means[position]));
        cells.extend(has_models.then(|| Cell::figure(model)));
        cells.push(Cell::figure(&*changes[position]));
        cells.extend(values.then(|| Cell::figure(&*papers[position])));
        cells.extend(claims.then(|| Cell::figure(claim)));
        cells.push(Cell::Remarks(match of_row {
            true => remarks(plan, line, is_unprinted(plan, rows, line)),
            false => vec![Remark::new(Emphasis::Aside, "with all softirq")],
        }));
        cells
    };
    Table {
        rows: lines.iter().enumerate().map(row).collect(),
        columns,
        ..Table::default()
    }
}

/// Whether values of other rows are published, but none of this row or of those
/// that it is compared with.
fn is_unprinted(plan: &Plan, rows: &[&Comparison], row: &Comparison) -> bool {
    let family = |Factors(factors): &Factors| -> Vec<_> {
        let others = factors.iter();
        let others = others.filter(|(name, _)| *name != plan.compare.factor);
        others.cloned().collect()
    };
    let here = family(&row.factors);
    let mut printed = rows
        .iter()
        .filter(|other| other.published.is_any())
        .peekable();
    row.n > 0 && printed.peek().is_some() && printed.all(|other| family(&other.factors) != here)
}

/// The verdict on a row with its reason, and further remarks.
fn remarks(plan: &Plan, row: &Comparison, is_unprinted: bool) -> Vec<Remark> {
    let is_measured = plan.cells[row.cell].setting.is_ok() && row.n > 0;
    let judgement = row.judgement.as_ref().map(|judgement| {
        if !is_measured {
            // Without a measurement, the reason is sufficient.
            return Remark::new(Emphasis::Aside, judgement.reason.clone());
        }
        let verdict = judgement.verdict;
        let words = match row.difference {
            Some(Difference::NotFound) => {
                let reason = figure::none_found(row);
                let reason = reason.trim_start_matches("no difference found: ");
                format!("{verdict}: {reason}")
            }
            _ => verdict.to_string(),
        };
        Remark {
            detail: judgement.reason.clone(),
            ..Remark::new(tone(verdict), words)
        }
    });
    let is_judged = judgement.is_some();
    let unprinted = is_unprinted.then(|| Remark::new(Emphasis::Aside, "not printed"));
    let difference = match row.difference.filter(|_| !is_judged) {
        Some(Difference::NotFound) => Some(figure::none_found(row)),
        Some(Difference::Unknown) => Some("too few trials".to_owned()),
        Some(Difference::Found) | None => None,
    };
    let difference = difference.map(|words| Remark::new(Emphasis::Neutral, words));
    let split = summary::parts(row);
    let split = (!split.is_empty()).then(|| Remark {
        detail: format!("factors: {}", split.join(", ")),
        ..Remark::new(Emphasis::Aside, "")
    });
    let framing = framing_note(plan, row).map(|words| Remark::new(Emphasis::Aside, words));
    [judgement, unprinted, difference, split, framing]
        .into_iter()
        .flatten()
        .collect()
}
