//! Reads `[report]`: how reports present the results.
//!
//! `--set` may remove levels that the table names; such parts are then left out.

mod figure;
mod row;

use std::collections::BTreeMap;

use anyhow::Result;
use keyfile::quantity::line;
use keyfile::{KeyPath, Node, Origin, Parsed, Table, Value, rejection};
use plan::{Compare, Level, Report};

use super::aliases::Aliases;
use super::reader::Reader;
use super::sweep::{self, Factor, level, levels};

/// The name of the table.
pub(super) const ROOT: &str = "report";

/// The keys that name levels.
const OF_LEVELS: [&str; 5] = ["level", "cells", "labels", figure::KEY, row::KEY];

/// The presentation of an experiment with these factors and this comparison.
pub(super) fn report(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
    compare: &Compare,
) -> Result<Report> {
    let question = reader.optional("report.question", question)?;
    let metrics = sweep::metrics(reader, "report.metrics")?;
    Ok(Report {
        question: question.map(|found| found.value),
        metrics: metrics.map_or_else(Vec::new, |found| found.value),
        level: compared(reader, factors, compare)?,
        cells: match reader.table("report.cells")? {
            Some((table, _)) => cells(table, "report.cells", factors, aliases)?,
            None => Vec::new(),
        },
        labels: labels(reader, factors, aliases)?,
        rows: row::rows(reader, factors, aliases)?,
        next: next(reader)?,
        figures: figure::figures(reader, factors, aliases)?,
    })
}

/// Removes the keys that name levels if `--set` changed levels or the comparison: a
/// reader of the tree as text could not tell that they are obsolete.
pub(super) fn keep_only_swept(tree: &mut Table) {
    let is_set = [sweep::ROOT, "compare"]
        .iter()
        .any(|root| tree.get(root).is_some_and(holds_set));
    if is_set {
        remove_levels(tree);
    }
}

/// Removes the keys that name levels, which a backend replaces by others.
pub(super) fn remove_levels(tree: &mut Table) {
    if let Some(node) = tree.get_mut(ROOT)
        && let Value::Table(table) = &node.value
    {
        node.value = Value::Table(table.only(|key| !OF_LEVELS.contains(&key)));
    }
}

fn holds_set(node: &Node) -> bool {
    match &node.value {
        Value::Table(table) => table.iter().any(|(_, node)| holds_set(node)),
        _ => node.origin.is_option("set"),
    }
}

fn question(value: &Value) -> Parsed<String> {
    let (question, value) = line(value)?;
    match question.ends_with('?') {
        true => Ok((question, value)),
        false => Err("write a question: one sentence with \"?\" at its end".into()),
    }
}

/// What to type after the answer.
fn next(reader: &mut Reader<'_>) -> Result<Vec<String>> {
    let Some(found) = reader.words("report.next")? else {
        return Ok(Vec::new());
    };
    let is_line = |text: &String| line(&Value::Text(text.clone())).is_ok();
    match found.value.iter().all(is_line) {
        true => Ok(found.value),
        false => Err(found.reject("write each command as one line of text")),
    }
}

/// The tables of a list of tables.
fn tables<'a>(node: &'a Node, path: &str) -> Result<Vec<(&'a Table, &'a Node)>> {
    let not_tables = |node: &Node| {
        let why = format!("write [[{path}]] above each of them");
        rejection(&node.origin, path, &node.value, why)
    };
    let Value::List(list) = &node.value else {
        return Err(not_tables(node));
    };
    let table = |node: &'a Node| match &node.value {
        Value::Table(table) => Ok((table, node)),
        _ => Err(not_tables(node)),
    };
    list.iter().map(table).collect()
}

/// The level of the compared factor that the headline is about.
fn compared(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    compare: &Compare,
) -> Result<Option<Level>> {
    let found = reader.optional("report.level", |value| Ok((level(value)?, value.clone())))?;
    let factor = factors.iter().find(|factor| factor.name == compare.factor);
    let (Some(found), Some(factor)) = (found, factor) else {
        return Ok(None);
    };
    let mut overruled = factor.is_set();
    for key in ["compare.factor", "compare.baseline"] {
        overruled |= reader.find(key)?.is_some_and(holds_set);
    }
    let others: Vec<&Level> = (factor.levels.iter().map(|(level, _)| level))
        .filter(|level| !level.is_same(&compare.baseline))
        .collect();
    match others.iter().find(|level| level.is_same(&found.value)) {
        Some(&level) => Ok(Some(level.clone())),
        None if overruled && matches!(found.origin, Origin::File { .. }) => Ok(None),
        None => {
            let others: Vec<String> = others.iter().map(|level| level.to_string()).collect();
            Err(found.reject(format!(
                "write a level of {} other than the baseline {}: {}",
                factor.name,
                compare.baseline,
                others.join(", ")
            )))
        }
    }
}

/// Cells, by the levels of some factors in the table at `path`.
fn cells(
    table: &Table,
    path: &str,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<Vec<(String, Vec<Level>)>> {
    let mut cells = Vec::new();
    for (name, node) in table.iter() {
        let place = format!("{path}.{}", KeyPath(vec![name.to_owned()]));
        let reject = |why: String| rejection(&node.origin, &place, &node.value, why);
        let path = aliases.resolve_factor(name).map_err(reject)?;
        let Some(factor) = factors.iter().find(|factor| factor.path == path) else {
            return Err(reject("it is not swept; [sweep] lists the factors".into()));
        };
        let mut listed = Vec::new();
        for node in levels(node) {
            let level = level(&node.value).map_err(reject)?;
            if factor.has(&level.to_string()).map_err(reject)? {
                listed.push(level);
            }
        }
        if !listed.is_empty() {
            cells.push((factor.name.clone(), listed));
        }
    }
    cells.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(cells)
}

/// Words for levels, by factor and level.
fn labels(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<BTreeMap<String, BTreeMap<String, String>>> {
    let Some((table, _)) = reader.table("report.labels")? else {
        return Ok(BTreeMap::new());
    };
    let mut all = BTreeMap::new();
    for (name, node) in table.iter() {
        let place = KeyPath(["report", "labels", name].map(str::to_owned).to_vec());
        let reject = |why: String| rejection(&node.origin, &place.to_string(), &node.value, why);
        let path = aliases.resolve_factor(name).map_err(reject)?;
        let factor = factors.iter().find(|factor| factor.path == path);
        let choice = aliases.choices().at(&path);
        let Value::Table(written) = &node.value else {
            return Err(reject("write a table".into()));
        };
        let mut labels = BTreeMap::new();
        for (level, node) in written.iter() {
            let place = place.then(level).to_string();
            let reject = |why: String| rejection(&node.origin, &place, &node.value, why);
            let (label, _) = line(&node.value).map_err(reject)?;
            let is_there = match (choice, factor) {
                (Some(choice), _) => {
                    choice
                        .word(&Value::Text(level.to_owned()))
                        .map_err(reject)?;
                    true
                }
                (None, Some(factor)) => factor.has(level).map_err(reject)?,
                (None, None) => true,
            };
            if is_there {
                labels.insert(level.to_owned(), label);
            }
        }
        let name = factor.map_or_else(
            || aliases.factor_name(name, &path),
            |factor| factor.name.clone(),
        );
        if !labels.is_empty() {
            all.insert(name, labels);
        }
    }
    Ok(all)
}

impl Factor {
    /// Whether it has the level written as `text`. Levels that `--set` may have
    /// removed are absent without an error.
    fn has(&self, text: &str) -> Result<bool, String> {
        let names: Vec<String> = (self.levels.iter())
            .map(|(level, _)| level.to_string())
            .collect();
        match names.iter().any(|name| name == text) {
            true => Ok(true),
            false if self.is_set() => Ok(false),
            false => Err(format!(
                "write a level of {}: {}",
                self.name,
                names.join(", ")
            )),
        }
    }
}
