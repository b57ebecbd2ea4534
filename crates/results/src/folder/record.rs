//! plan.toml: the resolved experiment and the facts of the run.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context, Result, anyhow, bail};
use files::Folder as Files;
use plan::{Plan, RunFacts};
use serde::{Deserialize, Serialize};
use toml_edit::{Array, Item, TableLike, Value};

use super::FORMAT;

pub(super) const PLAN: &str = "plan.toml";

/// The maximum size of plan.toml: 64 MiB.
const LARGEST: u64 = 64 << 20;

/// The maximum number of characters of a value in a message.
const MOST_SHOWN: usize = 60;

/// The `[run]` table of plan.toml.
#[derive(Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) format: u32,
    pub(super) hash: String,
    #[serde(flatten)]
    pub(super) facts: RunFacts,
}

/// Writes plan.toml: the experiment, then the `[run]` table. The files that it
/// names are already written.
pub(super) fn write_plan(files: &Files, plan: &Plan, facts: &RunFacts) -> Result<()> {
    let mut facts = facts.clone();
    // TOML has no null; unknown facts are omitted.
    let named = facts.hosts.iter_mut().map(|end| &mut end.host);
    for host in facts.host.iter_mut().chain(named) {
        host.machine.retain(|_, value| !value.is_null());
    }
    let run = BTreeMap::from([(
        "run",
        Record {
            format: FORMAT,
            hash: plan.hash.clone(),
            facts,
        },
    )]);
    let run = toml::to_string(&run)
        .context("the machine's facts cannot be written as TOML: report this as a bug")?;
    let text = format!(
        "{}\n# What ran it; not a part of the experiment.\n{run}",
        plan.text
    );
    for kept in &plan.files {
        files.replace(&kept.name, |file| kept.write(file))?;
    }
    files.replace(PLAN, |file| Ok(file.write_all(text.as_bytes())?))
}

/// The experiment's text and the `[run]` table.
pub(super) fn read_plan(files: &Files) -> Result<(String, Record)> {
    #[derive(Deserialize)]
    struct Whole {
        run: Record,
    }
    let path = files.path();
    let place = path.join(PLAN);
    let text = files
        .read_text(PLAN, LARGEST)
        .with_context(|| format!("cannot read {}; give the folder of a run", place.display()))?;
    let damaged = || {
        format!(
            "{} is damaged; restore it or start anew with -o DIR",
            place.display()
        )
    };
    // The parser's message has several lines; the first one is sufficient.
    let first_line = |error: &dyn std::fmt::Display| {
        anyhow!("{}", error.to_string().lines().next().unwrap_or(""))
    };
    let document = toml_edit::Document::parse(text.as_str())
        .map_err(|error| first_line(&error.message()))
        .with_context(damaged)?;
    if let Some(run) = document.get("run") {
        check_types(run, "run", &text).map_err(|(line, why)| {
            anyhow!(
                "{}:{line}: {why}; restore it or start anew with -o DIR",
                place.display()
            )
        })?;
    }
    let whole: Whole = toml::from_str(&text)
        .map_err(|error| first_line(&error.message()))
        .with_context(damaged)?;
    if whole.run.format != FORMAT {
        bail!(
            "{} has format {}, this program reads and writes {FORMAT}; use the version that made it, or choose another folder",
            path.display(),
            whole.run.format
        );
    }
    let mut document = document.into_mut();
    document.remove("run");
    Ok((document.to_string(), whole.run))
}

/// The type of the values of each key of `[run]` and of the tables in it. Other keys may have
/// any value.
const TYPES: [(&str, &[&str]); 5] = [
    (
        "a string",
        &[
            "hash",
            "version",
            "binary",
            "backend",
            "kernel",
            "cpu_model",
            "role",
            "name",
            "interface",
            "system",
            "cell",
            "why",
            "rate",
            "tried",
        ],
    ),
    ("an integer", &["format", "cpus"]),
    ("a boolean", &["root", "sustained"]),
    ("a table", &["run", "auto_rate", "machine", "interfaces"]),
    ("an array of tables", &["hosts", "left_out", "resumed"]),
];

/// Checks the types of `item`, which is called `key`, and of what is in it. The reader of the
/// facts would name neither line nor key, and takes a machine that it cannot read for none.
///
/// # Errors
/// The line, the key, the value and what would be right.
fn check_types(item: &Item, key: &str, text: &str) -> Result<(), (usize, String)> {
    let name = key.rsplit('.').next().unwrap_or(key);
    let Some((wanted, _)) = TYPES.iter().find(|(_, names)| names.contains(&name)) else {
        return Ok(());
    };
    let is_right = match *wanted {
        "a string" => item.is_str(),
        "an integer" => item.is_integer(),
        "a boolean" => item.is_bool(),
        "a table" => item.is_table_like(),
        _ => {
            let inline = |list: &Array| list.iter().all(Value::is_inline_table);
            item.is_array_of_tables() || item.as_array().is_some_and(inline)
        }
    };
    if !is_right {
        let span = item.span().unwrap_or_default();
        let line = text[..span.start].matches('\n').count() + 1;
        let value = keyfile::shortened(text[span].trim(), MOST_SHOWN);
        let value = value.lines().next().unwrap_or_default();
        return Err((line, format!("{key} = {value}: must be {wanted}")));
    }
    // What is known of a machine has any names.
    if ["machine", "interfaces"].contains(&name) {
        return Ok(());
    }
    let of_table = |table: &dyn TableLike| {
        let mut keys = table.iter();
        keys.try_for_each(|(own, item)| check_types(item, &format!("{key}.{own}"), text))
    };
    if let Some(table) = item.as_table_like() {
        return of_table(table);
    }
    if let Some(tables) = item.as_array_of_tables() {
        return tables.iter().try_for_each(|table| of_table(table));
    }
    let inline = item.as_array().into_iter().flatten();
    let mut inline = inline.filter_map(Value::as_inline_table);
    inline.try_for_each(|table| of_table(table))
}
