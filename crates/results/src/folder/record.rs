//! plan.toml: the resolved experiment and the facts of the run.

use std::collections::BTreeMap;
use std::io::Write;

use anyhow::{Context, Result, anyhow, bail};
use files::Folder as Files;
use plan::{Plan, RunFacts};
use serde::{Deserialize, Serialize};

use super::FORMAT;

pub(super) const PLAN: &str = "plan.toml";

/// The maximum size of plan.toml: 64 MiB.
const LARGEST: u64 = 64 << 20;

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
    let mut document: toml_edit::DocumentMut = text
        .parse()
        .map_err(|error: toml_edit::TomlError| first_line(&error.message()))
        .with_context(damaged)?;
    document.remove("run");
    Ok((document.to_string(), whole.run))
}
