//! Reads `[[published]]`: values of a study to compare the results with.

use std::cmp::Ordering;

use anyhow::Result;
use keyfile::quantity::{float, line, number, positive};
use keyfile::{KeyPath, Node, Origin, Table, Value, did_you_mean, rejection};
use plan::metric::{METRICS, Metric};
use plan::{Compare, Factors, Level, Published, Sampling};
use serde::Serialize;

use super::aliases::Aliases;
use super::claims::alternatives;
use super::reader::Reader;
use super::sweep::{Factor, entries, factor_name, level, levels};

/// Published values, and the comparison that they belong to.
#[derive(Serialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) figures: Published,
    pub(super) compare: Compare,
}

impl Row {
    /// The part of the row that applies to a run that compares `compare`: no
    /// values along another factor, and no changes against another baseline.
    pub(super) fn against(&self, compare: &Compare) -> Option<Published> {
        let mut figures = self.figures.clone();
        if self.compare.baseline != compare.baseline {
            figures.changes.clear();
        }
        let empty = figures.values.is_empty() && figures.changes.is_empty();
        (self.compare.factor == compare.factor && !empty).then_some(figures)
    }
}

impl Row {
    /// Whether the run has the settings of the row, as far as they are not
    /// swept; `cell` has the resolved keys of any cell. Cells match the swept
    /// ones.
    pub(super) fn has_settings_of(
        &self,
        cell: &[(String, Value)],
        factors: &[Factor],
        aliases: &Aliases,
    ) -> bool {
        let Factors(settings) = &self.figures.factors;
        settings.iter().all(|(name, printed)| {
            let Ok(path) = aliases.resolve_factor(name) else {
                return false;
            };
            let key = path.to_string();
            let set = cell.iter().find(|(other, _)| *other == key);
            factors.iter().any(|factor| factor.path == path)
                || set.is_some_and(|(_, value)| level(value).is_ok_and(|own| own.is_same(printed)))
        })
    }
}

/// Adds the file's own comparison to each row without one, so that `--set`
/// cannot assign the values to another comparison.
pub(super) fn remember_comparison(tree: &mut Table) {
    let sweep = tree.table("sweep").map(entries).unwrap_or_default();
    let compare = tree.table("compare");
    let chosen = compare.and_then(|compare| compare.get("factor"));
    let name = match chosen.map(|node| &node.value) {
        Some(Value::Text(name)) => Some(name.clone()),
        _ => sweep.first().map(|entry| entry.name.clone()),
    };
    let Some(name) = name else { return };
    let baseline = compare
        .and_then(|compare| compare.get("baseline"))
        .or_else(|| {
            let entry = sweep.iter().find(|entry| entry.name == name)?;
            levels(entry.node).first()
        })
        .cloned();
    let Some(Node {
        value: Value::List(rows),
        ..
    }) = tree.get_mut("published")
    else {
        return;
    };
    for row in rows {
        let Value::Table(row) = &mut row.value else {
            continue;
        };
        let factor = Node {
            value: Value::Text(name.clone()),
            origin: Origin::Default,
        };
        if row.get("compare").is_none() {
            for (key, node) in [("factor", Some(factor)), ("baseline", baseline.clone())] {
                if let Some(node) = node {
                    let path = ["compare".to_owned(), key.to_owned()];
                    row.put(&path, node).unwrap_or_default();
                }
            }
        }
    }
}

/// The rows of `[[published]]`; `compare` is the comparison of the run.
pub(super) fn rows(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
    compare: &Compare,
) -> Result<Vec<Row>> {
    let Some(node) = reader.find("published")? else {
        return Ok(Vec::new());
    };
    let not_tables = |node: &Node| {
        let why = "write [[published]] above each row of figures";
        rejection(&node.origin, "published", &node.value, why)
    };
    let Value::List(rows) = &node.value else {
        return Err(not_tables(node));
    };
    let name_of = |path: &KeyPath| {
        let swept = factors.iter().find(|factor| factor.path == *path);
        swept.map_or_else(|| aliases.name_of(path), |factor| factor.name.clone())
    };
    rows.iter()
        .map(|node| match &node.value {
            Value::Table(table) => {
                let reader = Reader::new(table, "published", node.origin.clone());
                row(reader, factors, aliases, compare, &name_of)
            }
            _ => Err(not_tables(node)),
        })
        .collect()
}

fn row(
    mut reader: Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
    compare: &Compare,
    name_of: &dyn Fn(&KeyPath) -> String,
) -> Result<Row> {
    let metric = reader.required("metric", "metric = \"throughput\"", line)?;
    let known = Metric::named(&metric.value);
    let Some(known) = known else {
        let names = METRICS.iter().map(|metric| metric.name);
        let hint = did_you_mean(&metric.value, names);
        return Err(metric.reject(format!(
            "unknown metric{hint}; docs/reference/metrics.md lists them"
        )));
    };
    let unit = reader.optional("unit", line)?;
    if let Some(unit) = unit.as_ref().filter(|unit| unit.value != known.unit) {
        return Err(unit.reject(format!(
            "{} is measured in {}; use this unit",
            known.name, known.unit
        )));
    }
    let source = reader.required("source", "source = \"[Key Table 4]\"", line)?;
    let resolution_percent = reader.optional("resolution_percent", positive)?;
    let sampling = sampling(&mut reader)?;
    let alternatives = alternatives(&mut reader, factors, aliases)?;

    let factor = reader.optional("compare.factor", factor_name)?;
    let baseline = reader.optional("compare.baseline", |value| {
        Ok((level(value)?, value.clone()))
    })?;
    let factor = match factor {
        None => compare.factor.clone(),
        Some(found) => {
            let path = aliases.resolve_factor(&found.value);
            name_of(&path.map_err(|why| found.reject(why))?)
        }
    };
    let along = factors.iter().find(|other| other.name == factor);
    let level_called = |text: &str| match along.or_else(|| factors.first()) {
        Some(factor) => factor.level_called(text),
        None => Level::Text(text.into()),
    };
    let values = figures(&mut reader, "values", &level_called)?;
    let changes = figures(&mut reader, "changes", &level_called)?;
    let used_in_fit = reader.words("used_in_fit")?;
    let used: Vec<Level> = (used_in_fit.iter().flat_map(|found| &found.value))
        .map(|text| level_called(text))
        .collect();
    let is_printed = |level: &Level| values.iter().any(|(other, _)| other.is_same(level));
    if let (Some(found), Some(level)) = (&used_in_fit, used.iter().find(|one| !is_printed(one))) {
        return Err(found.reject(format!("`values` has none at {level}; name levels of them")));
    }
    if values.is_empty() && changes.is_empty() {
        return Err(reader.missing("values", "values = { \"1500\" = 750.94 }"));
    }
    if !values.is_empty() && unit.is_none() {
        return Err(reader.missing("unit", "unit = \"Mbit/s\""));
    }
    let row = Row {
        figures: Published {
            metric: metric.value,
            unit: unit.map(|found| found.value).unwrap_or_default(),
            factors: belongs_to(&mut reader, aliases, name_of)?,
            values,
            changes,
            used_in_fit: used,
            resolution_percent: resolution_percent.map(|found| found.value),
            sampling,
            alternatives,
            source: source.value,
        },
        compare: Compare {
            baseline: baseline.map_or_else(
                || compare.baseline.clone(),
                |found| level_called(&found.value.to_string()),
            ),
            factor,
        },
    };
    reader.finish()?;
    Ok(row)
}

/// How far printed means are from those of further trials.
fn sampling(reader: &mut Reader<'_>) -> Result<Option<Sampling>> {
    let trials = reader.optional("trials", number(1, 1_000_000))?;
    let spread = reader.optional("spread_percent", positive)?;
    let source = reader.optional("spread_source", line)?;
    match (trials, spread, source) {
        (None, None, None) => Ok(None),
        (Some(trials), Some(spread), Some(source)) => Ok(Some(Sampling {
            trials: u32::try_from(trials.value).unwrap_or(u32::MAX),
            spread_percent: spread.value,
            source: source.value,
        })),
        (None, _, _) => Err(reader.missing("trials", "trials = 20")),
        (_, None, _) => Err(reader.missing("spread_percent", "spread_percent = 3.1")),
        (_, _, None) => Err(reader.missing(
            "spread_source",
            "spread_source = \"our kernel trials (os-comparison.netns)\"",
        )),
    }
}

/// The factors of a row by name.
fn belongs_to(
    reader: &mut Reader<'_>,
    aliases: &Aliases,
    name_of: &dyn Fn(&KeyPath) -> String,
) -> Result<Factors> {
    let Some((table, _)) = reader.table("factors")? else {
        return Ok(Factors::default());
    };
    let mut factors = table
        .iter()
        .map(|(name, Node { value, origin })| {
            let place = format!("published.factors.{}", KeyPath(vec![name.into()]));
            let reject = |why: String| rejection(origin, &place, value, why);
            let path = aliases.resolve_factor(name).map_err(reject)?;
            Ok((name_of(&path), level(value).map_err(reject)?))
        })
        .collect::<Result<Vec<_>>>()?;
    factors.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(Factors(factors))
}

/// Values by level, in the order of the levels.
fn figures(
    reader: &mut Reader<'_>,
    key: &str,
    level_called: &dyn Fn(&str) -> Level,
) -> Result<Vec<(Level, f64)>> {
    let Some((table, _)) = reader.table(key)? else {
        return Ok(Vec::new());
    };
    let mut figures = table
        .iter()
        .map(|(text, Node { value, origin })| {
            let place = format!("published.{key}.{}", KeyPath(vec![text.into()]));
            let figure = float(value)
                .ok_or_else(|| rejection(origin, &place, value, "write the printed number"))?;
            Ok((level_called(text), figure))
        })
        .collect::<Result<Vec<_>>>()?;
    figures.sort_by(|(a, _), (b, _)| order(a, b));
    Ok(figures)
}

/// Orders levels: numbers by value, then text alphabetically.
fn order(a: &Level, b: &Level) -> Ordering {
    let key = |level: &Level| match level {
        Level::Integer(number) => (*number as f64, String::new()),
        Level::Float(number) => (*number, String::new()),
        Level::Text(text) => (f64::INFINITY, text.clone()),
    };
    let ((a, a_text), (b, b_text)) = (key(a), key(b));
    a.total_cmp(&b).then_with(|| a_text.cmp(&b_text))
}
