use plan::synthetic::{facts, plan, setting, trial};
use plan::{Compare, Factors, Level, Target, Trial};

use super::*;

fn factors(buffer: i64, queue: &str) -> Factors {
    Factors(vec![
        ("buffer".into(), Level::Integer(buffer)),
        ("link".into(), Level::Text("slow".into())),
        ("queue".into(), Level::Text(queue.into())),
    ])
}

fn cell(factors: Factors) -> plan::Cell {
    plan::Cell {
        factors,
        setting: Ok(setting(1500, false)),
    }
}

fn study() -> (Plan, Vec<Trial>) {
    let cells = [20, 35].map(|buffer| ["red", "mred"].map(|queue| factors(buffer, queue)));
    let plan = Plan {
        compare: Compare {
            factor: "queue".into(),
            baseline: Level::Text("red".into()),
        },
        ranking: Some(Ranking {
            text: "RED as printed".into(),
            source: "[Floyd1993]".into(),
            countings: Vec::new(),
            figures: vec![Target {
                metrics: vec!["loss".into()],
                unit: "%",
                value: 8.5,
                gap: -0.5,
            }],
        }),
        ..plan(
            cells.concat().into_iter().map(cell).collect(),
            3,
            Vec::new(),
        )
    };
    let mut trials = Vec::new();
    for repeat in 1..=3 {
        let noise = f64::from(repeat) / 10.0;
        trials.push(trial(factors(20, "red"), repeat, &[("loss", 9.8 + noise)]));
        trials.push(trial(factors(20, "mred"), repeat, &[("loss", 8.8 + noise)]));
        trials.push(trial(factors(35, "red"), repeat, &[("loss", 8.55 + noise)]));
        trials.push(trial(
            factors(35, "mred"),
            repeat,
            &[("loss", 8.65 + noise)],
        ));
    }
    (plan, trials)
}

#[test]
fn a_terminal_shows_the_nearest_and_what_changes_there() {
    let (plan, trials) = study();
    let text = crate::text(
        &crate::of_run(&Findings::of(&plan, &trials, &facts()), None),
        200,
    );
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    let has = |line: &str| assert!(lines.contains(&line), "{line}\n{text}");
    has("Ranking");
    has(
        "Within one gap: 1 of 2. As near as the nearest, for all that chance allows: 1, that one included.",
    );
    // Constant factors have no column.
    let rows: Vec<Vec<&str>> = lines
        .iter()
        .map(|line| line.split_whitespace().collect())
        .collect();
    let has_row = |row: &str| {
        let row: Vec<&str> = row.split_whitespace().collect();
        assert!(rows.contains(&row), "{row:?}\n{text}");
    };
    has_row("# buffer distance 8.50 %");
    has_row("1 35 0.50 [0.00, 1.00] = 8.75");
    has_row("2 20 3.00 [2.50, 3.50] 10.00");
    has_row("# queue loss");
    has_row("printed -0.50 %");
    has_row("1 red 8.75 [8.50, 9.00]");
    has_row("two seeds p 0.00 [0.00, 0.97]");
    has_row("mred +0.10 [0.10, 0.10]");
    has_row("mred -1.00 [-1.00, -1.00]");
    has(
        "Over all settings, each as it is counted when nearest, queue mred against red: loss lower in 1, higher in 1 of 2.",
    );
    has("  buffer: 35 0.50, 20 3.00");
}

#[test]
fn json_has_a_line_for_each_setting() {
    let (plan, trials) = study();
    let mut lines = crate::json_lines(&Findings::of(&plan, &trials, &facts()));
    lines.retain(|line| line.contains("\"ranking\""));
    assert_eq!(lines.len(), 2);
    let first: serde_json::Value = serde_json::from_str(&lines[0]).unwrap();
    assert_eq!(first["metric"], serde_json::Value::Null);
    assert_eq!(
        (first["rank"].as_u64(), &first["factors"]["buffer"]),
        (Some(1), &35.into())
    );
    assert_eq!(first["factors"]["queue"], serde_json::Value::Null);
    assert_eq!(first["figures"][0]["of"], "loss");
    assert_eq!(first["others"][0]["level"], "mred");
    let change = first["others"][0]["changes"][0]["mean"].as_f64().unwrap();
    assert!((change - 0.1).abs() < 1e-9);
}
