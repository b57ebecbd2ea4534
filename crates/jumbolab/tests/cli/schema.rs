//! What each command prints as JSON: the tables in `schema/` say it, docs/reference/schema
//! is made of them, and every line that a test reads is checked against it.
//!
//! A table has a title, and blocks with a head, a description, and a field a line: its name
//! (`name?`: it may be absent), its type and its meaning, two spaces apart. `+Name` has the
//! fields of a type, `*` stands for keys of other names. A block `kind` is an object of its
//! own; a block `type` is part of others.

// Other test targets have this file, too: with the paths it finds its children there.
#[path = "schema/check.rs"]
mod check;
#[path = "schema/table.rs"]
mod table;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde_json::Value;

use check::differs;
pub(crate) use table::Table;

/// The tables by the names of their files, in the order of the page.
pub(crate) const TABLES: [(&str, &str); 13] = [
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
pub(crate) const COMMON: &str = include_str!("schema/common.txt");

/// The schemas by the names of their tables.
pub(crate) static SCHEMAS: LazyLock<BTreeMap<&str, Value>> = LazyLock::new(|| {
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
