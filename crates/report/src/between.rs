//! What changed between two runs, in words, tables and JSON Lines.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use comfy_table::{Cell, Row};
use serde::Serialize;

use crate::grid::{factor_cells, factor_names, grid, keep_figures_whole};
use crate::json::{json_line, pair};
use crate::{figure, notes};
use analysis::Findings;
use analysis::certificate::word;
use analysis::compare::{Difference, Shift, between};
use plan::metric::Metric;
use plan::{Factors, Plan};

/// A run that is held against another.
pub struct Run<'a> {
    /// Its folder.
    pub folder: &'a Path,
    /// What it shows.
    pub found: &'a Findings<'a>,
}

/// What changed from `first` to `second`: one sentence, the metrics of the
/// study, what else differs between the runs, and both certificates.
pub fn changes(first: &Run<'_>, second: &Run<'_>, width: u16) -> String {
    let shifts = shifts(first.found, second.found);
    let mut text = format!(
        "A: {}\nB: {}\n\n{}\n",
        first.folder.display(),
        second.folder.display(),
        notes::wrapped(&[sentence(&shifts)], width)
    );
    let metrics = shifts.iter().map(|shift| shift.after.metric);
    let mut metrics: Vec<&'static Metric> =
        metrics.filter(|metric| metric.table().is_some()).collect();
    metrics.dedup();
    for metric in metrics {
        let of_metric: Vec<&Shift> = shifts
            .iter()
            .filter(|shift| shift.after.metric == metric)
            .collect();
        let grid = table(second.found.plan, &of_metric, width);
        let heading = format!("{} ({})", metric.title, metric.unit);
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\n{heading}\n{}", grid.trim_fmt());
    }
    let differing = differing(first, second);
    let differing = match differing.is_empty() {
        true => vec!["Plans, program and machine are the same.".to_owned()],
        false => std::iter::once("What else differs".to_owned())
            .chain(differing.into_iter().map(|line| format!("  {line}")))
            .collect(),
    };
    let read = "± and [..] are 95 % intervals. A change is found at 5 % over all cells of its metric (Holm) and above \
                the resolution of both runs. \"gain\" is how the gain over the baseline changed. The runs were not \
                interleaved: whatever differed between their times counts as a change.";
    let certificates = [("A", first), ("B", second)].map(|(name, run)| {
        let certificate = &run.found.certificate;
        let word = if certificate.passed {
            "passed"
        } else {
            "FAILED"
        };
        let lines = certificate.faults.iter().chain(&certificate.notes);
        let lines: Vec<String> = lines.map(|line| format!("  {line}")).collect();
        [vec![format!("Certificate of {name}: {word}")], lines].concat()
    });
    for lines in [differing, vec![read.to_owned()], certificates.concat()] {
        let _ = writeln!(text, "\n{}", notes::wrapped(&lines, width));
    }
    text
}

/// One object a metric and cell that both runs measured, without line ends;
/// docs/formats.md is the schema.
pub fn changes_json(first: &Run<'_>, second: &Run<'_>) -> Vec<String> {
    let shifts = shifts(first.found, second.found);
    shifts.iter().map(|shift| json_line(&line(shift))).collect()
}

fn shifts(first: &Findings<'_>, second: &Findings<'_>) -> Vec<Shift> {
    between((first.plan, first.trials), (second.plan, second.trials))
}

/// The order of fields is the format's.
#[derive(Serialize)]
struct Line<'a> {
    metric: &'a str,
    unit: &'a str,
    factors: &'a Factors,
    n: [usize; 2],
    mean: [Option<f64>; 2],
    ci95: [Option<[f64; 2]>; 2],
    change_percent: Option<f64>,
    change_ci95: Option<[f64; 2]>,
    difference: Option<&'static str>,
    excluded_above_percent: Option<f64>,
    gain_change_percent: Option<f64>,
    gain_change_ci95: Option<[f64; 2]>,
}

fn line(shift: &Shift) -> Line<'_> {
    let both = [&shift.before, &shift.after];
    let change = shift.after.change;
    Line {
        metric: shift.after.metric.name,
        unit: shift.after.metric.unit,
        factors: &shift.after.factors,
        n: both.map(|cell| cell.n),
        mean: both.map(|cell| cell.mean.map(|mean| mean.mean)),
        ci95: both.map(|cell| cell.mean.and_then(|mean| mean.ci95).map(pair)),
        change_percent: change.and_then(|change| change.percent),
        change_ci95: change.and_then(|change| change.ci95).map(pair),
        difference: shift.after.difference.map(Difference::as_str),
        excluded_above_percent: change.and_then(|change| change.excluded_above),
        gain_change_percent: shift.gain.map(|gain| gain.percent()),
        gain_change_ci95: shift.gain.and_then(|gain| gain.interval(0.95)).map(pair),
    }
}

/// The answer: which of the study's metrics changed, where, and by how much.
fn sentence(shifts: &[Shift]) -> String {
    let primary: Vec<&Shift> = shifts
        .iter()
        .filter(|shift| shift.after.metric.table().is_some())
        .collect();
    let found: Vec<String> = primary
        .iter()
        .filter(|shift| shift.after.difference == Some(Difference::Found))
        .map(|shift| {
            let (metric, factors) = (shift.after.metric.name, &shift.after.factors);
            let change = figure::change_percent(&shift.after);
            format!("{metric} at {factors} {change}")
        })
        .collect();
    if primary.is_empty() {
        return "The two runs have no cell and metric of the study in common: nothing can be said."
            .into();
    }
    if found.is_empty() {
        let widest = primary
            .iter()
            .filter(|shift| shift.after.metric.name == "throughput");
        let margins = widest.filter_map(|shift| shift.after.change?.excluded_above);
        let margin = margins.reduce(f64::max).map_or_else(String::new, |margin| {
            format!(" (in goodput one above {margin:.2} % would have shown in each cell)")
        });
        return format!("From A to B no change was found{margin}.");
    }
    format!(
        "From A to B changed {} of {}: {}.",
        found.len(),
        primary.len(),
        found.join("; ")
    )
}

fn table(plan: &Plan, shifts: &[&Shift], width: u16) -> comfy_table::Table {
    let names = factor_names(plan);
    let mut before: Vec<String> = shifts
        .iter()
        .map(|shift| figure::mean(&shift.before))
        .collect();
    let mut after: Vec<String> = shifts
        .iter()
        .map(|shift| figure::mean(&shift.after))
        .collect();
    let mut changes: Vec<String> = shifts
        .iter()
        .map(|shift| figure::change(&shift.after))
        .collect();
    for column in [&mut before, &mut after, &mut changes] {
        figure::align(column);
    }
    let mut grid = grid(width);
    let titles = ["A", "B", "% from A to B", ""];
    let header = names.iter().map(Cell::new).chain(titles.map(Cell::new));
    grid.set_header(Row::from(header.collect::<Vec<_>>()));
    for (position, shift) in shifts.iter().enumerate() {
        let mut remarks = Vec::new();
        match shift.after.difference {
            Some(Difference::Found) => remarks.push("CHANGED".to_owned()),
            Some(Difference::NotFound) => remarks.push(figure::none_found(&shift.after)),
            Some(Difference::Unknown) | None => remarks.push("too few trials".to_owned()),
        }
        if let Some(interval) = shift.gain.and_then(|gain| gain.interval(0.95)) {
            let percent = shift.gain.map_or(0.0, |gain| gain.percent());
            remarks.push(format!("gain {}", figure::percent_in(percent, interval)));
        }
        let mut cells = factor_cells(&names, &shift.after.factors);
        let figures = [&before[position], &after[position], &changes[position]];
        cells.extend(figures.map(Cell::new));
        cells.push(Cell::new(remarks.join("; ")));
        grid.add_row(Row::from(cells));
    }
    keep_figures_whole(&mut grid, width);
    grid
}

/// Everything else that differs between two runs, a line each: keys of the
/// resolved plans, program and machine.
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
        ("world".to_owned(), facts.world.to_string()),
    ]);
    if let Some(host) = &facts.host {
        described.extend([
            ("kernel".to_owned(), host.kernel.clone()),
            (
                "CPU".to_owned(),
                format!("{} x {}", host.cpus, host.cpu_model),
            ),
            ("run by root".to_owned(), host.root.to_string()),
        ]);
        let machine = host.machine.iter();
        described.extend(machine.map(|(name, value)| (format!("machine: {name}"), word(value))));
    }
    let mut table = String::new();
    for line in run.found.plan.text.lines().map(str::trim) {
        if line.starts_with('[') {
            // Published figures repeat their tables; they decide nothing here.
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
mod tests {
    use super::*;
    use plan::synthetic::{facts, study};
    use plan::{RunFacts, Trial};

    fn report(change: impl Fn(&mut Plan, &mut Vec<Trial>, &mut RunFacts)) -> (String, Vec<String>) {
        let (plan, trials) = study();
        let (mut later, mut later_trials, mut later_facts) =
            (plan.clone(), trials.clone(), facts());
        change(&mut later, &mut later_trials, &mut later_facts);
        let facts = facts();
        let first = Findings::of(&plan, &trials, &facts);
        let second = Findings::of(&later, &later_trials, &later_facts);
        let (first, second) = (
            Run {
                folder: Path::new("a"),
                found: &first,
            },
            Run {
                folder: Path::new("b"),
                found: &second,
            },
        );
        (changes(&first, &second, 100), changes_json(&first, &second))
    }

    #[test]
    fn a_run_held_against_itself_has_not_changed() {
        let (text, json) = report(|_, _, _| {});
        assert!(
            text.starts_with("A: a\nB: b\n\nFrom A to B no change was found"),
            "{text}"
        );
        assert!(
            text.contains("Plans, program and machine are the same."),
            "{text}"
        );
        assert!(!text.contains("CHANGED"), "{text}");
        assert!(
            json.iter()
                .all(|line| line.contains(r#""difference":"not_found""#)),
            "{json:?}"
        );
    }

    #[test]
    fn what_changed_and_what_else_differs_is_named() {
        let (text, json) = report(|plan, trials, facts| {
            plan.text = plan.text.replace("repeat = 2", "repeat = 3");
            facts.host.as_mut().unwrap().kernel = "Linux 7.0.0".into();
            for trial in trials
                .iter_mut()
                .filter(|trial| trial.factors.to_string().ends_with("off mtu=9000"))
            {
                *trial.metrics.get_mut("throughput").unwrap() *= 0.9;
            }
        });
        let sentence = "From A to B changed 1 of 8: throughput at scenario=LU-LU offloads=off mtu=9000 -10.0 %";
        assert!(
            notes::wrapped(std::slice::from_ref(&text), 9999).contains(sentence),
            "{text}"
        );
        for line in [
            "CHANGED; gain -10",
            "  kernel: Linux 6.18.0 -> Linux 7.0.0",
            "  trials.repeat: 2 -> 3",
        ] {
            assert!(text.contains(line), "{line}: {text}");
        }
        let found = json
            .iter()
            .filter(|line| line.contains(r#""difference":"found""#));
        assert_eq!(found.count(), 1);
        assert!(
            text.lines().all(|line| line.chars().count() <= 100),
            "{text}"
        );
    }

    #[test]
    fn runs_without_a_common_cell_say_so() {
        let (text, json) = report(|plan, _, _| plan.cells.clear());
        assert!(
            text.contains("nothing can be said") && json.is_empty(),
            "{text}"
        );
    }
}
