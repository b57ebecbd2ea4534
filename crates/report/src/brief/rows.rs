//! The table of a short report: changes of the metrics of the answer, then of the
//! other metrics of the study.

use analysis::Findings;
use analysis::compare::{Comparison, Difference};
use analysis::verdict::Verdict;
use document::terminal;
use document::{Cell, Column, Emphasis, Fit, Remark, Table};
use plan::Level;
use plan::metric::Metric;

use crate::figure;
use crate::rows::{aligned, answer_metrics, factor_names, tone};
use crate::section::prober_accuracy;
use crate::section::summary;

/// The columns behind the factors, fewer on a narrow terminal.
#[derive(Clone, Copy)]
struct Layout {
    /// Whether levels have their labels.
    labels: bool,
    baseline: bool,
    mean: bool,
    paper: bool,
}

/// From the widest to the narrowest.
const LAYOUTS: [Layout; 6] = [
    layout(true, true, true, true),
    layout(true, false, true, true),
    layout(true, false, false, true),
    layout(true, false, false, false),
    layout(false, false, true, true),
    layout(false, false, false, false),
];

const fn layout(labels: bool, baseline: bool, mean: bool, paper: bool) -> Layout {
    Layout {
        labels,
        baseline,
        mean,
        paper,
    }
}

/// The rows of the table, the most important ones first.
pub(super) struct Rows<'a> {
    found: &'a Findings<'a>,
    metrics: Vec<&'static Metric>,
    rows: Vec<&'a Comparison>,
}

impl<'a> Rows<'a> {
    /// The rows of a run: those of the answer, then other levels and cells of its
    /// metrics, then the other metrics of the study.
    pub(super) fn of(found: &'a Findings<'a>) -> Self {
        let plan = found.plan;
        let (answer, metrics) = (&found.answer, answer_metrics(found));
        let is_row = |row: &&Comparison| plan.cells[row.cell].setting.is_ok() && row.n > 0;
        let rows: Vec<&Comparison> = found.comparisons.iter().filter(is_row).collect();
        let compared = rows.iter().any(|row| row.change.is_some());
        let rank = |row: &&Comparison| {
            let metric = metrics.iter().position(|metric| *metric == row.metric)?;
            let level = row.factors.level(&plan.compare.factor);
            let other = (
                !answer.metrics.contains(&row.metric),
                !plan.report.includes(&row.factors),
                level != answer.level.as_ref(),
            );
            Some((other, metric, row.cell))
        };
        let mut ranked: Vec<_> = rows
            .into_iter()
            .filter(|row| row.change.is_some() || !compared)
            .filter_map(|row| Some((rank(&row)?, row)))
            .collect();
        ranked.sort_by_key(|(rank, _)| *rank);
        Self {
            found,
            metrics,
            rows: ranked.into_iter().map(|(_, row)| row).collect(),
        }
    }

    /// The number of rows.
    pub(super) fn count(&self) -> usize {
        match self.found.scores.len() {
            0 => self.rows.len(),
            scored => scored,
        }
    }

    /// The first `count` rows in the order of the report, for a terminal of `width`
    /// columns, and the number of the others.
    pub(super) fn table(&self, count: usize, width: u16) -> Table {
        let fits = |table: &Table| terminal::line_width(table, width) <= usize::from(width);
        let scored = |labels| prober_accuracy::table(self.found, count, labels);
        let own = scored(true).filter(fits);
        if let Some(table) = own.or_else(|| scored(false)) {
            return Table {
                more: more(self.count() - table.rows.len()),
                ..table
            };
        }
        let tables = LAYOUTS.iter().map(|layout| self.with(count, *layout));
        let mut tables = tables.peekable();
        loop {
            match tables.next() {
                Some(table) if tables.peek().is_none() || fits(&table) => return table,
                Some(_) => {}
                None => return Table::default(),
            }
        }
    }

    fn with(&self, count: usize, layout: Layout) -> Table {
        let plan = self.found.plan;
        let mut shown: Vec<&Comparison> = self.rows.iter().take(count).copied().collect();
        let place = |metric| self.metrics.iter().position(|other| *other == metric);
        shown.sort_by_key(|row| (place(row.metric), row.cell));
        let text = |name: &String, level: &Level| match layout.labels {
            true => plan.label(name, level),
            false => level.to_string(),
        };
        let level = |row: &Comparison, name: &String| {
            let level = row.factors.level(name);
            level.map_or_else(String::new, |level| text(name, level))
        };
        let varies = |name: &String| {
            let first = shown.first().map(|row| level(row, name));
            shown.iter().any(|row| Some(level(row, name)) != first)
        };
        let (names, fixed): (Vec<String>, Vec<String>) =
            factor_names(plan).into_iter().partition(varies);
        let compare = &plan.compare;
        let baseline = text(&compare.factor, &compare.baseline);
        let means = aligned(shown.iter().copied().map(Some), figure::unmarked_mean);
        let changes = aligned(shown.iter().copied().map(Some), figure::change);
        let papers = layout.paper && shown.iter().any(|row| row.published.claim.is_some());
        let bases: Vec<Option<&Comparison>> = shown.iter().map(|row| self.baseline(row)).collect();
        let bases = aligned(bases, figure::unmarked_mean);

        let mut columns = vec![Column::new(names.first().cloned().unwrap_or_default())];
        columns.extend(names.iter().skip(1).map(Column::new));
        columns.extend(layout.baseline.then(|| Column::new(&*baseline)));
        columns.extend(
            layout
                .mean
                .then(|| Column::new(plan.backend.profile().words.figures)),
        );
        columns.push(Column::new(format!("% against {baseline}")));
        columns.extend(papers.then(|| Column::right("paper %")));
        columns.push(Column::default());

        let mut rows: Vec<Vec<Cell>> = Vec::new();
        let mut above: Option<&Metric> = None;
        for (position, row) in shown.iter().enumerate() {
            if above != Some(row.metric) {
                above = Some(row.metric);
                let heading = format!("{} ({})", row.metric.title, row.metric.unit);
                rows.push(vec![Cell::Text(heading)]);
            }
            let first = names
                .first()
                .map_or_else(String::new, |name| level(row, name));
            let mut cells = vec![Cell::Text(format!("  {first}"))];
            let others = names.iter().skip(1);
            cells.extend(others.map(|name| Cell::Text(level(row, name))));
            cells.extend(layout.baseline.then(|| Cell::figure(&*bases[position])));
            cells.extend(layout.mean.then(|| Cell::figure(&*means[position])));
            cells.push(Cell::figure(&*changes[position]));
            let claim = row.published.claim.as_ref();
            let claim = claim.map_or_else(String::new, |claim| figure::signed(claim.percent, 2));
            cells.extend(papers.then(|| Cell::figure(claim)));
            cells.push(Cell::Remarks(vec![remark(row)]));
            rows.push(cells);
        }
        let fixed: Vec<String> = fixed
            .iter()
            .filter(|name| **name != compare.factor)
            .filter_map(|name| {
                let level = shown.first()?.factors.level(name)?;
                let labels = plan.report.labels.get(name);
                let is_labelled =
                    labels.is_some_and(|labels| labels.contains_key(&level.to_string()));
                let level = plan.label(name, level);
                Some(match is_labelled {
                    true => level,
                    false => format!("{name} {level}"),
                })
            })
            .collect();
        let factor = summary::factor(plan);
        let against = match names.contains(&compare.factor) {
            true => format!("Changes against {factor} {baseline}"),
            false => {
                let level = shown.first().map(|row| level(row, &compare.factor));
                let level = level.unwrap_or_default();
                format!("Changes, {factor} {level} against {baseline}")
            }
        };
        let caption = match fixed.is_empty() {
            true => format!("{against}:"),
            false => format!("{against}, with {}:", fixed.join(", ")),
        };
        Table {
            caption: Some(caption),
            columns,
            rows,
            fit: Fit::Line,
            more: more(self.rows.len() - shown.len()),
            ..Table::default()
        }
    }

    /// The row of the baseline of a row.
    fn baseline(&self, row: &Comparison) -> Option<&'a Comparison> {
        self.found.find(row.metric, self.found.baselines[row.cell]?)
    }
}

/// The line below a table that leaves out `rows` rows.
fn more(rows: usize) -> Option<String> {
    let plural = if rows == 1 { "" } else { "s" };
    (rows > 0).then(|| format!("and {rows} more row{plural}: --full or the page"))
}

/// One verdict: on the published change, or else on the difference; and whether it is
/// approximate.
fn remark(row: &Comparison) -> Remark {
    let verdict = verdict(row);
    match row.is_approximate() && !verdict.words.is_empty() {
        true => Remark {
            words: format!("approximate: {}", verdict.words),
            ..verdict
        },
        false => verdict,
    }
}

fn verdict(row: &Comparison) -> Remark {
    if let (Some(judgement), Some(_)) = (&row.judgement, row.change)
        && judgement.verdict == Verdict::NotMeasured
    {
        return Remark::new(tone(judgement.verdict), judgement.reason.clone());
    }
    if let Some(judgement) = row.judgement.as_ref()
        && row.published.claim.is_some()
    {
        let reason = judgement.reason.split(';').next().unwrap_or_default();
        return Remark {
            detail: format!(": {reason}"),
            ..Remark::new(tone(judgement.verdict), judgement.verdict.to_string())
        };
    }
    match (row.difference, row.improves()) {
        (Some(Difference::Found), true) => Remark::new(Emphasis::Good, "better"),
        (Some(Difference::Found), false) => Remark::new(Emphasis::Bad, "worse"),
        (Some(Difference::NotFound), _) => {
            let whole = figure::none_found(row);
            let words = ["no difference found", "no result"];
            let split = words.iter().find_map(|words| {
                let reason = whole.strip_prefix(words)?;
                Some((*words, reason))
            });
            let (words, reason) = split.unwrap_or((&whole, ""));
            Remark {
                detail: reason.to_owned(),
                ..Remark::new(Emphasis::Neutral, words)
            }
        }
        (Some(Difference::Unknown), _) => Remark::new(Emphasis::Neutral, "too few trials"),
        (None, _) => Remark::new(Emphasis::Aside, ""),
    }
}
