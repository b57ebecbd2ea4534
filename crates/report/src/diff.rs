//! Changes between two runs.

use std::collections::BTreeMap;
use std::path::Path;

use analysis::Findings;
use analysis::compare::{Comparison, Difference, Shift, diff};
use analysis::quality_check::word;
use document::{Block, Cell, Column, Document, Emphasis, Remark, Section, Style, Table};
use plan::Plan;
use plan::metric::Metric;

use crate::figure;
use crate::plots::Frame;
use crate::plots::changes::between_runs;
use crate::rows::{aligned, factor_cells, factor_names};
use crate::section::metrics::no_script;
use crate::section::quality_check;

/// A run to compare with another one.
pub struct Run<'a> {
    /// The results folder.
    pub folder: &'a Path,
    /// Its findings.
    pub found: Findings<'a>,
}

/// The changes from `first` to `second`: a summary sentence, the metrics of the
/// study, other differences between the runs, and both quality checks.
pub fn of_changes(first: &Run<'_>, second: &Run<'_>) -> Document {
    let shifts = shifts(&first.found, &second.found);
    let named = [("A", first), ("B", second)];
    let folders = named.map(|(name, run)| format!("{name}: {}", run.folder.display()));
    let badges = named.map(|(name, run)| {
        quality_check::named_badge(&format!("{name}:"), run.found.quality_check.state())
    });
    Document {
        title: format!(
            "What changed between two runs of {}",
            second.found.plan.name
        ),
        head: vec![
            Block::Page(vec![Block::Title {
                name: second.found.plan.name.clone(),
                title: "What changed between two runs".to_owned(),
                badges: badges.into(),
            }]),
            Block::Verbatim(folders.join("\n")),
            Block::paragraph(Style::Answer, headline(&shifts, [first, second])),
        ],
        sections: vec![
            metrics(&second.found, &shifts),
            others(first, second),
            Section {
                id: "method",
                blocks: vec![
                    Block::Page(vec![Block::heading("How to read this")]),
                    Block::paragraph(Style::Note, READ),
                ],
            },
            quality_checks(named),
        ],
    }
}

/// The explanation of the tables.
const READ: &str = "± and [..] are 95 % intervals. A change is found at 5 % over all cells of its metric (Holm) and above \
                    the resolution of both runs. \"gain\" is how the gain over the baseline changed. The runs were not \
                    interleaved: whatever differed between their times counts as a change.";

/// The explanation of the plots.
const SYMBOLS: &str = "A row is a setting: the change of its mean from A to B with its 95 % interval. A filled symbol is a change that was found; the thick line is no change. An arrow ends an interval that goes on beyond the axis.";

/// A plot and a table for each metric of the study.
fn metrics(found: &Findings<'_>, shifts: &[Shift]) -> Section {
    let after: Vec<Comparison> = shifts.iter().map(|shift| shift.after.clone()).collect();
    let frame = Frame::of(found.plan, found.trials, &after);
    let metrics = shifts.iter().map(|shift| shift.after.metric);
    let mut metrics: Vec<&'static Metric> =
        metrics.filter(|metric| metric.is_shown_first()).collect();
    metrics.dedup();
    let mut blocks = vec![Block::Page(vec![
        Block::heading("Changes"),
        Block::paragraph(Style::Note, SYMBOLS),
        no_script(),
    ])];
    for metric in metrics {
        let of_metric = shifts.iter().filter(|shift| shift.after.metric == metric);
        let of_metric: Vec<&Shift> = of_metric.collect();
        blocks.push(Block::subheading(format!(
            "{} ({})",
            metric.title, metric.unit
        )));
        let rows = of_metric
            .iter()
            .flat_map(|shift| [&shift.before, &shift.after]);
        let note = figure::notes(rows);
        let figure = between_runs(&frame, metric);
        blocks.extend(figure.map(|figure| Block::Page(vec![Block::Figure(figure)])));
        blocks.push(Block::Table(table(found.plan, &of_metric)));
        blocks.extend(note.map(|note| Block::paragraph(Style::Note, note)));
    }
    Section {
        id: "changes",
        blocks,
    }
}

/// The other differences between the runs.
fn others(first: &Run<'_>, second: &Run<'_>) -> Section {
    let differing = differing(first, second);
    let heading = Block::heading("What else differs");
    let blocks = match differing.is_empty() {
        true => {
            let same = "Plans, program and machine are the same.";
            vec![
                Block::Page(vec![heading]),
                Block::paragraph(Style::Plain, same),
            ]
        }
        false => vec![heading, quality_check::whole(differing)],
    };
    Section {
        id: "differences",
        blocks,
    }
}

fn quality_checks(named: [(&str, &Run<'_>); 2]) -> Section {
    let mut blocks = vec![Block::Page(vec![Block::heading("Quality checks")])];
    for (name, run) in named {
        let quality_check = &run.found.quality_check;
        blocks.push(Block::Subheading(
            format!("Quality check of {name}"),
            Some(quality_check::badge(quality_check.state())),
        ));
        blocks.push(quality_check::conditions(quality_check));
    }
    Section {
        id: "quality-check",
        blocks,
    }
}

pub(super) fn shifts(first: &Findings<'_>, second: &Findings<'_>) -> Vec<Shift> {
    diff((first.plan, first.trials), (second.plan, second.trials))
}

/// The summary with the warnings about both runs.
fn headline(shifts: &[Shift], runs: [&Run<'_>; 2]) -> String {
    let named = ["A", "B"].into_iter().zip(runs);
    let warnings = named.flat_map(|(name, run)| {
        let warnings = run.found.quality_check.warnings.iter();
        warnings.map(move |warning| format!("{name}: {warning}"))
    });
    let warnings: Vec<String> = warnings.collect();
    let sentence = sentence(runs[1].found.plan, shifts);
    match warnings.as_slice() {
        [] => sentence,
        warnings => format!(
            "{} (warning: {}).",
            sentence.trim_end_matches('.'),
            warnings.join("; ")
        ),
    }
}

/// The number of changes that the summary names, the largest.
const MOST_NAMED: usize = 6;

/// The metrics of the study that changed, with cell and size.
fn sentence(plan: &Plan, shifts: &[Shift]) -> String {
    let primary: Vec<&Shift> = shifts
        .iter()
        .filter(|shift| shift.after.metric.is_shown_first())
        .collect();
    let mut changed: Vec<&Shift> = primary
        .iter()
        .copied()
        .filter(|shift| shift.after.difference == Some(Difference::Found))
        .collect();
    let size = |shift: &Shift| {
        let percent = shift.after.change.and_then(|change| change.percent);
        percent.map_or(0.0, f64::abs)
    };
    changed.sort_by(|one, other| size(other).total_cmp(&size(one)));
    let found: Vec<String> = changed
        .iter()
        .take(MOST_NAMED)
        .map(|shift| {
            let setting = plan.labelled(&shift.after.factors);
            let change = figure::change_percent(&shift.after);
            let note = figure::passes([&shift.after]);
            let note = note.map_or_else(String::new, |note| format!(" ({note})"));
            format!("{} at {setting} {change}{note}", shift.after.metric.name)
        })
        .collect();
    if primary.is_empty() {
        return "The two runs have no cell and metric of the study in common: nothing can be said."
            .into();
    }
    if found.is_empty() {
        let of_goodput = primary
            .iter()
            .filter(|shift| shift.after.metric.name == "throughput");
        let margins = of_goodput.clone();
        let margins = margins.filter_map(|shift| shift.after.change?.excluded_above);
        let margin = margins.reduce(f64::max);
        let is_open = of_goodput
            .into_iter()
            .any(|shift| shift.after.is_no_result());
        let margin = margin.map_or_else(String::new, |margin| match is_open {
            true => " (in goodput some cells have no result)".to_owned(),
            false => {
                format!(" (in goodput one above {margin:.2} % would have shown in each cell)")
            }
        });
        return format!("From A to B no change was found{margin}.");
    }
    let named = if changed.len() > MOST_NAMED {
        ", most of all"
    } else {
        ""
    };
    format!(
        "From A to B changed {} of {}{named}: {}.",
        changed.len(),
        primary.len(),
        found.join("; ")
    )
}

fn table(plan: &Plan, shifts: &[&Shift]) -> Table {
    let names = factor_names(plan);
    let before = aligned(shifts.iter().map(|shift| Some(&shift.before)), figure::mean);
    let after = aligned(shifts.iter().map(|shift| Some(&shift.after)), figure::mean);
    let changes = aligned(
        shifts.iter().map(|shift| Some(&shift.after)),
        figure::change,
    );
    let row = |(position, shift): (usize, &&Shift)| {
        let figures = [&before[position], &after[position], &changes[position]];
        let mut cells = factor_cells(plan, &names, &shift.after.factors);
        cells.extend(figures.map(|figure| Cell::figure(&**figure)));
        cells.push(Cell::Remarks(remarks(shift)));
        cells
    };
    let titles = ["A", "B", "% from A to B", ""];
    Table {
        columns: (names.iter().map(Column::new))
            .chain(titles.map(Column::new))
            .collect(),
        rows: shifts.iter().enumerate().map(row).collect(),
        ..Table::default()
    }
}

/// Remarks on the change, and on the change of the gain over the baseline.
fn remarks(shift: &Shift) -> Vec<Remark> {
    let words = match shift.after.difference {
        Some(Difference::Found) => "CHANGED".to_owned(),
        Some(Difference::NotFound) => figure::none_found(&shift.after),
        Some(Difference::Unknown) | None => "too few trials".to_owned(),
    };
    let gain = shift.gain.and_then(|gain| {
        let interval = gain.interval(0.95)?;
        let percent = figure::percent_in(gain.percent(), interval);
        Some(format!("gain {percent}"))
    });
    let remarks = std::iter::once(words).chain(gain);
    remarks
        .map(|words| Remark::new(Emphasis::Neutral, words))
        .collect()
}

/// Other differences between two runs, one line each: keys of the resolved
/// plans, program and machine.
fn differing(first: &Run<'_>, second: &Run<'_>) -> Vec<String> {
    let (a, b) = (described(first), described(second));
    let names: std::collections::BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    let none = String::from("-");
    let value = |of: &BTreeMap<String, String>, name: &str| of.get(name).unwrap_or(&none).clone();
    names
        .into_iter()
        .filter(|name| a.get(*name) != b.get(*name))
        .map(|name| format!("{name}: {} -> {}", value(&a, name), value(&b, name)))
        .collect()
}

fn described(run: &Run<'_>) -> BTreeMap<String, String> {
    let facts = run.found.facts;
    let mut described = BTreeMap::from([
        ("program version".to_owned(), facts.version.clone()),
        ("program build".to_owned(), facts.binary.clone()),
        ("backend".to_owned(), facts.backend.to_string()),
    ]);
    for (named, host) in facts.machines() {
        let key = |name: &str| match named.as_str() {
            "" => name.to_owned(),
            named => format!("{named}: {name}"),
        };
        described.extend([
            (key("kernel"), host.kernel.clone()),
            (key("CPU"), format!("{} x {}", host.cpus, host.cpu_model)),
            (key("run by root"), host.root.to_string()),
        ]);
        let machine = host.machine.iter();
        described
            .extend(machine.map(|(name, value)| (key(&format!("machine: {name}")), word(value))));
    }
    let mut table = String::new();
    for line in run.found.plan.text.lines().map(str::trim) {
        if line.starts_with('[') {
            // Published values repeat their tables; they decide nothing here.
            table = line.trim_matches(['[', ']']).to_owned();
        } else if let Some((key, value)) = line.split_once('=')
            && table != "published"
            && table != "claim"
            && table != "jump"
            && !line.starts_with('#')
        {
            let key = match table.is_empty() {
                true => key.trim().to_owned(),
                false => format!("{table}.{}", key.trim()),
            };
            described.insert(key, value.trim().to_owned());
        }
    }
    described
}

#[cfg(test)]
mod tests;
