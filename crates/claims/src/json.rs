//! Claims as JSON Lines; docs/reference/json.md is the schema.

use anyhow::Result;
use serde::Serialize;

use crate::arithmetic::Sum;
use crate::conclusion::Conclusion;
use crate::outcome::{Alternative, Elsewhere, Outcome};
use crate::record::{Header, Sensitivity};

/// The object of one claim. The order of fields is the format's.
#[derive(Serialize)]
struct Line<'a> {
    kind: &'static str,
    paper: &'a str,
    id: &'a str,
    claim: &'a str,
    place: &'a str,
    done: &'a str,
    evidence: &'static str,
    result: &'a str,
    verdict: Conclusion,
    slip: Option<&'a str>,
    alternatives: &'a [Alternative],
    elsewhere: &'a [Elsewhere],
    fitted: Option<&'a Elsewhere>,
    sensitivity: Option<&'a [&'a Sensitivity]>,
    why: &'a str,
    run: Option<&'a Header>,
}

/// The object of one sum.
#[derive(Serialize)]
struct SumLine<'a> {
    kind: &'static str,
    #[serde(flatten)]
    sum: &'a Sum<'a>,
}

/// One object a claim, without line ends.
///
/// # Errors
/// When a figure is not finite.
pub fn lines(outcomes: &[&Outcome<'_>]) -> Result<Vec<String>> {
    let lines = outcomes.iter().map(|outcome| {
        let claim = outcome.claim;
        serde_json::to_string(&Line {
            kind: "claim",
            paper: &outcome.paper.name,
            id: &claim.id,
            claim: &claim.text,
            place: &claim.place,
            done: &claim.done,
            evidence: claim.evidence.kind(),
            result: &outcome.figure,
            verdict: outcome.verdict,
            slip: claim.slip.as_deref(),
            alternatives: &outcome.alternatives,
            elsewhere: &outcome.elsewhere,
            fitted: outcome.fitted.as_ref(),
            sensitivity: outcome.sensitivity.as_ref().map(|one| one.lines.as_slice()),
            why: &claim.why,
            run: outcome.record.map(|record| &record.run),
        })
    });
    Ok(lines.collect::<Result<_, _>>()?)
}

/// One object a sum, without line ends.
///
/// # Errors
/// When a figure is not finite.
pub fn sum_lines(sums: &[Sum<'_>]) -> Result<Vec<String>> {
    let lines = sums.iter().map(|sum| {
        serde_json::to_string(&SumLine {
            kind: "arithmetic",
            sum,
        })
    });
    Ok(lines.collect::<Result<_, _>>()?)
}
