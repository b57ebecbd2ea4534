//! Reads `[[claim]]`: claims of a study without a printed value.

use anyhow::Result;
use keyfile::quantity::{float, line, positive, word};
use keyfile::{KeyPath, Node, Parsed, Value, did_you_mean, rejection};
use plan::metric::{METRICS, Metric};
use plan::{Alternatives, Assertion, Expected, Factors, Level, Over, Tolerance};

use super::aliases::Aliases;
use super::reader::Reader;
use super::sweep::{self, Factor, level};

/// The name of the table.
const ROOT: &str = "claim";

/// The values of `over`.
const OVER: [(&str, Over); 3] = [
    ("each", Over::Each),
    ("any", Over::Any),
    ("mean", Over::Mean),
];

/// The claims of an experiment, in order.
pub(super) fn claims(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<Vec<Assertion>> {
    let Some(node) = reader.find(ROOT)? else {
        return Ok(Vec::new());
    };
    let not_tables = |node: &Node| {
        let why = "write [[claim]] above each of them";
        rejection(&node.origin, ROOT, &node.value, why)
    };
    let Value::List(claims) = &node.value else {
        return Err(not_tables(node));
    };
    let read = |node: &Node| match &node.value {
        Value::Table(table) => {
            let reader = Reader::new(table, ROOT, node.origin.clone());
            claim(reader, factors, aliases)
        }
        _ => Err(not_tables(node)),
    };
    claims.iter().map(read).collect()
}

fn claim(mut reader: Reader<'_>, factors: &[Factor], aliases: &Aliases) -> Result<Assertion> {
    let text = reader.required("text", "text = \"the queue stays short\"", line)?;
    let source = reader.required("source", "source = \"[Key s4]\"", line)?;
    let metric = reader.required("metric", "metric = \"throughput\"", line)?;
    let Some(known) = Metric::named(&metric.value) else {
        let hint = did_you_mean(&metric.value, METRICS.iter().map(|metric| metric.name));
        return Err(metric.reject(format!(
            "unknown metric{hint}; docs/reference/metrics.md lists them"
        )));
    };
    if let Some(unit) = reader.optional("unit", line)?
        && unit.value != known.unit
    {
        return Err(unit.reject(format!(
            "{} is measured in {}; use this unit",
            known.name, known.unit
        )));
    }
    let claim = Assertion {
        text: text.value,
        source: source.value,
        metric: metric.value,
        cells: lists(&mut reader, "cells", factors, aliases)?,
        alternatives: alternatives(&mut reader, factors, aliases)?,
        expected: expected(&mut reader, factors, aliases)?,
        tolerance: tolerance(&mut reader)?,
    };
    reader.finish()?;
    Ok(claim)
}

/// The swept factors whose levels exclude each other, and those that the source states.
pub(super) fn alternatives(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<Alternatives> {
    let stated = lists(reader, "stated", factors, aliases)?;
    let Some(found) = reader.words("alternatives")? else {
        return match stated.is_empty() {
            true => Ok(Alternatives::default()),
            false => Err(reader.missing("alternatives", "alternatives = [\"path\"]")),
        };
    };
    let one = |name: &String| {
        let reject = |why: String| found.reject(format!("{name}: {why}"));
        let path = aliases.resolve_factor(name).map_err(reject)?;
        let swept = factors.iter().find(|factor| factor.path == path);
        let not_swept = || reject("it is not swept; [sweep] lists the factors".into());
        Ok(swept.ok_or_else(not_swept)?.name.clone())
    };
    let named: Vec<String> = found.value.iter().map(one).collect::<Result<_>>()?;
    if let Some((other, _)) = stated.iter().find(|(name, _)| !named.contains(name)) {
        let why = format!("`stated` has levels of {other}, which is none of them");
        return Err(found.reject(why));
    }
    Ok(Alternatives {
        factors: named,
        stated,
    })
}

/// How far figures without spread may be apart and still count as equal, and why.
fn tolerance(reader: &mut Reader<'_>) -> Result<Option<Tolerance>> {
    let within = reader.optional("tolerance", positive)?;
    let reason = reader.optional("reason", line)?;
    match (within, reason) {
        (None, None) => Ok(None),
        (Some(within), Some(reason)) => Ok(Some(Tolerance {
            within: within.value,
            reason: reason.value,
        })),
        (Some(within), None) => Err(within.reject("give the reason in `reason`")),
        (None, Some(reason)) => Err(reason.reject("it gives the reason of a `tolerance`")),
    }
}

/// The claimed relation, in one of four forms.
fn expected(reader: &mut Reader<'_>, factors: &[Factor], aliases: &Aliases) -> Result<Expected> {
    let is = reader.optional("is", word(&[("higher", true), ("lower", false)]))?;
    let by = reader.optional("by", figure)?;
    let percent = reader.optional("by_percent", figure)?;
    let over = reader.optional("over", word(&OVER))?;
    let than = levels(reader, "than", factors, aliases)?;
    let most = reader.optional("at_most", figure)?;
    let least = reader.optional("at_least", figure)?;
    match (is, most, least) {
        (Some(is), None, None) if than.0.is_empty() => {
            Err(is.reject("than is missing: write than = { queue = \"droptail\" }"))
        }
        (Some(is), None, None) => {
            let higher = is.value;
            match (by, percent, over) {
                (by, None, None) => Ok(Expected::Than {
                    than,
                    higher,
                    by: by.map_or(0.0, |by| by.value),
                }),
                (None, Some(percent), over) => Ok(Expected::Changed {
                    than,
                    higher,
                    percent: percent.value,
                    over: over.map_or(Over::Each, |over| over.value),
                }),
                (Some(_), Some(percent), _) => {
                    Err(percent.reject("`by` gives the size as well; keep one of them"))
                }
                (_, None, Some(over)) => {
                    Err(over.reject("only changes in per cent have it; write by_percent = 20 too"))
                }
            }
        }
        (None, _, _)
            if by.is_some() || percent.is_some() || over.is_some() || !than.0.is_empty() =>
        {
            let example = "is = \"lower\", which `than`, `by`, `by_percent` and `over` belong to";
            Err(reader.missing("is", example))
        }
        (None, Some(most), None) => Ok(Expected::AtMost(most.value)),
        (None, None, Some(least)) => Ok(Expected::AtLeast(least.value)),
        (None, None, None) => Err(reader.missing(
            "is",
            "is = \"lower\" and than = { queue = \"droptail\" }; or at_most = 15, or at_least = 15",
        )),
        (_, Some(bound), _) | (_, _, Some(bound)) => {
            Err(bound.reject("a claim states one bound; write another [[claim]] for the other"))
        }
    }
}

/// One level of each factor.
fn levels(
    reader: &mut Reader<'_>,
    key: &str,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<Factors> {
    let found = reader.table(key)?;
    let lists = lists(reader, key, factors, aliases)?;
    let one = |(name, levels): (String, Vec<Level>)| match (<[Level; 1]>::try_from(levels), found) {
        (Ok([level]), _) => Ok((name, level)),
        (Err(levels), Some((_, origin))) => {
            let path = format!("{ROOT}.{key}.{name}");
            let levels: Vec<String> = levels.iter().map(Level::to_string).collect();
            let value = Value::Text(levels.join(", "));
            Err(rejection(origin, &path, &value, "write one level"))
        }
        (Err(_), None) => Err(reader.missing(key, "than = { queue = \"droptail\" }")),
    };
    Ok(Factors(lists.into_iter().map(one).collect::<Result<_>>()?))
}

/// Levels of swept factors, by factor name: a list, or a single level.
pub(super) fn lists(
    reader: &mut Reader<'_>,
    key: &str,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<Vec<(String, Vec<Level>)>> {
    let Some((table, _)) = reader.table(key)? else {
        return Ok(Vec::new());
    };
    let one = |(name, node): (&str, &Node)| {
        let place = format!("{ROOT}.{key}.{}", KeyPath(vec![name.into()]));
        let reject = |why: String| rejection(&node.origin, &place, &node.value, why);
        let path = aliases.resolve_factor(name).map_err(reject)?;
        let swept = factors.iter().find(|factor| factor.path == path);
        let Some(factor) = swept else {
            return Err(reject("it is not swept; [sweep] lists the factors".into()));
        };
        let levels = sweep::levels(node).iter().map(|node| level(&node.value));
        let levels = levels.collect::<Result<Vec<_>, _>>().map_err(reject)?;
        Ok((factor.name.clone(), levels))
    };
    let mut lists = table.iter().map(one).collect::<Result<Vec<_>>>()?;
    lists.sort_by(|(a, _), (b, _)| a.cmp(b));
    Ok(lists)
}

fn figure(value: &Value) -> Parsed<f64> {
    let figure = float(value).ok_or("write a number, in the metric's unit")?;
    Ok((figure, Value::Float(figure)))
}
