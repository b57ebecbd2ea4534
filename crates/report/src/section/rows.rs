//! The answer as a table: the rows that an experiment declares, and advice that follows
//! from their findings alone.

mod advice;
mod axis;

use analysis::Findings;
use analysis::answer::{Absent, Finding, Row, called};
use analysis::compare::Comparison;
use document::{Block, Cell, Column, Fit, Remark, Style, Table, terminal};
use plan::metric::Metric;
use plan::setting::Costs;
use plan::{Hosts, Level, Plan, ReportRow};
use units::Span;

use crate::figure;
use crate::section::auto_rate::auto_rate;
use crate::section::summary;
use advice::{advice, tone};
use axis::Axis;

/// Whether the experiment declares rows, so that these are its answer.
pub(crate) fn are_declared(plan: &Plan) -> bool {
    !plan.report.rows.is_empty()
}

/// The metric of a row with its unit.
fn quantity(row: &ReportRow) -> String {
    let unit = Metric::named(&row.metric).map_or("", |metric| metric.unit);
    format!("{}, {unit}", called(row))
}

/// The advice; without a figure what is left out, and why.
pub(crate) fn sentences(found: &Findings<'_>) -> Vec<String> {
    match advice(found) {
        Some(advice) => vec![advice],
        None => notes(found),
    }
}

/// The answer of a page and of a whole report: advice, table, what is left out, and what
/// to type next.
pub(crate) fn blocks(found: &Findings<'_>) -> Vec<Block> {
    let plan = found.plan;
    let lines = &found.answer.rows;
    let advice = advice(found).into_iter();
    let advice = advice.map(|advice| Block::paragraph(Style::Answer, advice));
    let mut blocks: Vec<Block> = advice.collect();
    if !lines.is_empty() {
        let whole = Block::Table(table(plan, lines, Columns::All));
        blocks.push(Block::Terminal(vec![whole]));
        blocks.push(Block::Page(vec![Block::Table(page_table(plan, lines))]));
    }
    blocks.push(Block::Paragraphs(Style::Note, notes(found)));
    blocks.push(Block::Verbatim(next(plan)));
    blocks
}

/// The table for a terminal of `width` columns, if there is a line.
pub(crate) fn table_within(found: &Findings<'_>, width: u16) -> Option<Block> {
    let lines = &found.answer.rows;
    let tables = [Columns::All, Columns::Changes].map(|columns| table(found.plan, lines, columns));
    let fits = |table: &&Table| terminal::line_width(table, width) <= usize::from(width);
    let [all, changes] = tables;
    let table = Some(&all).filter(fits).is_some();
    (!lines.is_empty()).then_some(Block::Table(if table { all } else { changes }))
}

/// What changes of goodput consist of, what is left out, and what hosts are like that the
/// experiment describes.
pub(crate) fn notes(found: &Findings<'_>) -> Vec<String> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    let lines = &found.answer.rows;
    let shown: Vec<&str> = lines
        .iter()
        .map(|line| line.declared.title.as_str())
        .collect();
    for Absent { declared, why } in &found.answer.absent {
        let name = match shown.contains(&&*declared.title) {
            true => format!("{}: {}", declared.title, called(declared)),
            false => declared.title.clone(),
        };
        match reasons.iter_mut().find(|(other, _)| other == why) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    let left_out = reasons
        .into_iter()
        .map(|(why, names)| format!("Left out: {} ({why}).", names.join("; ")));
    let rate = found.facts.auto_rate.as_ref().map(auto_rate);
    let passes = figure::marked_passes(lines.iter().map(|line| &line.comparison));
    let level = found.answer.level.as_ref();
    let advised = lines.iter().filter(|line| Some(line.level) == level);
    let parts = advised.filter_map(|line| parts_of(found.plan, line));
    rate.into_iter()
        .chain(passes)
        .chain(parts)
        .chain(left_out)
        .chain(hosts(found.plan))
        .collect()
}

/// The share of headers in a change of goodput, where it is known.
fn parts_of(plan: &Plan, line: &Row<'_>) -> Option<String> {
    line.comparison.decomposition?;
    let is_change = matches!(line.finding, Finding::MetricDirection | Finding::Worse);
    let change = figure::change_percent(&line.comparison);
    let parts = summary::composition(plan, &line.comparison);
    is_change.then(|| format!("{}: {} {change}{parts}.", line.name, called(line.declared)))
}

/// The costs of hosts that an experiment describes, which are not those of any machine
/// unless they were fitted to it.
fn hosts(plan: &Plan) -> Option<String> {
    match plan.backend.profile().hosts {
        Hosts::Kernels => return None,
        Hosts::Simulated => {}
    }
    let settings = plan
        .cells
        .iter()
        .filter_map(|cell| cell.setting.as_ref().ok());
    let costs = settings.map(|setting| &setting.host.costs);
    let costly = costs.clone().find(|costs| **costs != Costs::default());
    Some(match costly {
        None => "The hosts take no time, so these are figures of the links alone. For hosts like yours: jumbolab run host-costs, and then add --set host=fit:results/host-costs-HASH.".to_owned(),
        Some(costs) => format!(
            "The hosts take {} for a packet that they send and {} for each of its bytes{}.",
            nanoseconds(costs.send_per_packet),
            nanoseconds(costs.send_per_byte),
            costs
                .fitted_to
                .as_ref()
                .map_or_else(String::new, |study| format!(", as those of [{study}]"))
        ),
    })
}

fn nanoseconds(span: Span) -> String {
    format!("{} ns", figure::four_digits(span.as_picos() as f64 / 1e3))
}

/// What to type next, but for a run in the backend of this one; empty without it.
pub(crate) fn next(plan: &Plan) -> String {
    let own = format!("--on {}", plan.backend);
    let lines = plan.report.next.iter().filter(|line| !line.contains(&own));
    let lines: Vec<String> = lines.map(|line| format!("  {line}")).collect();
    match lines.is_empty() {
        true => String::new(),
        false => format!("Next:\n{}", lines.join("\n")),
    }
}

/// The columns of a table.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Columns {
    /// With the means of both levels.
    All,
    /// Changes alone.
    Changes,
}

/// The caption of the table.
fn caption(plan: &Plan, lines: &[Row<'_>]) -> String {
    let (factor, compare) = (summary::factor(plan), &plan.compare);
    let baseline = plan.label(&compare.factor, &compare.baseline);
    match one_level(lines) {
        Some(level) => {
            let level = plan.label(&compare.factor, level);
            format!("{factor} {level} against {baseline}:")
        }
        None => format!("Changes against {factor} {baseline}:"),
    }
}

/// The level of the compared factor of all lines, if it is one.
fn one_level<'a>(lines: &[Row<'a>]) -> Option<&'a Level> {
    let first = lines.first()?.level;
    lines
        .iter()
        .all(|line| line.level == first)
        .then_some(first)
}

fn table(plan: &Plan, lines: &[Row<'_>], columns: Columns) -> Table {
    let compare = &plan.compare;
    let level = one_level(lines).map(|level| plan.label(&compare.factor, level));
    let with_means = columns == Columns::All;
    let mut heads = vec![Column::default()];
    heads.extend(level.is_none().then(|| Column::new(summary::factor(plan))));
    heads.push(Column::default());
    if with_means {
        let own = plan.backend.profile().words.figures.to_owned();
        let baseline = plan.label(&compare.factor, &compare.baseline);
        heads.push(Column::right(baseline));
        heads.push(Column::right(level.clone().unwrap_or(own)));
    }
    heads.push(Column::right("%"));
    heads.push(Column::new("95 % interval"));
    heads.push(Column::default());
    let mut above = None;
    let rows = lines.iter().map(|line| {
        let is_new = above.replace(&line.name) != Some(&line.name);
        let name = if is_new { &*line.name } else { "" };
        let mut cells = vec![Cell::Text(name.to_owned())];
        let own = plan.label(&compare.factor, line.level);
        cells.extend(level.is_none().then_some(Cell::Text(own)));
        cells.push(Cell::Text(quantity(line.declared)));
        if with_means {
            cells.push(Cell::figure(short_mean(&line.baseline)));
            cells.push(Cell::figure(short_mean(&line.comparison)));
        }
        let (percent, interval) = change(&line.comparison);
        cells.push(Cell::figure(percent));
        cells.push(Cell::Text(interval));
        let words = figure::marked(&line.finding, &line.comparison);
        let remark = Remark::new(tone(line.finding), words);
        cells.push(Cell::Remarks(vec![remark]));
        cells
    });
    Table {
        rows: rows.collect(),
        caption: Some(caption(plan, lines)),
        columns: heads,
        fit: Fit::Line,
        ..Table::default()
    }
}

/// A change in per cent and its interval, which is empty where trials have no spread.
fn change(comparison: &Comparison) -> (String, String) {
    let change = comparison.change;
    let interval = change.and_then(|change| change.ci95);
    let has_spread = interval.is_some_and(|interval| !interval.is_exact(100.0));
    match change.and_then(|change| change.percent) {
        Some(percent) if !has_spread => {
            let places = usize::from(percent.abs() < 100.0);
            (figure::signed(percent, places), String::new())
        }
        Some(_) | None => {
            let text = figure::change(comparison);
            let (percent, interval) = text.split_once(' ').unwrap_or((&text, ""));
            (percent.to_owned(), interval.to_owned())
        }
    }
}

/// A mean with four digits; intervals are those of the changes.
fn short_mean(comparison: &Comparison) -> String {
    let mean = comparison.mean.map(|mean| figure::four_digits(mean.mean));
    mean.unwrap_or_default()
}

fn page_table(plan: &Plan, lines: &[Row<'_>]) -> Table {
    let compare = &plan.compare;
    let level = one_level(lines).map(|level| plan.label(&compare.factor, level));
    let mut columns = vec![Column::default()];
    columns.extend(level.is_none().then(|| Column::new(summary::factor(plan))));
    columns.push(Column::new(plan.label(&compare.factor, &compare.baseline)));
    let own = plan.backend.profile().words.figures.to_owned();
    columns.push(Column::new(level.clone().unwrap_or(own)));
    columns.push(Column::default());
    columns.push(Column::new("Change, %, and 95 % interval"));
    let axis = Axis::of(lines);
    let rows = lines.iter().map(|line| {
        let mut cells = vec![Cell::Text(format!(
            "{}: {}",
            line.name,
            quantity(line.declared)
        ))];
        let own = plan.label(&compare.factor, line.level);
        cells.extend(level.is_none().then_some(Cell::Text(own)));
        cells.push(Cell::figure(short_mean(&line.baseline)));
        cells.push(Cell::figure(short_mean(&line.comparison)));
        cells.push(axis.cell(line));
        let (percent, interval) = change(&line.comparison);
        cells.push(Cell::Change {
            percent,
            interval,
            words: figure::marked(&line.finding, &line.comparison),
            tone: tone(line.finding),
        });
        cells
    });
    let mut rows: Vec<Vec<Cell>> = rows.collect();
    let before = columns.len() - 2;
    let mut last = vec![Cell::Text(String::new()); before];
    last.extend([axis.ticks(), Cell::Text("%".to_owned())]);
    rows.push(last);
    Table {
        rows,
        caption: Some(caption(plan, lines)),
        columns,
        fit: Fit::Glance,
        ..Table::default()
    }
}

#[cfg(test)]
mod tests;
