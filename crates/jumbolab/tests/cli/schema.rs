//! What each command prints as JSON: the tables in `schema/` say it, docs/reference/schema
//! is made of them, and every line that a test reads is checked against it.
//!
//! A table has a title, and blocks with a head, a description, and a field a line: its name
//! (`name?`: it may be absent), its type and its meaning, two spaces apart. `+Name` has the
//! fields of a type, `*` stands for keys of other names. A block `kind` is an object of its
//! own; a block `type` is part of others.

mod check;
mod table;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::{Value, json};

use check::differs;
use table::Table;

/// The tables by the names of their files, in the order of the page.
const TABLES: [(&str, &str); 13] = [
    ("run", include_str!("schema/run.txt")),
    ("report", include_str!("schema/report.txt")),
    ("sensitivity", include_str!("schema/sensitivity.txt")),
    ("predict", include_str!("schema/predict.txt")),
    ("claims", include_str!("schema/claims.txt")),
    ("list", include_str!("schema/list.txt")),
    ("probe", include_str!("schema/probe.txt")),
    ("doctor", include_str!("schema/doctor.txt")),
    ("send-recv", include_str!("schema/send-recv.txt")),
    ("decode", include_str!("schema/decode.txt")),
    ("emulate", include_str!("schema/emulate.txt")),
    ("gateway", include_str!("schema/gateway.txt")),
    ("messages", include_str!("schema/messages.txt")),
];

/// Types of several tables.
const COMMON: &str = include_str!("schema/common.txt");

/// Writes the files and the table of the page instead of comparing them.
const WRITE: &str = "JUMBOLAB_WRITE_SCHEMA";

/// The schemas by the names of their tables.
static SCHEMAS: LazyLock<BTreeMap<&str, Value>> = LazyLock::new(|| {
    let schema = |&(name, text)| (name, Table::parse(text, COMMON).schema());
    TABLES.iter().map(schema).collect()
});

/// Asserts that an object is of a known kind, and as one of the schemas with this kind says.
#[track_caller]
pub(crate) fn check(object: &Value) {
    let kind = object["kind"].as_str();
    let kind = kind.unwrap_or_else(|| panic!("no kind in {object}"));
    let mut differences = Vec::new();
    for (name, schema) in &*SCHEMAS {
        let Some(definition) = schema["$defs"].get(kind) else {
            continue;
        };
        match differs(definition, schema, object) {
            None => return,
            Some(why) => differences.push(format!("{name}.schema.json: {why}")),
        }
    }
    panic!("unknown kind, or not as its schema says: {differences:?}: {object}");
}

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
        "{} is not what the tables in tests/cli/schema say; type: {WRITE}=1 cargo test -p jumbolab --test cli schema::",
        path.display()
    );
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
            expected += &format!("| `{}` | {} |\n", block.name, block.summary());
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
    let is_refused = |object: Value| std::panic::catch_unwind(|| check(&object)).is_err();
    for (key, value) in [
        ("kind", json!("study")),
        ("name", json!(1)),
        ("title", Value::Null),
        ("event", json!("x")),
    ] {
        let mut wrong = experiment.clone();
        wrong[key] = value;
        assert!(is_refused(wrong), "{key}");
    }
    assert!(is_refused(json!({ "kind": "experiment", "name": "a" })));
}
