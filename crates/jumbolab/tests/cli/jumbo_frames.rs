//! The experiment `jumbo-frames`: its answer in each backend, shrunk.

use serde_json::Value;

use crate::harness::Dir;

/// The rows of the answer, by title and metric, with their findings.
fn findings(lines: &[Value]) -> Vec<(String, String, String)> {
    let run = lines.iter().find(|line| line["rows"].is_array()).unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let rows = run["rows"].as_array().unwrap().iter();
    rows.map(|row| {
        (
            text(&row["title"]),
            text(&row["metric"]),
            text(&row["finding"]),
        )
    })
    .collect()
}

/// The finding of one row.
fn finding<'a>(rows: &'a [(String, String, String)], title: &str, metric: &str) -> &'a str {
    let mut rows = rows.iter();
    let row = rows.find(|row| row.0 == title && row.1 == metric);
    &row.unwrap_or_else(|| panic!("no {metric} of {title}")).2
}

#[test]
fn it_is_the_first_in_the_list() {
    let dir = Dir::new();
    let listed = dir.run("list").fine().stdout;
    assert!(listed.starts_with("jumbo-frames "), "{listed}");
}

#[test]
fn simulated_it_answers_by_a_table_and_one_sentence() {
    let dir = Dir::new();
    let outcome = dir.run("run jumbo-frames --on sim --repeat 5 -o r").fine();
    let text = outcome.stdout;
    for part in [
        "Should I use jumbo frames?",
        "Full link",
        "Simulated, MTU 9000 against 1500 is better on a full link",
        "Left out: Hosts, offloads on (simulated hosts have no offloads).",
        "jumbolab run host-costs",
        "Next:\n  jumbolab probe HOST --max-mtu 9000\n",
    ] {
        let flat = text.replace("\n  ", " ");
        assert!(
            text.contains(part) || flat.contains(part),
            "`{part}` is not in: {text}"
        );
    }
    let rows = findings(&dir.run("report r --json").fine().json());
    let of = |title, metric| finding(&rows, title, metric);
    assert_eq!(of("Full link", "throughput"), "better");
    assert_eq!(of("Long lossy path", "throughput"), "better");
    assert_eq!(of("100 kB over 20 ms", "message_time"), "better");
    assert_eq!(of("Message, busy link", "delay_p99/small"), "worse");
    for title in ["Hosts, offloads on", "Hosts, offloads off"] {
        assert_eq!(of(title, "throughput"), "left_out");
    }
}

#[test]
fn hosts_that_cost_time_are_simulated_where_nothing_limits_the_link() {
    let dir = Dir::new();
    let costs = "--set host.send_per_packet=1us --set host.send_per_byte=0.2ns";
    let run = format!("run jumbo-frames --on sim --repeat 1 -o r {costs}");
    let text = dir.run(&run).fine().stdout;
    let said =
        "The hosts take 1000 ns for a packet that they send and 0.2000 ns for each of its bytes.";
    assert!(text.replace("\n  ", " ").contains(said), "{text}");
    let lines = dir.run("report r --json").fine().json();
    let run = lines.iter().find(|line| line["rows"].is_array()).unwrap();
    let rows = run["rows"].as_array().unwrap();
    let row = rows
        .iter()
        .find(|row| row["title"] == "Hosts, offloads off" && row["metric"] == "throughput")
        .unwrap();
    // 1448 bytes in packets of 1500 take 1.3 us: 8.9 Gbit/s; 8948 take 2.8 us: 25.6.
    let change = row["change_percent"].as_f64().unwrap();
    assert!((change - 187.0).abs() < 10.0, "{row}");
}

#[test]
fn levels_and_cases_can_be_chosen() {
    let dir = Dir::new();
    let run = "run jumbo-frames --on sim --repeat 2 --set case=full-link";
    let text = dir.run(&format!("{run} --set mtu=1500,4000,9000 -o r"));
    let text = text.fine().stdout;
    let levels = text.lines().filter(|line| line.contains("goodput, Mbit/s"));
    assert_eq!(levels.count(), 2, "{text}");
    assert!(!text.contains("Left out"), "{text}");
}

#[test]
fn predicted_it_says_what_has_no_closed_form() {
    let dir = Dir::new();
    let text = dir.run("run jumbo-frames --on model -o r").fine().stdout;
    assert!(text.contains("Predicted, MTU 9000 against 1500"), "{text}");
    assert!(text.contains("Left out: "), "{text}");
}
