//! `[[rivals]]`: rival explanations, and the sentences that they must explain.

use anyhow::Result;
use plan::{Assertion, Rivals, StepClaim};

use super::aliases::Aliases;
use super::quantity::line;
use super::reader::{Reader, refusal};
use super::sweep::{self, Factor, factor_name};
use super::tree::{Node, Value};

/// The name of the table.
const ROOT: &str = "rivals";

/// The rival explanations of an experiment, in their order; `claims` and `steps` are
/// what they may be asked to explain.
pub(super) fn rivals(
    reader: &mut Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
    claims: &[Assertion],
    steps: &[StepClaim],
) -> Result<Vec<Rivals>> {
    let Some(node) = reader.find(ROOT)? else {
        return Ok(Vec::new());
    };
    let not_tables = |node: &Node| {
        let why = "write [[rivals]] above each of them";
        refusal(&node.origin, ROOT, &node.value, why)
    };
    let Value::List(entries) = &node.value else {
        return Err(not_tables(node));
    };
    let claims = claims.iter().map(|claim| claim.text.as_str());
    let steps = steps.iter().map(|step| step.text.as_str());
    let sentences: Vec<&str> = claims.chain(steps).collect();
    let read = |node: &Node| match &node.value {
        Value::Table(table) => entry(
            Reader::new(table, ROOT, node.origin.clone()),
            factors,
            aliases,
            &sentences,
        ),
        _ => Err(not_tables(node)),
    };
    entries.iter().map(read).collect()
}

fn entry(
    mut reader: Reader<'_>,
    factors: &[Factor],
    aliases: &Aliases,
    sentences: &[&str],
) -> Result<Rivals> {
    let text = reader.required("text", "text = \"why it is slower\"", line)?;
    let factor = reader.required("factor", "factor = \"cause\"", factor_name)?;
    let path = aliases.resolve_factor(&factor.value);
    let path = path.map_err(|why| factor.refuse(why))?;
    let Some(swept) = factors.iter().find(|swept| swept.path == path) else {
        return Err(factor.refuse("it is not swept; [sweep] lists the factors"));
    };
    let claims = match reader.words("claims")? {
        None => sentences.iter().map(|&text| text.to_owned()).collect(),
        Some(found) => {
            let is_unknown = |text: &&String| !sentences.contains(&text.as_str());
            if let Some(unknown) = found.value.iter().find(is_unknown) {
                return Err(
                    found.refuse(format!("no [[claim]] or [[jump]] has the text `{unknown}`"))
                );
            }
            found.value
        }
    };
    let published = sweep::metrics(&mut reader, "published")?;
    let rivals = Rivals {
        text: text.value,
        factor: swept.name.clone(),
        claims,
        published: published.map_or_else(Vec::new, |found| found.value),
    };
    reader.finish()?;
    Ok(rivals)
}
