//! Reads `[ranking]`: values of a study with unknown settings, by which the
//! cells are ranked.

use std::collections::BTreeSet;

use anyhow::Result;
use plan::metric::{METRICS, Metric};
use plan::{Ranking, Target};

use super::quantity::{float, line};
use super::reader::{Reader, Spanned, did_you_mean, refusal};
use super::tree::{Node, Value};

/// The list of values, and its name in messages.
const FIGURE: &str = "ranking.figure";

/// The ranking of an experiment, if any.
pub(super) fn ranking(reader: &mut Reader<'_>) -> Result<Option<Ranking>> {
    let figures = reader.find(FIGURE)?;
    let text = reader.optional("ranking.text", line)?;
    let source = reader.optional("ranking.source", line)?;
    let countings = reader.words("ranking.ways")?;
    let node = match figures {
        Some(node) => node,
        None if text.is_none() && source.is_none() && countings.is_none() => return Ok(None),
        None => {
            let example = "[[ranking.figure]] metrics = [\"throughput\"] value = 90.2 gap = 1.5";
            return Err(reader.missing(FIGURE, example));
        }
    };
    let text =
        text.ok_or_else(|| reader.missing("ranking.text", "text = \"RED as it was printed\""))?;
    let source = source.ok_or_else(|| reader.missing("ranking.source", "source = \"[Key s4]\""))?;
    if let Some(countings) = &countings {
        let names: BTreeSet<&String> = countings.value.iter().collect();
        if names.len() != countings.value.len() || names.iter().any(|name| name.trim().is_empty()) {
            return Err(countings.refuse("give each way of counting a name of its own"));
        }
    }
    let not_tables = |node: &Node| {
        let why = "write [[ranking.figure]] above each of them";
        refusal(&node.origin, FIGURE, &node.value, why)
    };
    let Value::List(nodes) = &node.value else {
        return Err(not_tables(node));
    };
    let names = countings.map_or_else(Vec::new, |countings| countings.value);
    let read = |node: &Node| match &node.value {
        Value::Table(table) => {
            let reader = Reader::new(table, FIGURE, node.origin.clone());
            target(reader, names.len())
        }
        _ => Err(not_tables(node)),
    };
    Ok(Some(Ranking {
        text: text.value,
        source: source.value,
        figures: nodes.iter().map(read).collect::<Result<_>>()?,
        countings: names,
    }))
}

/// One value, with one metric per counting method.
fn target(mut reader: Reader<'_>, countings: usize) -> Result<Target> {
    let Some(metrics) = reader.words("metrics")? else {
        return Err(reader.missing("metrics", "metrics = [\"throughput\"]"));
    };
    let known: Vec<&'static Metric> = metrics
        .value
        .iter()
        .map(|name| known(&metrics, name))
        .collect::<Result<_>>()?;
    if known.len() != 1 && known.len() != countings {
        return Err(metrics.refuse(match countings {
            0 => "name one metric, or list ranking.ways, the ways of counting".to_owned(),
            countings => {
                format!("name one metric, or one for each of the {countings} of ranking.ways")
            }
        }));
    }
    if known.iter().any(|metric| metric.unit != known[0].unit) {
        return Err(metrics.refuse("these have several units; one figure has one"));
    }
    let number = |value: &Value| {
        let figure = float(value).ok_or("write a number, in the metric's unit")?;
        Ok((figure, Value::Float(figure)))
    };
    let value = reader.required("value", "value = 90.2", number)?;
    let gap = reader.required("gap", "gap = 1.5", number)?;
    if gap.value == 0.0 {
        return Err(gap.refuse(
            "distances are stated in gaps: write by how much the study holds two of its levels apart, above or below 0",
        ));
    }
    reader.finish()?;
    let mut metrics = metrics.value;
    while metrics.len() < countings {
        metrics.push(metrics[0].clone());
    }
    Ok(Target {
        metrics,
        unit: known[0].unit,
        value: value.value,
        gap: gap.value,
    })
}

fn known(metrics: &Spanned<Vec<String>>, name: &str) -> Result<&'static Metric> {
    Metric::named(name).ok_or_else(|| {
        let hint = did_you_mean(name, METRICS.iter().map(|metric| metric.name));
        metrics.refuse(format!(
            "unknown metric {}{hint}; docs/formats.md lists them",
            super::tree::one_line(name)
        ))
    })
}
