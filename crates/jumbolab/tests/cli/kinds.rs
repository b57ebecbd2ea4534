//! Schemas and page of what commands print as JSON, and that every kind of it is printed.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use crate::harness::Dir;
use crate::schema::{COMMON, SCHEMAS, TABLES, Table, check};

/// Writes the files and the table of the page instead of comparing them.
const WRITE: &str = "JUMBOLAB_WRITE_SCHEMA";

/// The folder of the pages. Asked at run time first: `.ci/run` runs these tests from a copy.
fn reference() -> PathBuf {
    let here = std::env::var("CARGO_MANIFEST_DIR")
        .unwrap_or_else(|_| env!("CARGO_MANIFEST_DIR").to_owned());
    Path::new(&here).join("../../docs/reference")
}

/// Compares a file with what it must be, or writes it.
#[track_caller]
fn compare(path: &Path, expected: &str) {
    if std::env::var_os(WRITE).is_some() {
        std::fs::write(path, expected).unwrap();
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        found == expected,
        "{} is not what the tables in tests/cli/schema say; type: {WRITE}=1 cargo test -p jumbolab --test cli kinds::",
        path.display()
    );
}

/// The first sentence of a description.
fn summary(description: &str) -> &str {
    let description = description.trim_end_matches('.');
    description.split(". ").next().unwrap_or(description)
}

#[test]
fn the_schemas_are_made_of_the_tables() {
    let folder = reference().join("schema");
    for (name, schema) in &*SCHEMAS {
        let text = serde_json::to_string_pretty(schema).unwrap() + "\n";
        compare(&folder.join(format!("{name}.schema.json")), &text);
    }
    let files = std::fs::read_dir(&folder).unwrap().count();
    assert_eq!(files, TABLES.len(), "files in {}", folder.display());
}

#[test]
fn the_page_has_a_line_for_each_kind() {
    let path = reference().join("json.md");
    let page = std::fs::read_to_string(&path).unwrap();
    let head = "| kind | object |\n|---|---|\n";
    let mut expected = String::new();
    let mut rest = page.as_str();
    for (name, text) in TABLES {
        let mark = format!("[schema](schema/{name}.schema.json)");
        let (before, after) = rest.split_once(&mark).expect(&mark);
        let (between, after) = after.split_once(head).expect(&mark);
        expected += &format!("{before}{mark}{between}{head}");
        for block in Table::parse(text, COMMON).kinds() {
            expected += &format!("| `{}` | {} |\n", block.name, summary(block.description));
        }
        let end = after.split_inclusive('\n');
        let end = end.take_while(|line| line.starts_with('|'));
        rest = &after[end.map(str::len).sum()..];
    }
    compare(&path, &(expected + rest));
}

#[test]
fn what_is_not_as_its_schema_says_is_found() {
    let experiment = json!({ "kind": "experiment", "name": "a", "title": "b" });
    check(&experiment);
    let is_rejected = |object: Value| std::panic::catch_unwind(|| check(&object)).is_err();
    for (key, value) in [
        ("kind", json!("study")),
        ("name", json!(1)),
        ("title", Value::Null),
        ("event", json!("x")),
    ] {
        let mut wrong = experiment.clone();
        wrong[key] = value;
        assert!(is_rejected(wrong), "{key}");
    }
    assert!(is_rejected(json!({ "kind": "experiment", "name": "a" })));
}

#[test]
fn commands_print_every_kind_of_their_schemas() {
    let dir = Dir::new();
    let run = "run mtu-and-loss --set size=400kB --set warmup=200kB --set impairment=p2";
    dir.run(&format!("{run} --repeat 2 -o a")).ran();
    dir.run(&format!("{run} --repeat 2 --set trials.seed=2 -o b"))
        .ran();
    dir.run(&format!("{run} --on model -o c")).ran();
    let kinds = |lines: &[&str]| -> Vec<String> {
        let objects = lines.iter().flat_map(|line| dir.run(line).ran().json());
        let kinds = objects.map(|object| object["kind"].as_str().unwrap().to_owned());
        let mut kinds: Vec<String> = kinds.collect();
        kinds.sort();
        kinds.dedup();
        kinds
    };
    let dry_run = format!("{run} --dry-run --json");
    assert_eq!(kinds(&[&dry_run]), ["dry_run"]);
    let reports = ["report a --json", "report a b --json", "report a c --json"];
    let expected = [
        "cell",
        "change",
        "claim",
        "metric",
        "metric_by_backend",
        "run",
    ];
    assert_eq!(kinds(&reports), expected);
    assert_eq!(kinds(&["list --json"]), ["experiment"]);
    assert_eq!(kinds(&["claims --json"]), ["claim"]);
    let predictions = [
        "predict overhead --json",
        "predict limit --rate 1gbit --json",
        "predict optimal --rate 1gbit --bit-error-rate 1e-8 --json",
        "predict --size 5MB --rate 1gbit --json",
        "predict wait --rate 1gbit --json",
        "predict bundle --max-wait 100us --json",
        "predict arithmetic --json",
    ];
    let expected = [
        "arithmetic",
        "bundle",
        "bundle_wait",
        "limit",
        "optimal",
        "overhead",
        "transfer",
        "wait",
    ];
    assert_eq!(kinds(&predictions), expected);
}
