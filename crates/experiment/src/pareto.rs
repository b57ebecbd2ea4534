//! Reads `[[pareto]]`: trade-offs between two metrics.

use anyhow::Result;
use plan::Tradeoff;
use plan::metric::{METRICS, Metric};

use super::aliases::Aliases;
use super::quantity::line;
use super::reader::{Reader, Spanned, did_you_mean, refusal};
use super::sweep::Factor;
use super::tree::{Node, Value};

/// The name of the table.
const ROOT: &str = "pareto";

/// The trade-offs of an experiment, in order.
pub(super) fn tradeoffs(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<Vec<Tradeoff>> {
    let Some(node) = reader.find(ROOT)? else {
        return Ok(Vec::new());
    };
    let not_tables = |node: &Node| {
        let why = "write [[pareto]] above each of them";
        refusal(&node.origin, ROOT, &node.value, why)
    };
    let Value::List(tables) = &node.value else {
        return Err(not_tables(node));
    };
    let read = |node: &Node| match &node.value {
        Value::Table(table) => {
            let reader = Reader::new(table, ROOT, node.origin.clone());
            tradeoff(reader, factors, aliases)
        }
        _ => Err(not_tables(node)),
    };
    tables.iter().map(read).collect()
}

fn tradeoff(mut reader: Reader<'_>, factors: &[Factor], aliases: &Aliases) -> Result<Tradeoff> {
    let x = metric(&mut reader, "x", "x = \"delay\"")?;
    let y = metric(&mut reader, "y", "y = \"throughput\"")?;
    if x.value == y.value {
        return Err(y.refuse("a metric is not weighed against itself; write another one"));
    }
    let mut within = Vec::new();
    if let Some(found) = reader.words("within")? {
        for name in &found.value {
            let path = aliases
                .resolve_factor(name)
                .map_err(|why| found.refuse(why))?;
            let Some(factor) = factors.iter().find(|factor| factor.path == path) else {
                let why = format!("`{name}` is not swept; [sweep] lists the factors");
                return Err(found.refuse(why));
            };
            within.push(factor.name.clone());
        }
    }
    reader.finish()?;
    Ok(Tradeoff {
        metrics: [x.value, y.value],
        within,
    })
}

fn metric(reader: &mut Reader<'_>, key: &str, example: &str) -> Result<Spanned<String>> {
    let found = reader.required(key, example, line)?;
    match Metric::named(&found.value) {
        Some(_) => Ok(found),
        None => {
            let hint = did_you_mean(&found.value, METRICS.iter().map(|metric| metric.name));
            Err(found.refuse(format!("unknown metric{hint}; docs/formats.md lists them")))
        }
    }
}
