//! `[report]`: what a report shows, without an effect on the plan's hash.

use super::*;

const REPORTED: &str = "\
[report]
question = \"Do larger frames carry more?\"
metrics = [\"throughput\", \"rtt\"]
level = 4000
cells = { offloads = \"off\" }
[report.labels.offloads]
off = \"without segmentation\"
";

/// `SMALL` with two factors and `report` at its end, which begins on line 13.
fn reported(report: &str) -> String {
    let sweep = "mtu = [1500, 4000, 9000]\noffloads = [\"off\", \"on\"]\n";
    SMALL.replace("mtu = [1500, 9000]\n", sweep) + report
}

#[test]
fn a_report_is_read_and_written_into_the_plan_and_leaves_the_hash_as_it_is() {
    let plan = plan(&reported(REPORTED), &[]);
    let report = &plan.report;
    assert_eq!(
        report.question.as_deref(),
        Some("Do larger frames carry more?")
    );
    assert_eq!(report.metrics, ["throughput", "rtt"]);
    assert_eq!(report.level, Some(Level::Integer(4000)));
    let off = Level::Text("off".into());
    assert_eq!(report.cells, [("offloads".to_owned(), vec![off.clone()])]);
    assert_eq!(plan.label("offloads", &off), "without segmentation");
    check_round_trip(&plan);
    let again = Experiment::parse(&plan.text, "plan.toml").unwrap();
    assert_eq!(
        again.plan(plan.backend, unchecked).unwrap().report,
        plan.report
    );
    assert_eq!(plan.hash, super::plan(&reported(""), &[]).hash);
}

#[test]
fn levels_that_set_removes_are_not_shown() {
    for sets in [
        &["mtu=1500,9000"][..],
        &["compare.factor=offloads"],
        &["compare.baseline=4000"],
    ] {
        let plan = plan(&reported(REPORTED), sets);
        assert_eq!(plan.report.level, None, "{sets:?}");
        check_round_trip(&plan);
    }
    let on = plan(&reported(REPORTED), &["offloads=on"]);
    assert_eq!((&on.report.cells[..], on.report.labels.len()), (&[][..], 0));
    check_round_trip(&on);
    let mut experiment = Experiment::parse(&reported(REPORTED), "x.toml").unwrap();
    experiment.set("mtu=1500,9000").unwrap();
    let again = Experiment::parse(&experiment.written(), "y.toml").unwrap();
    let again = again.plan(Backend::Netns, unchecked).unwrap();
    assert_eq!(again.report.question, on.report.question);
}

#[test]
fn a_report_names_questions_metrics_factors_and_levels_that_exist() {
    for (report, line) in [
        (
            "question = \"Larger frames.\"",
            "report.question = \"Larger frames.\": write a question: one sentence with \"?\" at its end",
        ),
        (
            "metrics = [\"troughput\"]",
            "report.metrics = [\"troughput\"]: unknown metric troughput; did you mean `throughput`?; docs/reference/metrics.md lists them",
        ),
        (
            "level = 3000",
            "report.level = 3000: write a level of mtu other than the baseline 1500: 4000, 9000",
        ),
        (
            "level = 1500",
            "report.level = 1500: write a level of mtu other than the baseline 1500: 4000, 9000",
        ),
        (
            "cells = { rate = \"1gbit\" }",
            "report.cells.rate = \"1gbit\": it is not swept; [sweep] lists the factors",
        ),
        (
            "cells.offloads = [\"of\"]",
            "report.cells.offloads = [\"of\"]: write a level of offloads: off, on",
        ),
        (
            "labels.offload.on = \"with\"",
            "report.labels.offload = { on = \"with\" }: unknown alias or key `offload`; did you mean `offloads`?",
        ),
        (
            "labels.mtu.9001 = \"jumbo\"",
            "report.labels.mtu.9001 = \"jumbo\": write a level of mtu: 1500, 4000, 9000",
        ),
        (
            "labels.mtu.9000 = 1",
            "report.labels.mtu.9000 = 1: write one line of text in quotes",
        ),
        (
            "questions = \"Which?\"",
            "report.questions = \"Which?\": unknown key; did you mean `report.question`?",
        ),
    ] {
        let text = reported(&format!("[report]\n{report}\n"));
        check_rejected(&text, &[], &format!("experiments/x.toml:14: {line}"));
    }
}

const FIGURES: &str = "\
[report]
[[report.figure]]
title = \"Figure 2: throughput\"
metrics = [\"throughput\"]
x = \"mtu\"
cells = { offloads = \"off\" }
[[report.figure]]
title = \"Figure 6: queue\"
over_time = \"bottleneck\"
event = 25
event_text = \"20 connections begin\"
[[report.figure]]
title = \"Close-up\"
sizes = [1000, 15000]
points = [{ name = \"MTU 1500\", x = 11000, y = 96.2 }]
";

#[test]
fn figures_to_redraw_are_read_and_written_into_the_plan() {
    let plan = plan(&reported(FIGURES), &[]);
    let [by_mtu, over_time, close_up] = &plan.report.figures[..] else {
        panic!("{:?}", plan.report.figures);
    };
    let off = Level::Text("off".into());
    assert_eq!(by_mtu.cells, [("offloads".to_owned(), vec![off])]);
    assert_eq!(
        by_mtu.shows,
        plan::Shows::Metrics {
            metrics: vec!["throughput".into()],
            x: Some("mtu".into()),
        }
    );
    assert_eq!(
        over_time.shows,
        plan::Shows::OverTime {
            link: "bottleneck".into(),
            event: Some((25.0, "20 connections begin".into())),
        }
    );
    assert_eq!(close_up.points[0].y, 96.2);
    check_round_trip(&plan);
    let again = Experiment::parse(&plan.text, "plan.toml").unwrap();
    let again = again.plan(plan.backend, unchecked).unwrap();
    assert_eq!(again.report, plan.report);
    assert_eq!(plan.hash, super::plan(&reported(""), &[]).hash);
}

#[test]
fn a_figure_that_cannot_be_drawn_is_rejected() {
    for (figure, why) in [
        ("title = \"x\"", "over_time"),
        (
            "title = \"x\"\nmetrics = [\"rtt\"]\nsizes = [1, 2]",
            "one of",
        ),
        (
            "title = \"x\"\nmetrics = [\"rtt\"]\nx = \"network.buffer\"",
            "not swept",
        ),
        ("title = \"x\"\nsizes = [2, 1]", "smaller one first"),
        ("title = \"x\"\nmetrics = [\"nothing\"]", "unknown metric"),
    ] {
        let text = reported(&format!("[report]\n[[report.figure]]\n{figure}\n"));
        let experiment = Experiment::parse(&text, "x.toml").unwrap();
        let error = experiment.plan(Backend::Netns, unchecked).unwrap_err();
        let error = format!("{error:#}");
        assert!(error.contains(why), "{figure}: {error}");
    }
}

const ROWS: &str = "\
[report]
next = [\"jumbolab probe HOST\"]
[[report.row]]
title = \"Full link\"
metric = \"throughput\"
called = \"goodput\"
cells = { offloads = \"off\" }
where = \"on a full link\"
[[report.row]]
title = \"Hosts\"
metric = \"cpu_total\"
";

#[test]
fn rows_of_the_answer_are_read_and_written_into_the_plan_and_leave_the_hash_as_it_is() {
    let plan = plan(&reported(ROWS), &[]);
    let [link, hosts] = &plan.report.rows[..] else {
        panic!("{:?}", plan.report.rows);
    };
    let off = Level::Text("off".into());
    assert_eq!(link.cells, [("offloads".to_owned(), vec![off])]);
    assert_eq!(link.called.as_deref(), Some("goodput"));
    assert_eq!(link.place.as_deref(), Some("on a full link"));
    assert!(hosts.cells.is_empty() && hosts.place.is_none());
    assert_eq!(plan.report.next, ["jumbolab probe HOST"]);
    check_round_trip(&plan);
    let again = Experiment::parse(&plan.text, "plan.toml").unwrap();
    let again = again.plan(plan.backend, unchecked).unwrap();
    assert_eq!(again.report, plan.report);
    assert_eq!(plan.hash, super::plan(&reported(""), &[]).hash);
}

#[test]
fn a_row_whose_levels_set_removes_is_left_out_and_not_about_all_cells() {
    let titles = |sets: &[&str]| -> Vec<String> {
        let plan = plan(&reported(ROWS), sets);
        check_round_trip(&plan);
        let rows = plan.report.rows.into_iter();
        rows.map(|row| row.title).collect()
    };
    assert_eq!(titles(&["offloads=on"]), ["Hosts"]);
    assert_eq!(titles(&["offloads=off"]), ["Full link", "Hosts"]);
    assert_eq!(titles(&["mtu=1500,4000"]), ["Full link", "Hosts"]);
}

#[test]
fn a_row_names_a_title_a_metric_and_levels_that_exist() {
    for (row, at, why) in [
        (
            "metric = \"rtt\"",
            14,
            "report.row.title is missing; write for instance title = \"Full link\"",
        ),
        (
            "title = \"x\"",
            14,
            "report.row.metric is missing; write for instance metric = \"throughput\"",
        ),
        (
            "title = \"x\"\nmetric = \"troughput\"",
            16,
            "report.row.metric = \"troughput\": unknown metric; did you mean `throughput`?; docs/reference/metrics.md lists them",
        ),
        (
            "title = \"x\"\nmetric = \"rtt\"\ncells.offloads = \"of\"",
            17,
            "report.row.cells.offloads = \"of\": write a level of offloads: off, on",
        ),
        (
            "title = \"x\"\nmetric = \"rtt\"\nwhre = \"here\"",
            17,
            "report.row.whre = \"here\": unknown key; did you mean `report.row.where`?",
        ),
    ] {
        let text = reported(&format!("[report]\n[[report.row]]\n{row}\n"));
        check_rejected(&text, &[], &format!("experiments/x.toml:{at}: {why}"));
    }
    let text = reported("[report]\nnext = [\"a\\nb\"]\n");
    let error = planned(&text, &[]).unwrap_err();
    assert!(error.to_string().contains("one line of text"), "{error:#}");
}
