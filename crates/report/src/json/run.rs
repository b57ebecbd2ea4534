//! The JSON line of a run as a whole.

use std::path::Path;

use analysis::Findings;
use analysis::quality_check::{Reason, State, Warning};
use document::json_line;
use plan::{AutoRate, Factors};
use serde::Serialize;

use super::answer_rows::{self, AnswerRow};
use crate::section::headline;

/// The files of a run.
#[derive(Clone, Copy, Debug)]
pub struct Paths<'a> {
    /// The results folder.
    pub folder: &'a Path,
    /// The page, if it was written.
    pub page: Option<&'a Path>,
    /// The table of trials, if it was written.
    pub table: Option<&'a Path>,
}

/// The line, with the field order of the format.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    run: &'a str,
    backend: String,
    plan: &'a str,
    state: State,
    quality_check: QualityCheck<'a>,
    notes: &'a [String],
    counts: Counts,
    unmeasured: Vec<&'a Factors>,
    headline: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    auto_rate: Option<&'a AutoRate>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    rows: Vec<AnswerRow<'a>>,
    paths: Names,
}

#[derive(Serialize)]
struct QualityCheck<'a> {
    state: State,
    errors: &'a [String],
    warnings: Vec<String>,
}

#[derive(Serialize)]
struct Counts {
    planned: usize,
    finished: usize,
    failed: usize,
    disturbed: usize,
    repeated: usize,
    left: usize,
    host_bound: usize,
    complete: bool,
}

#[derive(Serialize)]
struct Names {
    folder: String,
    page: Option<String>,
    table: Option<String>,
}

/// The object of the whole run, without a line end.
pub fn run_json(found: &Findings<'_>, paths: Paths<'_>) -> String {
    let quality_check = &found.quality_check;
    let failed = found.failed();
    let disturbances = found.disturbances;
    let name = |path: &Path| path.display().to_string();
    json_line(&Line {
        kind: "run",
        run: &found.plan.name,
        backend: found.plan.backend.to_string(),
        plan: &found.plan.hash,
        state: found.state(),
        quality_check: QualityCheck {
            state: quality_check.state(),
            errors: &quality_check.faults,
            warnings: quality_check
                .warnings
                .iter()
                .map(Warning::to_string)
                .collect(),
        },
        notes: &quality_check.notes,
        counts: Counts {
            planned: found.plan.expected_trials(),
            finished: found.trials.len() - failed,
            failed,
            disturbed: disturbances.disturbed,
            repeated: disturbances.repeated,
            left: disturbances.left,
            host_bound: Warning::counted(Reason::HostBound, found.trials).trials,
            complete: found.complete,
        },
        unmeasured: found.unmeasured().map(|cell| &cell.factors).collect(),
        headline: headline::sentences(found),
        auto_rate: found.facts.auto_rate.as_ref(),
        rows: answer_rows::rows(found),
        paths: Names {
            folder: name(paths.folder),
            page: paths.page.map(name),
            table: paths.table.map(name),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{facts, study};
    use serde_json::{Value, json};

    #[test]
    fn the_object_of_a_run_says_what_the_first_screen_says() {
        let (mut plan, mut trials) = study();
        plan.repeat = 2;
        trials.retain(|trial| trial.failure.is_none());
        let facts = facts();
        let paths = Paths {
            folder: Path::new("results/r"),
            page: Some(Path::new("results/r/report.html")),
            table: None,
        };
        let object = |trials: &[plan::Trial]| -> Value {
            let found = Findings::of(&plan, trials, &facts);
            serde_json::from_str(&run_json(&found, paths)).unwrap()
        };
        let sound = object(&trials);
        assert_eq!(
            (&sound["kind"], &sound["run"]),
            (&"run".into(), &"synthetic".into())
        );
        assert_eq!(sound["quality_check"]["state"], "passed");
        assert_eq!(sound["headline"].as_array().unwrap().len(), 3);
        assert_eq!(sound["unmeasured"], json!([]));
        assert_eq!(
            sound["paths"],
            json!({"folder": "results/r", "page": "results/r/report.html", "table": null})
        );

        trials[0].flags.push("disturbed".into());
        trials[1].failure = Some("timed out".into());
        let warned = object(&trials);
        assert_eq!(warned["state"], "passed_with_warnings");
        let warning =
            "approximate results: other work disturbed 1 of 7 trials; repeat on an idle machine";
        assert_eq!(warned["quality_check"]["warnings"], json!([warning]));
        assert_eq!(
            warned["counts"],
            json!({"planned": 8, "finished": 7, "failed": 1, "disturbed": 1, "repeated": 0, "left": 1, "host_bound": 0, "complete": true})
        );

        // Now a cell of the comparison has no finished trial.
        trials[0].failure = Some("timed out".into());
        let missing = object(&trials);
        assert_eq!(missing["quality_check"]["state"], "passed");
        assert_eq!(missing["state"], "failed");
        assert_eq!(missing["unmeasured"][0]["mtu"], 1500);
    }

    #[test]
    fn rows_of_the_answer_have_their_findings_and_those_without_a_figure_a_reason() {
        let (mut plan, trials) = study();
        let row = |metric: &str, scenario: &str| plan::ReportRow {
            title: scenario.into(),
            metric: metric.into(),
            called: None,
            cells: vec![
                ("scenario".into(), vec![plan::Level::Text(scenario.into())]),
                ("offloads".into(), vec![plan::Level::Text("off".into())]),
            ],
            place: Some("here".into()),
        };
        plan.report.rows = vec![row("throughput", "LU-LU"), row("throughput", "WS-WS")];
        let facts = facts();
        let paths = Paths {
            folder: Path::new("r"),
            page: None,
            table: None,
        };
        let found = Findings::of(&plan, &trials, &facts);
        let object: Value = serde_json::from_str(&run_json(&found, paths)).unwrap();
        let [measured, absent] = object["rows"].as_array().unwrap().as_slice() else {
            panic!("{object}");
        };
        assert_eq!(measured["finding"], "better");
        assert_eq!(measured["factors"]["mtu"], 9000);
        assert_eq!(measured["unit"], "Mbit/s");
        assert_eq!(measured["where"], "here");
        assert!(measured["change_ci95"][0].as_f64() < measured["change_percent"].as_f64());
        assert_eq!(absent["finding"], "left_out");
        assert_eq!(absent["reason"], "needs a Windows host");
        assert_eq!(absent["mean"], Value::Null);
        let headline = object["headline"].as_array().unwrap();
        assert_eq!(headline.len(), 1, "{object}");
    }
}
