//! Reads `[[jump]]`: claims of a study about message sizes at which times jump.

use anyhow::Result;
use keyfile::quantity::{line, number, word};
use keyfile::{Node, Value, rejection};
use plan::{OfStep, Sign, StepClaim};

use super::aliases::Aliases;
use super::claims::{alternatives, lists};
use super::reader::Reader;
use super::sweep::Factor;

/// The name of the table.
const ROOT: &str = "jump";

/// The keywords for the quantity and the direction of a jump.
const OF: [(&str, OfStep); 2] = [("time", OfStep::Time), ("variance", OfStep::Variance)];
const SIGNS: [(&str, Sign); 3] = [("up", Sign::Up), ("down", Sign::Down), ("none", Sign::None)];

/// The claims of an experiment, in order.
pub(super) fn steps(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
) -> Result<Vec<StepClaim>> {
    let Some(node) = reader.find(ROOT)? else {
        return Ok(Vec::new());
    };
    let not_tables = |node: &Node| {
        let why = "write [[jump]] above each of them";
        rejection(&node.origin, ROOT, &node.value, why)
    };
    let Value::List(steps) = &node.value else {
        return Err(not_tables(node));
    };
    let read = |node: &Node| match &node.value {
        Value::Table(table) => step(
            Reader::new(table, ROOT, node.origin.clone()),
            factors,
            aliases,
        ),
        _ => Err(not_tables(node)),
    };
    steps.iter().map(read).collect()
}

fn step(mut reader: Reader<'_>, factors: &[Factor], aliases: &Aliases) -> Result<StepClaim> {
    let text = reader.required("text", "text = \"a step up at 9000 bytes\"", line)?;
    let source = reader.required("source", "source = \"[Key s4]\"", line)?;
    let bytes = number(1, i64::from(u32::MAX));
    let at = reader.required("at", "at = 9000", &bytes)?.value;
    let within = reader.required("within", "within = 100", bytes)?.value;
    let whole = |number: i64| u32::try_from(number).unwrap_or(u32::MAX);
    let claim = StepClaim {
        text: text.value,
        source: source.value,
        cells: lists(&mut reader, "cells", factors, aliases)?,
        alternatives: alternatives(&mut reader, factors, aliases)?,
        of: reader.read("of", word(&OF))?.value,
        at: whole(at),
        within: whole(within),
        sign: reader.required("is", "is = \"up\"", word(&SIGNS))?.value,
    };
    reader.finish()?;
    Ok(claim)
}
