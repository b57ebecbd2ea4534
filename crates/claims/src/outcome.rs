//! The outcome of each claim.

use std::collections::BTreeMap;

use analysis::verdict::Verdict;
use anyhow::{Result, bail};
use plan::Level;
use serde::Serialize;

use crate::arithmetic;
use crate::conclusion::Conclusion;
use crate::record::{Line, Measured, OfAlternative, OfClaim, OfFigure, Record, Sensitivity};
use crate::register::{Claim, Evidence, Paper, Run};

mod alternatives;

pub use alternatives::Alternative;
use alternatives::{of_lines, places, with_shares};

/// A claim and what became of it.
#[derive(Debug)]
pub struct Outcome<'a> {
    pub paper: &'a Paper,
    pub claim: &'a Claim,
    pub verdict: Conclusion,
    /// Alternatives that exclude each other; empty where there are none.
    pub alternatives: Vec<Alternative>,
    /// The figure that decides it, with its interval.
    pub figure: String,
    /// The recorded run that it is from, if any.
    pub record: Option<&'a Record>,
    /// The verdicts of other backends on the same claim.
    pub elsewhere: Vec<Elsewhere>,
    /// The verdict of simulated hosts that are fitted to the paper, where the claim names
    /// such a run; it is apart from that of the claim.
    pub fitted: Option<Elsewhere>,
    /// In which share of the plausible settings it holds, if that is recorded.
    pub sensitivity: Option<Plausible<'a>>,
}

/// The name of a verdict by simulation with fitted hosts.
pub(crate) const FITTED: &str = "simulated with fitted hosts";

/// The verdict on a claim by the recorded run of another backend than that of its outcome. The
/// order of fields is that of the JSON object.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Elsewhere {
    pub backend: String,
    /// The verdict there.
    pub verdict: Verdict,
    /// The figure that decides it there.
    #[serde(rename = "result")]
    pub figure: String,
}

impl Outcome<'_> {
    /// The figure, and what runs of other backends say of the same claim.
    pub(crate) fn figures(&self) -> String {
        let others = self.elsewhere.iter();
        let others =
            others.map(|one| format!("; {} ({}: {})", one.figure, one.backend, one.verdict));
        let fitted = { self.fitted.iter() }.map(|one| format!("; {FITTED}: {}", one.figure));
        self.figure.clone() + &others.chain(fitted).collect::<String>()
    }

    /// The verdict, and that of fitted hosts.
    pub(crate) fn verdicts(&self) -> String {
        let fitted = { self.fitted.iter() }.map(|one| format!("; {FITTED}: {}", one.verdict));
        self.verdict.to_string() + &fitted.collect::<String>()
    }
}

/// In which share of the plausible settings a claim holds.
#[derive(Debug)]
pub struct Plausible<'a> {
    /// The backend of the search.
    pub backend: &'a str,
    /// Whether that is not the backend of the verdict.
    pub is_elsewhere: bool,
    /// The claim; of a published figure each cell that it is about; of alternatives
    /// whether any of them holds.
    pub lines: Vec<&'a Sensitivity>,
    of_alternatives: Vec<&'a Sensitivity>,
}

impl Plausible<'_> {
    /// Whether the share is of settings in which any of several alternatives holds.
    pub(crate) const fn is_of_any(&self) -> bool {
        !self.of_alternatives.is_empty()
    }
}

/// The outcome of every claim of `papers`, in their order.
///
/// # Errors
/// When a claim refers to a computation, or to a line of a recorded result, that
/// does not exist.
pub fn outcomes<'a>(papers: &'a [Paper], records: &'a [Record]) -> Result<Vec<Outcome<'a>>> {
    let claims = papers
        .iter()
        .flat_map(|paper| paper.claims.iter().map(move |claim| (paper, claim)));
    claims
        .map(|(paper, claim)| outcome(paper, claim, records))
        .collect()
}

fn outcome<'a>(paper: &'a Paper, claim: &'a Claim, records: &'a [Record]) -> Result<Outcome<'a>> {
    Ok(Outcome {
        fitted: fitted(claim, records)?,
        ..decided(paper, claim, records)?
    })
}

/// The verdict of the run with fitted hosts that a claim names.
fn fitted(claim: &Claim, records: &[Record]) -> Result<Option<Elsewhere>> {
    let Some(evidence) = &claim.fitted else {
        return Ok(None);
    };
    let run = evidence.run();
    let Some(run) = run.filter(|run| run.backend == Some("sim")) else {
        bail!(
            "{}: fitted: write the evidence of a run, with backend = \"sim\"",
            claim.id
        );
    };
    let Some(record) = find(records, &run) else {
        return Ok(None);
    };
    let Some((verdict, figure, alternatives)) = look_up(evidence, record) else {
        bail!(
            "{}: fitted: {} has no such verdict",
            claim.id,
            record.file_name()
        );
    };
    Ok(Some(Elsewhere {
        backend: record.run.backend.clone(),
        verdict,
        figure: with_places(figure, &alternatives),
    }))
}

/// The outcome by the evidence that decides the claim.
fn decided<'a>(paper: &'a Paper, claim: &'a Claim, records: &'a [Record]) -> Result<Outcome<'a>> {
    let of = |verdict, figure| Outcome {
        paper,
        claim,
        verdict,
        alternatives: Vec::new(),
        figure,
        record: None,
        elsewhere: Vec::new(),
        fitted: None,
        sensitivity: None,
    };
    if let Evidence::NotMeasured(evidence) = &claim.evidence {
        let why = evidence.not_measured.clone();
        return Ok(of(Conclusion::Measured(Verdict::NotMeasured), why));
    }
    if let Some((conclusion, figure)) = by_itself(claim)? {
        return Ok(match &claim.slip {
            None => of(conclusion, figure),
            Some(meant) => of(
                Conclusion::Slip,
                format!("{figure}; evidently meant: {meant}"),
            ),
        });
    }
    let Some(record) = claim.evidence.run().and_then(|run| find(records, &run)) else {
        let verdict = Conclusion::Measured(Verdict::NotMeasured);
        return Ok(of(verdict, "no result is recorded".to_owned()));
    };
    let Some((verdict, figure, mut alternatives)) = look_up(&claim.evidence, record) else {
        bail!("{}: {} has no such verdict", claim.id, record.file_name());
    };
    let sensitivity = sensitivity(&claim.evidence, record, records);
    if let Some(search) = &sensitivity {
        with_shares(&mut alternatives, search);
    }
    let figure = with_places(figure, &alternatives);
    Ok(Outcome {
        record: Some(record),
        elsewhere: elsewhere(&claim.evidence, record, records),
        sensitivity,
        alternatives,
        ..of(
            Conclusion::Measured(verdict),
            format!("{figure} ({})", record.run.backend),
        )
    })
}

/// A figure, and in which of several alternatives the claim holds.
fn with_places(figure: String, alternatives: &[Alternative]) -> String {
    match alternatives {
        [] | [_] => figure,
        several => format!("{figure}; {}", places(several)),
    }
}

/// The verdicts of other backends on a claim that they measured.
fn elsewhere(evidence: &Evidence, record: &Record, records: &[Record]) -> Vec<Elsewhere> {
    let others = records.iter().filter(|other| {
        let (one, other) = (&record.run, &other.run);
        one.experiment == other.experiment
            && one.variant == other.variant
            && one.backend != other.backend
    });
    let measured = others.filter_map(|other| {
        let (verdict, figure, alternatives) = look_up(evidence, other)?;
        (verdict != Verdict::NotMeasured).then(|| Elsewhere {
            backend: other.run.backend.clone(),
            verdict,
            figure: with_places(figure, &alternatives),
        })
    });
    measured.collect()
}

/// The conclusion on a claim that the paper itself or a calculation decides.
fn by_itself(claim: &Claim) -> Result<Option<(Conclusion, String)>> {
    let id = &claim.id;
    let (conclusion, figure) = match &claim.evidence {
        Evidence::Sentence(evidence) => (Conclusion::Text, evidence.contradicted_by.clone()),
        evidence => {
            let Some(name) = evidence.computation() else {
                if claim.slip.is_some() {
                    bail!(
                        "{id}: slip: no run tells what was meant; the evidence is `tables`, `calculation` or `contradicted_by`"
                    );
                }
                return Ok(None);
            };
            let Some(computation) = arithmetic::find(name) else {
                bail!("{id}: there is no computation {name:?}");
            };
            let agrees = computation.agrees();
            if agrees && claim.slip.is_some() {
                bail!("{id}: slip: the computation {name:?} agrees with what is printed");
            }
            (computation.conclusion(evidence), computation.figure())
        }
    };
    Ok(Some((conclusion, figure)))
}

/// The shares of the plausible settings that a search recorded: of several backends
/// that of `record`, which is no variant.
fn sensitivity<'a>(
    evidence: &Evidence,
    record: &Record,
    records: &'a [Record],
) -> Option<Plausible<'a>> {
    // A search begins at the settings that an experiment is shipped with.
    if record.run.variant.is_some() {
        return None;
    }
    let is_asked = |line: &&Sensitivity| match evidence {
        Evidence::Claim(wanted) => line.metric.is_none() && line.question == wanted.claim,
        Evidence::Jump(wanted) => line.metric.is_none() && line.question == wanted.jump,
        Evidence::Figure(wanted) => {
            line.metric.as_deref() == Some(&wanted.metric) && has(&line.cell, &wanted.cell)
        }
        _ => false,
    };
    let searches = records
        .iter()
        .filter(|other| other.run.experiment == record.run.experiment);
    let mut found: Vec<Plausible<'a>> = searches
        .map(|search| {
            let lines = search.sensitivity.iter().filter(is_asked);
            let (of_alternatives, lines) = lines.partition(|line| line.alternative.is_some());
            Plausible {
                backend: &search.run.backend,
                is_elsewhere: search.run.backend != record.run.backend,
                lines,
                of_alternatives,
            }
        })
        .filter(|plausible| !plausible.lines.is_empty())
        .collect();
    found.sort_by_key(|plausible| plausible.is_elsewhere);
    found.into_iter().next()
}

/// The recorded run that a claim refers to: of several backends `netns`.
fn find<'a>(records: &'a [Record], run: &Run<'_>) -> Option<&'a Record> {
    let mut found: Vec<&Record> = records
        .iter()
        .filter(|record| {
            record.run.experiment == run.experiment
                && record.run.variant.as_deref() == run.variant
                && run
                    .backend
                    .is_none_or(|backend| record.run.backend == backend)
        })
        .collect();
    found.sort_by(|one, other| one.run.backend.cmp(&other.run.backend));
    found.first().copied()
}

/// The verdict that a record has of a claim, the figure, and the alternatives.
fn look_up(evidence: &Evidence, record: &Record) -> Option<(Verdict, String, Vec<Alternative>)> {
    let mut lines = record.verdicts.iter();
    match evidence {
        Evidence::Claim(wanted) => lines.find_map(|line| match line {
            Line::Claim(one) if one.claim == wanted.claim => {
                Some((one.verdict, of_claim(one), of_lines(&one.alternatives)))
            }
            _ => None,
        }),
        Evidence::Jump(wanted) => lines.find_map(|line| match line {
            Line::Jump(one) if one.jump == wanted.jump => {
                Some((one.verdict, one.seen.clone(), of_lines(&one.alternatives)))
            }
            _ => None,
        }),
        Evidence::Claims(wanted) => {
            let claims = wanted
                .claims
                .iter()
                .map(|text| alternatives_of(record, text));
            let claims: Vec<&[OfAlternative]> = claims.collect::<Option<_>>()?;
            let (figure, alternatives) = alternatives::of_all(&claims);
            let verdict = alternatives::verdict(&alternatives);
            Some((verdict, figure, alternatives))
        }
        Evidence::Figure(wanted) => {
            let about = lines.filter_map(|line| match line {
                Line::Figure(one)
                    if one.metric == wanted.metric && has(&one.cell, &wanted.cell) =>
                {
                    Some(one)
                }
                _ => None,
            });
            let about: Vec<&OfFigure> = about.collect();
            about.first()?;
            let alternatives = alternatives::of_figures(&about);
            let verdict = match alternatives.as_slice() {
                [] => together(about.iter().map(|one| one.verdict)),
                some => alternatives::verdict(some),
            };
            Some((verdict, of_figures(&about), alternatives))
        }
        _ => None,
    }
}

/// The alternatives of a claim in words or about a step; `None` if the record has no such
/// claim, or the claim has none.
fn alternatives_of<'a>(record: &'a Record, text: &str) -> Option<&'a [OfAlternative]> {
    let found = record.verdicts.iter().find_map(|line| match line {
        Line::Claim(one) if one.claim == text => Some(&one.alternatives),
        Line::Jump(one) if one.jump == text => Some(&one.alternatives),
        _ => None,
    });
    found.map(Vec::as_slice).filter(|all| !all.is_empty())
}

fn has(cell: &BTreeMap<String, Level>, wanted: &BTreeMap<String, Level>) -> bool {
    wanted.iter().all(|(name, level)| {
        let own = cell.get(name);
        own.is_some_and(|own| own.is_same(level))
    })
}

/// The verdict of several: one that contradicts is enough, and all have to
/// agree to reproduce.
fn together(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    const WORST_FIRST: [Verdict; 4] = [
        Verdict::NotReproduced,
        Verdict::Inconclusive,
        Verdict::DirectionOnly,
        Verdict::Reproduced,
    ];
    let verdicts: Vec<Verdict> = verdicts.collect();
    let worst = WORST_FIRST
        .into_iter()
        .find(|worst| verdicts.contains(worst));
    worst.unwrap_or(Verdict::NotMeasured)
}

fn of_claim(one: &OfClaim) -> String {
    if let Some(average) = &one.average {
        return format!("{} on average", written(average, "%"));
    }
    let range = match (&one.lowest, &one.highest) {
        (Some(lowest), Some(highest)) => format!(
            "{} to {}",
            written(lowest, &one.unit),
            written(highest, &one.unit)
        ),
        (Some(lowest), None) => written(lowest, &one.unit),
        (None, _) => "no figure".to_owned(),
    };
    match one.settings {
        0 | 1 => range,
        _ if !one.alternatives.is_empty() => range,
        settings => format!("{range}; holds in {} of {settings}", one.holds),
    }
}

fn of_figures(about: &[&OfFigure]) -> String {
    let changes = about.iter().filter_map(|one| one.change.as_ref());
    let mut changes: Vec<&Measured> = changes.collect();
    changes.sort_by(|one, other| one.value.total_cmp(&other.value));
    let ours = match changes.as_slice() {
        [] => {
            return about
                .first()
                .map_or_else(String::new, |one| one.reason.clone());
        }
        [one] => written(one, "%"),
        [first, .., last] => format!("{} to {}", written(first, "%"), written(last, "%")),
    };
    match about.first().and_then(|one| one.published_change) {
        Some(published) => format!("{ours}; printed {} %", digits(published)),
        None => ours,
    }
}

/// A figure with its interval and unit.
fn written(measured: &Measured, unit: &str) -> String {
    let interval = measured
        .interval
        .filter(|[low, high]| low != high)
        .map(|[low, high]| format!(" [{}, {}]", digits(low), digits(high)));
    let unit = match unit {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    format!(
        "{}{}{unit}",
        digits(measured.value),
        interval.unwrap_or_default()
    )
}

/// A figure with three digits, or all that stand before the point.
pub(crate) fn digits(figure: f64) -> String {
    let places = match figure.abs() {
        size if size >= 100.0 => 0,
        size if size >= 10.0 => 1,
        size if size >= 1.0 => 2,
        _ => 3,
    };
    let text = format!("{figure:.places$}");
    match text.trim_start_matches('-').trim_matches(['0', '.']) {
        "" => "0".to_owned(),
        _ => text,
    }
}

#[cfg(test)]
mod tests;
