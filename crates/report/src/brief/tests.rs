use std::collections::BTreeSet;

use experiment::{Experiment, shipped};
use plan::synthetic::{Normal, facts, study};
use plan::{Backend, Plan, Trial};

use super::*;
use crate::section::rows;

/// Cells of a plan that get trials: enough for any table.
const CELLS: usize = 48;

/// Every shipped experiment in its own backend, with three trials a cell.
fn runs() -> Vec<(Plan, Vec<Trial>)> {
    let shipped = shipped().filter(|shipped| shipped.name != "replay");
    let load = |name: &str| {
        let mut experiment = Experiment::load(name).unwrap();
        if name == "aqm-interpretations" {
            // To plan its thousands of cells takes longer than all else.
            experiment.set("packets=3000B,2in1").unwrap();
            experiment.set("curve=text").unwrap();
        }
        experiment
    };
    let of = |name: &str| {
        let experiment = load(name);
        let backend = experiment.backend().unwrap().unwrap_or_default();
        let mut plan = backends::backend::plan(experiment, backend)
            .or_else(|_| backends::backend::plan(load(name), Backend::Sim))
            .unwrap();
        plan.cells.truncate(CELLS);
        let trials = trials(&plan);
        (plan, trials)
    };
    shipped.map(|shipped| of(shipped.name)).collect()
}

/// Three trials of each cell with all metrics that the plan names.
fn trials(plan: &Plan) -> Vec<Trial> {
    let published = plan.published.iter().map(|row| row.metric.as_str());
    let claimed = plan.claims.iter().map(|claim| claim.metric.as_str());
    let named = plan.leading.iter().chain(&plan.report.metrics);
    let always = ["throughput", "cpu_total", "rtt"];
    let metrics: BTreeSet<&str> = published
        .chain(claimed)
        .chain(named.map(String::as_str))
        .chain(always)
        .collect();
    let mut noise = Normal::new(7);
    let mut trials = Vec::new();
    for (place, cell) in plan.cells.iter().enumerate() {
        if cell.setting.is_err() {
            continue;
        }
        let mean = 1000.0 + 10.0 * f64::from(u32::try_from(place).unwrap());
        for repeat in 1..=3 {
            let values = metrics
                .iter()
                .map(|name| (*name, noise.sample(1, mean, 9.0)[0]));
            let values: Vec<(&str, f64)> = values.collect();
            trials.push(plan::synthetic::trial(
                cell.factors.clone(),
                repeat,
                &values,
            ));
        }
    }
    trials
}

#[test]
fn the_short_report_of_every_shipped_experiment_has_at_most_forty_lines() {
    let facts = facts();
    let files = Places {
        folder: Some(Path::new("results/some-experiment-0123abcd")),
        page: Some(Path::new("results/some-experiment-0123abcd/report.html")),
    };
    let mut seen = 0;
    for (plan, mut trials) in runs() {
        for trial in trials.iter_mut().step_by(4) {
            trial.flags.push("disturbed".into());
        }
        let found = Findings::of(&plan, &trials, &facts);
        let first = headline::answer(&found).remove(0);
        let question = plan.report.question.as_deref().unwrap();
        for width in [80, 120] {
            let name = format!("{} in {} at {width}", plan.name, plan.backend);
            let text = brief(&found, files, width);
            assert!(text.lines().count() <= MOST_LINES, "{name}:\n{text}");
            let longest = text.lines().map(|line| line.chars().count()).max();
            assert!(longest <= Some(usize::from(width)), "{name}:\n{text}");
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let text = words(&text);
            if rows::are_declared(&plan) {
                assert!(text.contains(&words(&first)), "{name}:\n{text}");
                continue;
            }
            assert!(
                text.starts_with(&format!("{}: {question} {first}", plan.name)),
                "{name}:\n{text}"
            );
            let last = format!("{} Warning: see above.", words(&first));
            assert!(text.ends_with(&last), "{name}:\n{text}");
            let has_own_table = !found.scores.is_empty();
            assert!(text.contains("Changes") || has_own_table, "{name}:\n{text}");
            let answers = text.split(" Changes").next().unwrap();
            assert!(
                answers.contains(" Warning: approximate results: other work disturbed"),
                "{name}:\n{text}"
            );
        }
        seen += 1;
    }
    assert!(seen > 20, "{seen} plans");
}

#[test]
fn a_row_without_a_result_says_so_in_the_table() {
    let (plan, mut trials) = study();
    for trial in &mut trials {
        let value = if trial.repeat == 1 { 10.0 } else { 900.0 };
        trial.metrics.insert("cpu_total", value);
    }
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    let text = brief(&found, Places::default(), 120);
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    assert!(
        words.contains("no result for CPU per gigabyte: the interval"),
        "{text}"
    );
    assert!(words.contains("[too wide] no result"), "{text}");
}

#[test]
fn the_rows_of_the_answer_come_first_and_others_are_counted() {
    let (plan, trials) = study();
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    let text = brief(&found, Places::default(), 100);
    let expected = "\
synthetic: What a test needs
On this machine and 1 Gbit/s links, with offloads off, MTU 9000 against 1500: goodput +4.3 % [3.6,
  5.0], less than header overhead alone gives (framing +6.4 %).
On this machine and 1 Gbit/s links, with offloads on, MTU 9000 against 1500: no difference in
  goodput found (one above 0.52 % would have shown).
4 published changes: 1 reproduced, 1 direction only, 2 not reproduced.
Not measured here: 2 of 6 settings: needs a Windows host.

Changes, MTU 9000 against 1500, with scenario LU-LU:
offloads  1500           measured       % against 1500     paper %
Throughput (Mbit/s)
  off     948    ± 13    989    ± 13     +4.3 [3.6, 5.0]    +25.03  direction only
  on      996    ± 13    995    ± 13     -0.1 [-0.8, 0.6]   +25.03  not reproduced
CPU utilisation, sender (%)
  off       0.80 ± 0.02    0.50 ± 0.01  -38   [-38, -37]    -37.50  reproduced
  on        0.40 ± 0.01    0.40 ± 0.01    0   [-1, 1]       -37.50  not reproduced

8 of 12 trials finished, 1 failed";
    assert!(text.starts_with(expected), "{text}");
    let quiet = answer(&found, Places::default(), 200);
    assert_eq!(quiet.lines().count(), 2, "{quiet}");
}

#[test]
fn a_report_that_fits_is_whole_and_a_longer_one_says_how_much_is_left() {
    let (plan, trials) = study();
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    let document = crate::of_run(&found, None);
    let whole = terminal::text(&document, 80);
    let short = shortened(&document, Places::default(), 80);
    assert!(whole.lines().count() > MOST_LINES && short.lines().count() <= MOST_LINES);
    let (kept, left) = short.split_once("\nand ").unwrap();
    let left: usize = left.split(' ').next().unwrap().parse().unwrap();
    assert_eq!(kept.lines().count() + left, whole.lines().count());
    assert!(whole.starts_with(kept));
}
