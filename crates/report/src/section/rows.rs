//! The answer as a table: the rows that an experiment declares, and advice that follows
//! from their findings alone.

mod finding;

use analysis::Findings;
use analysis::compare::Comparison;
use document::{Block, Cell, Column, Fit, Remark, Style, Table, terminal};
use plan::metric::Metric;
use plan::setting::Costs;
use plan::{COPY, Cell as PlanCell, Hosts, Level, Plan, ReportRow, evidence};
use units::Span;

use crate::figure;
use crate::section::auto_rate::auto_rate;
use crate::section::summary::{self, Subject};
pub(crate) use finding::{Finding, advice};

/// Whether the experiment declares rows, so that these are its answer.
pub(crate) fn are_declared(plan: &Plan) -> bool {
    !plan.report.rows.is_empty()
}

/// A measured row at one level of the compared factor.
pub(crate) struct Line<'a> {
    pub(crate) row: &'a ReportRow,
    /// The row's title, with the levels of other factors that vary.
    pub(crate) name: String,
    pub(crate) level: &'a Level,
    pub(crate) comparison: &'a Comparison,
    pub(crate) baseline: &'a Comparison,
}

/// A declared row without a figure.
pub(crate) struct Absent<'a> {
    pub(crate) row: &'a ReportRow,
    pub(crate) why: String,
}

/// The rows that have a figure, in the order of the experiment.
pub(crate) fn lines<'a>(found: &'a Findings<'_>) -> Vec<Line<'a>> {
    let rows = found.plan.report.rows.iter();
    rows.flat_map(|row| lines_of(found, row)).collect()
}

fn lines_of<'a>(found: &'a Findings<'_>, row: &'a ReportRow) -> Vec<Line<'a>> {
    let plan = found.plan;
    let Some(metric) = Metric::named(&row.metric) else {
        return Vec::new();
    };
    let lines = cells_of(plan, row).filter_map(|(position, cell)| {
        let comparison = found.find(metric, position)?;
        comparison.change?;
        let of_baseline = found.find(metric, found.baselines[position]?)?;
        Some(Line {
            row,
            name: name(plan, row, cell),
            level: cell.factors.level(&plan.compare.factor)?,
            comparison,
            baseline: of_baseline,
        })
    });
    lines.collect()
}

/// The cells of a row, with their positions in the plan.
fn cells_of<'a>(
    plan: &'a Plan,
    row: &'a ReportRow,
) -> impl Iterator<Item = (usize, &'a PlanCell)> + Clone {
    let cells = plan.cells.iter().enumerate();
    cells.filter(|(_, cell)| row.includes(&cell.factors) && cell.factors.level(COPY).is_none())
}

/// The title of a row with the levels of a cell that tell it from others of the row.
fn name(plan: &Plan, row: &ReportRow, cell: &PlanCell) -> String {
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

/// The rows that have no figure, each with the reason.
pub(crate) fn absent<'a>(found: &'a Findings<'_>) -> Vec<Absent<'a>> {
    let rows = found.plan.report.rows.iter();
    let absent = rows.filter(|row| lines_of(found, row).is_empty());
    absent
        .map(|row| Absent {
            row,
            why: why_absent(found, row),
        })
        .collect()
}

fn why_absent(found: &Findings<'_>, row: &ReportRow) -> String {
    const REASONS: [&str; 3] = ["not measured here: ", "not simulated: ", "not predicted: "];
    let cells: Vec<(usize, &PlanCell)> = cells_of(found.plan, row).collect();
    if let Some(why) = cells
        .iter()
        .find_map(|(_, cell)| cell.setting.as_ref().err())
    {
        let bare = REASONS.iter().find_map(|reason| why.strip_prefix(reason));
        return bare.unwrap_or(why).to_owned();
    }
    let trials = || {
        let trials = cells.iter().flat_map(|&(cell, _)| &found.by_cell[cell]);
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

/// The metric of a row in its words.
fn called(row: &ReportRow) -> &str {
    let metric = Metric::named(&row.metric);
    let title = metric.map_or(&*row.metric, |metric| metric.title);
    row.called.as_deref().unwrap_or(title)
}

/// The metric of a row with its unit.
fn quantity(row: &ReportRow) -> String {
    let unit = Metric::named(&row.metric).map_or("", |metric| metric.unit);
    format!("{}, {unit}", called(row))
}

/// The advice; without a figure what is left out, and why.
pub(crate) fn sentences(found: &Findings<'_>) -> Vec<String> {
    match advice(found, &lines(found)) {
        Some(advice) => vec![advice],
        None => notes(found),
    }
}

/// The answer of a page and of a whole report: advice, table, what is left out, and what
/// to type next.
pub(crate) fn blocks(found: &Findings<'_>) -> Vec<Block> {
    let plan = found.plan;
    let lines = lines(found);
    let advice = advice(found, &lines).into_iter();
    let advice = advice.map(|advice| Block::paragraph(Style::Answer, advice));
    let mut blocks: Vec<Block> = advice.collect();
    if !lines.is_empty() {
        let whole = Block::Table(table(plan, &lines, Columns::All));
        blocks.push(Block::Terminal(vec![whole]));
        blocks.push(Block::Page(vec![Block::Table(page_table(plan, &lines))]));
    }
    blocks.push(Block::Paragraphs(Style::Note, notes(found)));
    blocks.push(Block::Verbatim(next(plan)));
    blocks
}

/// The table for a terminal of `width` columns, if there is a line.
pub(crate) fn table_within(found: &Findings<'_>, width: u16) -> Option<Block> {
    let lines = lines(found);
    let tables = [Columns::All, Columns::Changes].map(|columns| table(found.plan, &lines, columns));
    let fits = |table: &&Table| terminal::line_width(table, width) <= usize::from(width);
    let [all, changes] = tables;
    let table = Some(&all).filter(fits).is_some();
    (!lines.is_empty()).then_some(Block::Table(if table { all } else { changes }))
}

/// What changes of goodput consist of, what is left out, and what hosts are like that the
/// experiment describes.
pub(crate) fn notes(found: &Findings<'_>) -> Vec<String> {
    let mut reasons: Vec<(String, Vec<String>)> = Vec::new();
    let lines = lines(found);
    let shown: Vec<&str> = lines.iter().map(|line| line.row.title.as_str()).collect();
    for Absent { row, why } in absent(found) {
        let name = match shown.contains(&&*row.title) {
            true => format!("{}: {}", row.title, called(row)),
            false => row.title.clone(),
        };
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, names)) if names.contains(&name) => {}
            Some((_, names)) => names.push(name),
            None => reasons.push((why, vec![name])),
        }
    }
    let left_out = reasons
        .into_iter()
        .map(|(why, names)| format!("Left out: {} ({why}).", names.join("; ")));
    let rate = found.facts.auto_rate.as_ref().map(auto_rate);
    let passes = figure::marked_passes(lines.iter().map(|line| line.comparison));
    let level = advised(found);
    let advised = lines
        .iter()
        .filter(|line| Some(line.level) == level.as_ref());
    let parts = advised.filter_map(|line| parts_of(found.plan, line));
    rate.into_iter()
        .chain(passes)
        .chain(parts)
        .chain(left_out)
        .chain(hosts(found.plan))
        .collect()
}

/// The share of headers in a change of goodput, where it is known.
fn parts_of(plan: &Plan, line: &Line<'_>) -> Option<String> {
    line.comparison.decomposition?;
    let is_change = matches!(
        Finding::of(line.comparison),
        Finding::Better | Finding::Worse
    );
    let change = figure::change_percent(line.comparison);
    let parts = summary::composition(plan, line.comparison);
    is_change.then(|| format!("{}: {} {change}{parts}.", line.name, called(line.row)))
}

/// The costs of hosts that an experiment describes, which are not those of any machine
/// unless they were fitted to it.
fn hosts(plan: &Plan) -> Option<String> {
    match plan.world.profile().hosts {
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
            nanoseconds(costs.send_per_octet),
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

/// What to type next, but for a run in the world of this one; empty without it.
pub(crate) fn next(plan: &Plan) -> String {
    let own = format!("--on {}", plan.world);
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
fn caption(plan: &Plan, lines: &[Line<'_>]) -> String {
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
fn one_level<'a>(lines: &[Line<'a>]) -> Option<&'a Level> {
    let first = lines.first()?.level;
    lines
        .iter()
        .all(|line| line.level == first)
        .then_some(first)
}

fn table(plan: &Plan, lines: &[Line<'_>], columns: Columns) -> Table {
    let compare = &plan.compare;
    let level = one_level(lines).map(|level| plan.label(&compare.factor, level));
    let with_means = columns == Columns::All;
    let mut heads = vec![Column::default()];
    heads.extend(level.is_none().then(|| Column::new(summary::factor(plan))));
    heads.push(Column::default());
    if with_means {
        let own = plan.world.profile().words.figures.to_owned();
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
        cells.push(Cell::Text(quantity(line.row)));
        if with_means {
            cells.push(Cell::figure(short_mean(line.baseline)));
            cells.push(Cell::figure(short_mean(line.comparison)));
        }
        let (percent, interval) = change(line.comparison);
        cells.push(Cell::figure(percent));
        cells.push(Cell::Text(interval));
        let finding = Finding::of(line.comparison);
        let remark = Remark::new(finding.tone(), figure::marked(&finding, line.comparison));
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

fn page_table(plan: &Plan, lines: &[Line<'_>]) -> Table {
    let compare = &plan.compare;
    let level = one_level(lines).map(|level| plan.label(&compare.factor, level));
    let mut columns = vec![Column::default()];
    columns.extend(level.is_none().then(|| Column::new(summary::factor(plan))));
    columns.push(Column::new(plan.label(&compare.factor, &compare.baseline)));
    let own = plan.world.profile().words.figures.to_owned();
    columns.push(Column::new(level.clone().unwrap_or(own)));
    columns.push(Column::new("Change in per cent, with its 95 % interval"));
    let rows = lines.iter().map(|line| {
        let mut cells = vec![Cell::Text(format!("{}: {}", line.name, quantity(line.row)))];
        let own = plan.label(&compare.factor, line.level);
        cells.extend(level.is_none().then_some(Cell::Text(own)));
        cells.push(Cell::figure(short_mean(line.baseline)));
        cells.push(Cell::figure(short_mean(line.comparison)));
        let (percent, interval) = change(line.comparison);
        let finding = Finding::of(line.comparison);
        cells.push(Cell::Change {
            percent,
            interval,
            words: figure::marked(&finding, line.comparison),
            tone: finding.tone(),
        });
        cells
    });
    Table {
        rows: rows.collect(),
        caption: Some(caption(plan, lines)),
        columns,
        fit: Fit::Glance,
        ..Table::default()
    }
}

/// The level of the compared factor that the advice is about.
fn advised(found: &Findings<'_>) -> Option<Level> {
    Subject::of_headline(found).level().cloned()
}

#[cfg(test)]
mod tests;
