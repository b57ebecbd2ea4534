//! The report of runs of one experiment in several backends, compared with each
//! other and with published values.

mod table;
mod tcp;

use analysis::across_backends::AcrossBackends;
use analysis::compare::Comparison;
use analysis::statistics::Interval;
use document::{Block, Document, Section, Style};
use plan::metric::{Metric, Shown};

use crate::diff::Run;
use crate::plots::Frame;
use crate::plots::metrics::figure;
use crate::rows::heading;
use crate::section::auto_rate::auto_rate;
use crate::section::metrics::opening;
use crate::section::{headline, quality_check};
use table::{held, left_out, table};

/// The base of a change in per cent.
const PERCENT: f64 = 100.0;

/// The explanation of the plots.
const SYMBOLS: &str = "Large symbols are means with their 95 % intervals, small ones single trials, open diamonds published figures. A click on a name in the legend hides or shows it.";

/// The report of `runs`, joined in `all`: the findings of each run, their
/// agreement, a table for each metric of the study and each other metric that
/// two runs have, the quality checks and the plans.
pub fn of_backends(all: &AcrossBackends, runs: &[Run<'_>]) -> Document {
    let badges = all.names.iter().zip(runs);
    let badges = badges.map(|(name, run)| {
        quality_check::named_badge(&format!("{name}:"), run.found.quality_check.state())
    });
    let folders = all.names.iter().zip(runs);
    let folders = folders.map(|(name, run)| format!("{name}: {}", run.folder.display()));
    let answers = (0..runs.len()).flat_map(|run| answers(all, runs, run));
    let mut rates = runs.iter().map(|run| run.found.facts.auto_rate.as_ref());
    let rate = rates.find_map(|rate| rate);
    let title = format!("{}: {}", all.plan.name, all.plan.title);
    Document {
        title: format!("{title}, in {} backends", runs.len()),
        head: vec![
            Block::Title {
                name: all.plan.name.clone(),
                title: all.plan.title.clone(),
                badges: badges.collect(),
            },
            Block::Terminal(vec![Block::Paragraphs(Style::Plain, folders.collect())]),
            Block::Paragraphs(
                Style::Answer,
                answers
                    .chain(agreement(all))
                    .chain(tcp::differences(all))
                    .chain(rate.map(auto_rate))
                    .collect(),
            ),
        ],
        sections: vec![
            plots(all),
            tables(all),
            Section {
                id: "method",
                blocks: vec![
                    Block::Page(vec![Block::heading("How to read this")]),
                    Block::Paragraphs(
                        Style::Plain,
                        [left_out(all), vec![reading(all, runs)]].concat(),
                    ),
                ],
            },
            quality_checks(all, runs),
            plans(all, runs),
        ],
    }
}

fn plots(all: &AcrossBackends) -> Section {
    let frame = Frame::of(&all.plan, &all.trials, &all.comparisons);
    let metrics = shown(all).into_iter();
    let metrics = metrics.filter(|metric| metric.shown != Shown::Json);
    let figures = metrics.filter_map(|metric| figure(&frame, metric));
    let mut blocks = opening(SYMBOLS);
    blocks.extend(figures.map(Block::Figure));
    Section {
        id: "plots-section",
        blocks: vec![Block::Page(blocks)],
    }
}

fn tables(all: &AcrossBackends) -> Section {
    let of_metric = |metric: &'static Metric| {
        let heading = Block::subheading(title(all, metric));
        let rows = all.comparisons.iter().filter(|row| row.metric == metric);
        let note = crate::figure::notes(rows).map(|note| Block::paragraph(Style::Note, note));
        [Some(heading), Some(Block::Table(table(all, metric))), note]
            .into_iter()
            .flatten()
    };
    let heading = Block::Page(vec![Block::heading("Tables")]);
    let held: Vec<String> = { held(all).into_iter() }
        .map(|(name, level)| format!("{name} {}", all.plan.label(name, level)))
        .collect();
    let held = (!held.is_empty())
        .then(|| Block::paragraph(Style::Plain, format!("In all rows: {}.", held.join(", "))));
    let tables = shown(all).into_iter().flat_map(of_metric);
    Section {
        id: "tables",
        blocks: std::iter::once(heading).chain(held).chain(tables).collect(),
    }
}

fn quality_checks(all: &AcrossBackends, runs: &[Run<'_>]) -> Section {
    let mut blocks = vec![Block::Page(vec![Block::heading("Quality checks")])];
    for (name, run) in all.names.iter().zip(runs) {
        let quality_check = &run.found.quality_check;
        blocks.push(Block::Subheading(
            format!("Quality check of {name}"),
            Some(quality_check::badge(quality_check.state())),
        ));
        let folder = run.folder.display().to_string();
        blocks.push(Block::Page(vec![Block::paragraph(Style::Note, folder)]));
        blocks.push(quality_check::conditions(quality_check));
        let facts = quality_check::whole(quality_check.facts.clone());
        blocks.push(Block::Page(vec![facts]));
    }
    Section {
        id: "quality-check",
        blocks,
    }
}

fn plans(all: &AcrossBackends, runs: &[Run<'_>]) -> Section {
    let plans = all.names.iter().zip(runs).map(|(name, run)| Block::Fold {
        summary: format!(
            "As it was run in {name}, every default written out (hash {})",
            run.found.plan.hash
        ),
        blocks: vec![Block::Verbatim(run.found.plan.text.clone())],
    });
    let heading = std::iter::once(Block::heading("Plans"));
    Section {
        id: "plans",
        blocks: vec![Block::Page(heading.chain(plans).collect())],
    }
}

/// The headline of a single run.
fn answers(all: &AcrossBackends, runs: &[Run<'_>], run: usize) -> Vec<String> {
    let sentences = headline::answer(&runs[run].found).into_iter();
    sentences
        .map(|sentence| format!("{}: {sentence}", all.names[run]))
        .collect()
}

/// For each pair of runs, the number of changes against the baseline that
/// agree; where neither has intervals, how far changes are apart.
fn agreement(all: &AcrossBackends) -> Vec<String> {
    let mut lines = Vec::new();
    for one in 0..all.names.len() {
        for other in one + 1..all.names.len() {
            let (mut met, mut apart) = (Vec::new(), Vec::new());
            let metrics = all.metrics().into_iter();
            for metric in metrics.filter(|metric| all.plan.leads(metric)) {
                let rows = all.rows(metric);
                let pairs = rows.iter().filter_map(|row| {
                    Some([range(row.of_runs[one]?)?, range(row.of_runs[other]?)?])
                });
                let (exact, pairs): (Vec<_>, Vec<_>) =
                    pairs.partition(|pair| pair.iter().all(|range| range.is_exact(PERCENT)));
                if !pairs.is_empty() {
                    let meet = pairs.iter().filter(|[one, other]| one.meets(*other));
                    met.push(format!(
                        "{} {} of {}",
                        metric.name,
                        meet.count(),
                        pairs.len()
                    ));
                }
                let points = exact.iter().map(|[one, other]| (one.low - other.low).abs());
                if let Some(most) = points.reduce(f64::max) {
                    apart.push(format!("{} {most:.2}", metric.name));
                }
            }
            let names = format!("{} and {}", all.names[one], all.names[other]);
            if !met.is_empty() {
                let met = met.join(", ");
                lines.push(format!(
                    "Changes of which the intervals of {names} meet: {met}."
                ));
            }
            if !apart.is_empty() {
                let apart = apart.join(", ");
                lines.push(format!(
                    "Changes of {names}, which have no spread, differ by at most, in points: {apart}."
                ));
            }
        }
    }
    lines
}

/// The 95 % interval of a change; for a single value, the value itself.
fn range(row: &Comparison) -> Option<Interval> {
    let change = row.change?;
    let percent = change.percent?;
    let alone = Interval {
        low: percent,
        high: percent,
    };
    Some(change.ci95.unwrap_or(alone))
}

/// The metrics that the plan names or the study has and any run measured, and others
/// that two runs measured; first those that the plan names.
fn shown(all: &AcrossBackends) -> Vec<&'static Metric> {
    let measured = |metric: &&'static Metric| {
        let rows = all.rows(metric);
        let runs = (0..all.names.len()).filter(|&run| {
            let mut rows = rows.iter().filter_map(|row| row.of_runs[run]);
            rows.any(|row| row.n > 0)
        });
        runs.count() >= if all.plan.leads(metric) { 1 } else { 2 }
    };
    let leading = &all.plan.leading;
    let mut shown: Vec<&'static Metric> = all.metrics().into_iter().filter(measured).collect();
    shown.sort_by_key(|metric| {
        let place = leading.iter().position(|name| name == metric.name);
        place.unwrap_or(leading.len())
    });
    shown
}

/// The heading of the table of `metric`.
fn title(all: &AcrossBackends, metric: &Metric) -> String {
    match metric.is_shown_first() {
        true => heading(&all.plan, metric),
        false => format!("{} ({})", metric.title, metric.unit),
    }
}

/// The kind of each run's figures: predicted, simulated or measured.
fn kinds(all: &AcrossBackends, runs: &[Run<'_>]) -> Vec<String> {
    let names = all.names.iter().zip(runs);
    let kind = |(name, run): (&String, &Run<'_>)| {
        let profile = run.found.plan.backend.profile();
        let kind = match (profile.predicts, profile.depends_on_machine) {
            (true, _) => "predicted",
            (false, false) => "simulated",
            (false, true) => "measured",
        };
        format!("{name}: {kind}")
    };
    names.map(kind).collect()
}

/// The explanation of the tables.
fn reading(all: &AcrossBackends, runs: &[Run<'_>]) -> String {
    format!(
        "{}; paper: published. ± and [..] are 95 % intervals; a column \"%\" is the change against {} = {} of that backend, \"paper\" what was published, \"less\" one backend's mean less the other's. \
         Each backend is judged as in its own report: a difference is found at 5 % over all its comparisons of the metric (Holm) and above its resolution. \
         Backends have different hosts: their changes are to be compared, rather than their figures.",
        kinds(all, runs).join(", "),
        all.plan.compare.factor,
        all.plan.compare.baseline
    )
}

#[cfg(test)]
mod tests;
