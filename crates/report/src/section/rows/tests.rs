use plan::synthetic::{cell, factors, facts, plan, trial};
use plan::{Backend, Factors, Trial};

use super::*;
use crate::brief::{self, Places};

/// A row of `case` about `metric`, at this place.
fn row(case: &str, metric: &str, place: Option<&str>) -> ReportRow {
    ReportRow {
        title: format!("Case {case}"),
        metric: metric.into(),
        called: (metric == "throughput").then(|| "goodput".into()),
        cells: vec![("case".into(), vec![Level::Text(case.into())])],
        place: place.map(str::to_owned),
    }
}

fn at(case: &str, mtu: i64) -> Factors {
    let case = ("case".to_owned(), Level::Text(case.into()));
    Factors([vec![case], factors(mtu).0].concat())
}

/// Five trials of each case, whose throughput is 100 at MTU 1500 and `change` per cent
/// more at 9000, with this spread in per cent.
fn run(cases: &[(&str, f64, f64)], rows: Vec<ReportRow>) -> (Plan, Vec<Trial>) {
    let (mut cells, mut trials) = (Vec::new(), Vec::new());
    for &(case, change, spread) in cases {
        for (mtu, mean) in [(1500, 100.0), (9000, 100.0 + change)] {
            cells.push(cell(at(case, mtu)));
            for (repeat, noise) in (1..).zip([-1.0, 0.6, 0.0, -0.5, 0.9]) {
                let value = mean * (1.0 + noise * spread / 100.0);
                let metrics = [("throughput", value), ("rtt", value)];
                trials.push(trial(at(case, mtu), repeat, &metrics));
            }
        }
    }
    let mut plan = plan(cells, 5, Vec::new());
    plan.report.rows = rows;
    plan.report.question = Some("Should I?".into());
    plan.report.next = vec!["jumbolab probe HOST".into()];
    (plan, trials)
}

/// The advice of a run.
fn advised_by(cases: &[(&str, f64, f64)], rows: Vec<ReportRow>) -> Option<String> {
    let (plan, trials) = run(cases, rows);
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    advice(&found)
}

#[test]
fn the_advice_says_where_it_is_better_worse_the_same_and_undecided() {
    let cases = [
        ("a", 6.0, 0.2),
        ("b", 40.0, 0.2),
        ("c", -20.0, 0.2),
        ("d", 0.01, 0.2),
        ("e", 3.0, 30.0),
    ];
    let rows = cases.map(|(case, ..)| row(case, "throughput", Some(&format!("in {case}"))));
    assert_eq!(
        advised_by(&cases, rows.into()).unwrap(),
        "On this machine, MTU 9000 against 1500 is better in a and in b; is worse in c; makes no difference in d; is undecided in e."
    );
}

#[test]
fn a_change_below_one_per_cent_makes_no_difference_however_certain_it_is() {
    let rows = vec![row("a", "throughput", Some("here"))];
    let advice = advised_by(&[("a", 0.8, 0.001)], rows).unwrap();
    assert!(advice.ends_with("makes no difference here."), "{advice}");
}

#[test]
fn rows_of_one_place_are_one_finding_and_may_contradict_each_other() {
    // Longer round trips are worse, and so the metrics of this case disagree.
    let both = vec![
        row("a", "throughput", Some("here")),
        row("a", "rtt", Some("here")),
    ];
    let advice = advised_by(&[("a", 6.0, 0.2)], both).unwrap();
    let words = "is better in one way and worse in another here.";
    assert!(advice.ends_with(words), "{advice}");
    let same = vec![
        row("a", "throughput", Some("here")),
        row("b", "throughput", Some("here")),
    ];
    let advice = advised_by(&[("a", 6.0, 0.2), ("b", 0.01, 0.2)], same).unwrap();
    assert!(advice.ends_with("is better here."), "{advice}");
}

#[test]
fn a_row_without_a_place_is_in_the_table_alone() {
    let rows = vec![row("a", "throughput", None)];
    assert_eq!(advised_by(&[("a", 6.0, 0.2)], rows), None);
}

#[test]
fn a_row_without_a_figure_is_left_out_by_name_with_the_reason() {
    let rows = ["a", "b", "c"].map(|case| row(case, "throughput", Some("here")));
    let rows = [rows.into(), vec![row("a", "cpu_total", None)]].concat();
    let (mut plan, trials) = run(&[("a", 6.0, 0.2), ("b", 6.0, 0.2), ("c", 6.0, 0.2)], rows);
    for cell in &mut plan.cells[2..] {
        cell.setting = Err("not measured here: the path is as it is".into());
    }
    let trials: Vec<Trial> = trials.into_iter().take(10).collect();
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    assert_eq!(
        notes(&found)[1..],
        [
            "Left out: Case b; Case c (the path is as it is).",
            "Left out: Case a: CPU, total (no CPU, total is measured here)."
        ]
        .map(|line| line.replace("CPU, total", Metric::named("cpu_total").unwrap().title))
    );
}

#[test]
fn a_change_of_goodput_on_a_full_link_has_its_share_of_headers() {
    let rows = vec![row("a", "throughput", Some("here"))];
    let (plan, trials) = run(&[("a", 6.5, 0.1)], rows);
    let facts = facts();
    let notes = notes(&Findings::of(&plan, &trials, &facts));
    let [note] = notes.as_slice() else {
        panic!("{notes:?}");
    };
    assert!(note.starts_with("Case a: goodput +6.5"), "{note}");
    let parts = "nearly all of it header overhead (framing +6.4 %).";
    assert!(note.ends_with(parts), "{note}");
}

#[test]
fn a_change_whose_interval_holds_the_share_of_headers_is_not_told_from_it() {
    let rows = vec![row("a", "throughput", Some("here"))];
    for (change, said) in [
        (7.5, "which header overhead alone may explain"),
        (4.8, "which header overhead alone may explain"),
        (30.0, "the smaller part of it header overhead"),
    ] {
        let (plan, trials) = run(&[("a", change, 2.0)], rows.clone());
        let facts = facts();
        let notes = notes(&Findings::of(&plan, &trials, &facts));
        assert!(notes[0].contains(said), "{notes:?}");
    }
}

#[test]
fn simulated_hosts_say_what_they_take_and_how_to_fit_them() {
    let (mut plan, _) = run(&[("a", 6.0, 0.2)], Vec::new());
    assert_eq!(hosts(&plan), None);
    plan.backend = Backend::Sim;
    let free = hosts(&plan).unwrap();
    assert!(
        free.contains("take no time") && free.contains("host=fit:"),
        "{free}"
    );
    let setting = plan.cells[0].setting.as_mut().unwrap();
    setting.host.costs.send_per_packet = units::Span::from_micros(2);
    assert_eq!(
        hosts(&plan).unwrap(),
        "The hosts take 2000 ns for a packet that they send and 0 ns for each of its bytes."
    );
}

#[test]
fn the_short_report_is_the_table_the_advice_and_what_to_type_next_within_80_columns() {
    let cases = [("a", 6.0, 0.2), ("b", -20.0, 0.2)];
    let rows = vec![
        row("a", "throughput", Some("on a full link")),
        row("a", "rtt", None),
        row("b", "throughput", Some("on a slow one")),
    ];
    let (plan, trials) = run(&cases, rows);
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    let text = brief::brief(&found, Places::default(), 80);
    assert!(
        text.lines().all(|line| line.chars().count() <= 80),
        "{text}"
    );
    let words: Vec<&str> = text.split_whitespace().collect();
    let words = words.join(" ");
    for part in [
        "synthetic: Should I? MTU 9000 against 1500: 1500 9000 % 95 % interval",
        "Case a goodput, Mbit/s 100.0 106.0 +6.0 [",
        "Case b goodput, Mbit/s 100.0 80.00 -20.0 [",
        "] better",
        "] worse",
    ] {
        assert!(words.contains(part), "`{part}` is not in: {text}");
    }
    let advice = "is better on a full link; is worse on a slow one.";
    assert!(words.contains(advice), "{text}");
    assert!(text.ends_with("Next:\n  jumbolab probe HOST\n"), "{text}");
}

#[test]
fn with_several_levels_each_line_names_its_level_and_the_advice_is_about_the_last() {
    let levels = [1500, 4000, 9000];
    let cells: Vec<_> = levels.map(|mtu| cell(at("a", mtu))).into();
    let trials: Vec<Trial> = (levels.iter().zip([100.0, 103.0, 106.0]))
        .flat_map(|(&mtu, mean)| {
            (1..=5).map(move |repeat| {
                let value = mean + 0.01 * f64::from(repeat);
                trial(at("a", mtu), repeat, &[("throughput", value)])
            })
        })
        .collect();
    let mut plan = plan(cells, 5, Vec::new());
    plan.report.rows = vec![row("a", "throughput", Some("here"))];
    let facts = facts();
    let found = Findings::of(&plan, &trials, &facts);
    let lines = &found.answer.rows;
    let shown: Vec<String> = lines.iter().map(|line| line.level.to_string()).collect();
    assert_eq!(shown, ["4000", "9000"]);
    let table = table(&plan, lines, Columns::All);
    assert_eq!(table.columns[1].title, "MTU");
    let advice = advice(&found).unwrap();
    assert!(
        advice.contains("MTU 9000 against 1500 is better here"),
        "{advice}"
    );
}

#[test]
fn a_run_does_not_suggest_itself() {
    let (mut plan, _) = run(&[("a", 6.0, 0.2)], Vec::new());
    let lines = ["jumbolab probe HOST", "jumbolab run x --on hosts"];
    plan.report.next = lines.map(str::to_owned).into();
    assert_eq!(next(&plan).lines().count(), 3);
    plan.backend = Backend::Hosts;
    assert_eq!(next(&plan), "Next:\n  jumbolab probe HOST");
}
