use super::*;
use crate::page::plots_of;
use crate::{changes_json, html};
use document::terminal::wrapped;
use document::text;
use plan::synthetic::{facts, study};
use plan::{RunFacts, Trial};
use serde_json::Value;

/// The report of a run and of what `change` makes of it: the document, and lines
/// of JSON.
fn compared(change: impl Fn(&mut Plan, &mut Vec<Trial>, &mut RunFacts)) -> (Document, Vec<String>) {
    let (plan, trials) = study();
    let (mut later, mut later_trials, mut later_facts) = (plan.clone(), trials.clone(), facts());
    change(&mut later, &mut later_trials, &mut later_facts);
    let facts = facts();
    let (first, second) = (
        Run {
            folder: Path::new("a"),
            found: Findings::of(&plan, &trials, &facts),
        },
        Run {
            folder: Path::new("b"),
            found: Findings::of(&later, &later_trials, &later_facts),
        },
    );
    (of_changes(&first, &second), changes_json(&first, &second))
}

fn report(change: impl Fn(&mut Plan, &mut Vec<Trial>, &mut RunFacts)) -> (String, Vec<String>) {
    let (document, json) = compared(change);
    (text(&document, 100), json)
}

/// Makes the goodput at MTU 9000 without offloads 10 % smaller.
fn slower(trials: &mut [Trial]) {
    let changed = trials
        .iter_mut()
        .filter(|trial| trial.factors.to_string().ends_with("off mtu=9000"));
    for trial in changed {
        let throughput = trial.metrics["throughput"];
        trial.metrics.insert("throughput", throughput * 0.9);
    }
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
fn a_disturbed_run_makes_the_change_uncertain_and_approximate() {
    let disturbed = |count: usize| {
        report(|_, trials, _| {
            for trial in &mut trials[..count] {
                trial.flags.push("disturbed".to_owned());
            }
        })
    };
    let sentence = |text: String| {
        let sentence = text.lines().skip(3).take_while(|line| !line.is_empty());
        sentence.map(str::trim).collect::<Vec<_>>().join(" ")
    };
    let some = sentence(disturbed(2).0);
    let warning = " (warning: B: approximate results: other work disturbed 2 of 8 trials; repeat on an idle machine).";
    assert!(some.ends_with(warning), "{some}");
    let (text, json) = disturbed(8);
    let note = "≈ approximate: other work disturbed 8 of 16 trials";
    assert!(text.contains(note), "{text}");
    let is_approximate = |line: &String| line.contains(r#""approximate":true"#);
    assert!(json.iter().any(is_approximate), "{json:?}");
}

#[test]
fn what_changed_and_what_else_differs_is_named() {
    let (text, json) = report(|plan, trials, facts| {
        plan.text = plan.text.replace("repeat = 2", "repeat = 3");
        facts.host.as_mut().unwrap().kernel = "Linux 7.0.0".into();
        slower(trials);
    });
    let sentence =
        "From A to B changed 1 of 8: throughput at scenario=LU-LU offloads=off mtu=9000 -10.0 %";
    assert!(
        wrapped(std::slice::from_ref(&text), 9999).contains(sentence),
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

#[test]
fn a_page_draws_the_changes_of_each_metric_with_a_row_for_each_setting() {
    let (document, _) = compared(|_, trials, _| slower(trials));
    let page = html(&document);
    let plots = plots_of(&page);
    let plot = &plots["plot-throughput-change"];
    let rows = plot["layout"]["yaxis"]["tickvals"].as_array().unwrap();
    assert_eq!(rows.len(), 4, "baselines have a row, too: {plot}");
    let title = &plot["layout"]["xaxis"]["title"]["text"];
    assert_eq!(title, "change from A to B (%)");
    let trace = |name: &str| {
        let traces = plot["data"].as_array().unwrap().iter();
        let mut named = traces.filter(|trace| trace["name"] == name);
        named.next().cloned().unwrap_or_default()
    };
    let found = trace("difference found");
    let change = found["x"][0].as_f64().unwrap();
    assert!((change + 10.0).abs() < 0.01, "{found}");
    assert_eq!(found["x"].as_array().unwrap().len(), 1);
    assert_eq!(
        trace("no difference found")["x"].as_array().unwrap().len(),
        3
    );
    assert_eq!(
        trace("published"),
        Value::Null,
        "it is against the baseline"
    );
}

#[test]
fn levels_are_shown_by_their_labels() {
    let (document, _) = compared(|plan, trials, _| {
        let label = ("LU-LU".to_owned(), "Linux to Linux".to_owned());
        let labels = BTreeMap::from([label]);
        plan.report.labels.insert("scenario".into(), labels);
        slower(trials);
    });
    let sentence = "throughput at scenario=Linux to Linux offloads=off mtu=9000 -10.0 %";
    let text = wrapped(&[text(&document, 100)], 9999);
    assert!(text.contains(sentence), "{text}");
    assert!(!text.contains("LU-LU"), "{text}");
}
