//! Recorded results: the verdicts of one run, small enough to keep.

use std::collections::BTreeMap;

use analysis::Findings;
use analysis::certificate::{State, certify};
use analysis::claims::{Held, Judged};
use analysis::compare::Comparison;
use analysis::rivals;
use analysis::robustness::findings::Findings as Search;
use analysis::robustness::questions::Asked;
use analysis::sizes;
use analysis::statistics::Interval;
use analysis::verdict::Verdict;
use anyhow::{Context, Result};
use plan::{Level, Plan, RunFacts, Trial};
use serde::{Deserialize, Deserializer, Serialize};

use crate::outcome::together;

mod cells;
mod measured;

pub(crate) use cells::OfCell;
pub(crate) use measured::Measured;
use measured::{measured, rounded};

/// The files of docs/results.
const FILES: &[&str] = include!(concat!(env!("OUT_DIR"), "/recorded.rs"));

/// The verdicts of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    /// The run.
    pub run: Header,
    /// One a claim, a claim about a step, a published figure of a cell, and a set of
    /// rival explanations.
    pub verdicts: Vec<Line>,
    /// The figures of each cell; none in records of older versions.
    #[serde(default)]
    pub figures: Vec<OfCell>,
    /// One a question that was asked of all admissible settings.
    pub robustness: Vec<Robustness>,
}

/// The run, and the machine that ran it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The experiment.
    pub experiment: String,
    /// The variant, where settings differ from the shipped ones.
    pub variant: Option<String>,
    /// The world.
    pub world: String,
    /// The hash of the plan.
    pub plan: String,
    /// The version of the program.
    pub version: String,
    /// The kernel, where it matters.
    pub kernel: Option<String>,
    /// The processors, where they matter.
    pub processors: Option<u32>,
    /// The day of the last trial; simulated trials have none.
    pub date: Option<String>,
    /// The number of trials, failed ones included.
    pub trials: usize,
    /// The number of trials that failed.
    pub failed: usize,
    /// Whether nothing of the plan is left to run.
    pub complete: bool,
    /// The state of the certificate.
    pub certificate: State,
}

/// One verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Line {
    /// Of a claim in words.
    Claim(OfClaim),
    /// Of a claim about a step.
    Jump(OfJump),
    /// Of a published figure.
    Figure(OfFigure),
    /// Of rival explanations.
    Rivals(OfRivals),
}

/// The verdict of a claim in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfClaim {
    /// The text of the claim.
    pub claim: String,
    /// The verdict.
    #[serde(deserialize_with = "verdict")]
    pub verdict: Verdict,
    /// The number of settings in which it holds.
    pub holds: usize,
    /// The number of settings that it is about.
    pub settings: usize,
    /// The unit of the figures below.
    pub unit: String,
    /// The lowest figure of a setting: the difference, the change in per cent, or
    /// the mean that is compared with a bound.
    pub lowest: Option<Measured>,
    /// The highest one, if there are several settings.
    pub highest: Option<Measured>,
    /// The mean of the changes in per cent, where that is claimed.
    pub average: Option<Measured>,
}

/// The verdict of a claim about a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfJump {
    /// The text of the claim.
    pub jump: String,
    /// The verdict of all curves together.
    #[serde(deserialize_with = "verdict")]
    pub verdict: Verdict,
    /// The number of curves that agree with it.
    pub holds: usize,
    /// The number of curves that it is about.
    pub settings: usize,
    /// The figure of the first curve that decides the verdict.
    pub seen: String,
}

/// The verdict of a published figure in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfFigure {
    /// The metric.
    pub metric: String,
    /// The unit of `mean` and `published`.
    pub unit: String,
    /// The levels of the cell.
    pub cell: BTreeMap<String, Level>,
    /// The mean.
    pub mean: Measured,
    /// The change against the baseline in per cent.
    pub change: Option<Measured>,
    /// The published value.
    pub published: Option<f64>,
    /// The published change in per cent.
    pub published_change: Option<f64>,
    /// The verdict.
    #[serde(deserialize_with = "verdict")]
    pub verdict: Verdict,
    /// Its reason.
    pub reason: String,
}

/// The verdicts of rival explanations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfRivals {
    /// The question.
    pub rivals: String,
    /// The number of sentences that they have to explain.
    pub sentences: usize,
    /// The explanations, in the order of the experiment.
    pub explanations: Vec<Explanation>,
}

/// One of several rival explanations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Explanation {
    /// The level of the factor.
    pub level: Level,
    /// The number of sentences that are reproduced with it.
    pub reproduced: usize,
    /// The number of sentences that it contradicts.
    pub contradicted: usize,
}

/// In which share of the admissible settings something holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Robustness {
    /// The text of the claim, of the claim about a step, or of the figure.
    pub question: String,
    /// The metric, if it is a published change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// The levels of its cell.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cell: BTreeMap<String, Level>,
    /// The share in per cent, with its interval.
    pub holds: Measured,
    /// The number of settings that were tried.
    pub settings: usize,
}

/// A verdict by its word.
fn verdict<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Verdict, D::Error> {
    let word = String::deserialize(deserializer)?;
    let all = [
        Verdict::NotMeasured,
        Verdict::Inconclusive,
        Verdict::Reproduced,
        Verdict::DirectionOnly,
        Verdict::NotReproduced,
    ];
    let found = all.into_iter().find(|verdict| verdict.as_str() == word);
    found.ok_or_else(|| serde::de::Error::custom(format!("there is no verdict {word:?}")))
}

/// The recorded results that are part of the program.
///
/// # Errors
/// When a file cannot be read.
pub fn recorded() -> Result<Vec<Record>> {
    FILES.iter().map(|text| Record::parse(text)).collect()
}

impl Header {
    fn of(
        plan: &Plan,
        facts: &RunFacts,
        trials: &[Trial],
        complete: bool,
        certificate: State,
    ) -> Self {
        let host = facts.host.as_ref();
        let last = trials.iter().filter_map(|trial| trial.start.as_deref());
        let day = last.max().and_then(|start| start.get(..10));
        let failed = trials.iter().filter(|trial| trial.failure.is_some());
        Self {
            experiment: plan.name.clone(),
            variant: None,
            world: plan.world.to_string(),
            plan: plan.hash.clone(),
            version: facts.version.clone(),
            kernel: host.map(|host| host.kernel.clone()),
            processors: host.map(|host| host.cpus),
            date: day.map(str::to_owned),
            trials: trials.len(),
            failed: failed.count(),
            complete,
            certificate,
        }
    }
}

impl Record {
    /// The verdicts of a run.
    pub fn of(found: &Findings<'_>, variant: Option<&str>) -> Self {
        let claims = found.claims.iter().map(of_claim).map(Line::Claim);
        let jumps = found.steps.iter().filter_map(of_jump).map(Line::Jump);
        let figures = found.comparisons.iter().filter_map(of_figure);
        let rivals = found.rivals.iter().map(of_rivals).map(Line::Rivals);
        Self {
            run: Header {
                variant: variant.map(str::to_owned),
                ..Header::of(
                    found.plan,
                    found.facts,
                    found.trials,
                    found.complete,
                    found.certificate.state(),
                )
            },
            verdicts: claims
                .chain(jumps)
                .chain(figures.map(Line::Figure))
                .chain(rivals)
                .collect(),
            figures: cells::of_cells(found),
            robustness: Vec::new(),
        }
    }

    /// The shares of the admissible settings of a search in which each claim and claimed
    /// step holds and each published change is reproduced.
    pub fn of_search(found: &Search<'_>, facts: &RunFacts, trials: &[Trial]) -> Self {
        let asked = &found.asked;
        let name = &asked.plan.name;
        let name = name.strip_suffix("-robustness").unwrap_or(name);
        let judged = found.judged.iter().filter_map(|judged| {
            let shares = judged.shares.as_ref()?;
            let share = &shares.holds;
            let percent = |interval: Interval| Interval {
                low: 100.0 * interval.low,
                high: 100.0 * interval.high,
            };
            let (metric, cell) = match judged.question.asked {
                Asked::Claim(_) | Asked::Step(_) => (None, BTreeMap::new()),
                Asked::Change(metric, cell) => {
                    let levels = asked.plan.cells[cell].factors.0.iter().cloned();
                    (Some(metric.name.to_owned()), levels.collect())
                }
            };
            Some(Robustness {
                question: judged.question.text.clone(),
                metric,
                cell,
                holds: measured(100.0 * share.share, share.interval.map(percent)),
                settings: shares.asked,
            })
        });
        let certificate = certify(facts, trials).state();
        Self {
            run: Header {
                experiment: name.to_owned(),
                variant: Some("robustness".to_owned()),
                ..Header::of(asked.plan, facts, trials, asked.is_complete, certificate)
            },
            verdicts: Vec::new(),
            figures: Vec::new(),
            robustness: judged.collect(),
        }
    }

    /// A record from its text.
    ///
    /// # Errors
    /// When it is none.
    pub fn parse(text: &str) -> Result<Self> {
        let begin: String = text.chars().take(80).collect();
        serde_json::from_str(text).with_context(|| format!("recorded result {begin}..."))
    }

    /// The text of the record: a line a verdict.
    ///
    /// # Errors
    /// When a figure is not finite.
    pub fn to_text(&self) -> Result<String> {
        let mut verdicts = each(&self.verdicts)?;
        verdicts.sort();
        Ok(format!(
            "{{\n\"run\": {},\n\"verdicts\": [{}],\n\"figures\": [{}],\n\"robustness\": [{}]\n}}\n",
            serde_json::to_string(&self.run)?,
            list(&verdicts),
            list(&each(&self.figures)?),
            list(&each(&self.robustness)?)
        ))
    }

    /// The name of its file in docs/results.
    pub fn file_name(&self) -> String {
        let run = &self.run;
        let variant = run.variant.as_ref().map(|variant| format!("{variant}."));
        format!(
            "{}.{}{}.json",
            run.experiment,
            variant.unwrap_or_default(),
            run.world
        )
    }
}

/// The JSON text of each item.
fn each<T: Serialize>(items: &[T]) -> Result<Vec<String>> {
    let texts = items.iter().map(serde_json::to_string);
    Ok(texts.collect::<Result<_, _>>()?)
}

/// Items of a JSON array, one a line.
fn list(lines: &[String]) -> String {
    match lines {
        [] => String::new(),
        lines => format!("\n{}\n", lines.join(",\n")),
    }
}

fn of_claim(judged: &Judged<'_>) -> OfClaim {
    let mut figures: Vec<(Measured, bool)> = judged.settings.iter().map(of_setting).collect();
    figures.sort_by(|(one, _), (other, _)| one.value.total_cmp(&other.value));
    let is_percent = figures.iter().any(|(_, is_percent)| *is_percent);
    let (lowest, highest) = match figures.as_slice() {
        [] => (None, None),
        [(one, _)] => (Some(*one), None),
        [(first, _), .., (last, _)] => (Some(*first), Some(*last)),
    };
    let is_difference = judged.settings.iter().any(|held| held.other.is_some());
    let unit = match judged.unit {
        _ if is_percent => "%",
        "%" if is_difference => "points",
        unit => unit,
    };
    OfClaim {
        claim: judged.claim.text.clone(),
        verdict: judged.verdict,
        holds: judged.holds_in(),
        settings: judged.settings.len(),
        unit: unit.to_owned(),
        lowest,
        highest,
        average: judged
            .average
            .map(|average| measured(average.percent, average.interval)),
    }
}

/// The figure of one setting, and whether it is a change in per cent.
fn of_setting(held: &Held) -> (Measured, bool) {
    let difference = held.other.map(|other| held.mean.mean - other.mean);
    let value = held.percent.or(difference).unwrap_or(held.mean.mean);
    (measured(value, held.interval), held.percent.is_some())
}

fn of_jump(judged: &sizes::Judged<'_>) -> Option<OfJump> {
    let verdict = together(judged.curves.iter().map(|(_, verdict, _)| *verdict));
    let mut curves = judged.curves.iter();
    let (factors, _, seen) = curves
        .find(|(_, own, _)| *own == verdict)
        .or_else(|| judged.curves.first())?;
    let holds = judged
        .curves
        .iter()
        .filter(|(_, verdict, _)| *verdict == Verdict::Reproduced);
    let among = match judged.curves.len() {
        1 => String::new(),
        _ => format!(" ({factors})"),
    };
    Some(OfJump {
        jump: judged.claim.text.clone(),
        verdict,
        holds: holds.count(),
        settings: judged.curves.len(),
        seen: format!("{seen}{among}"),
    })
}

fn of_rivals(judged: &rivals::Judged<'_>) -> OfRivals {
    let alternatives = judged.alternatives.iter().enumerate();
    let explanations = alternatives.map(|(at, level)| Explanation {
        level: level.clone(),
        reproduced: judged.explained(at),
        contradicted: judged.contradicted(at),
    });
    OfRivals {
        rivals: judged.rivals.text.clone(),
        sentences: judged.sentences.len(),
        explanations: explanations.collect(),
    }
}

/// The verdict of a published figure, where something was measured.
fn of_figure(comparison: &Comparison) -> Option<OfFigure> {
    let judgement = comparison.judgement.as_ref()?;
    let mean = comparison.mean?;
    let change = comparison.change.as_ref();
    let percent = change.and_then(|change| change.percent);
    Some(OfFigure {
        metric: comparison.metric.name.to_owned(),
        unit: comparison.metric.unit.to_owned(),
        cell: comparison.factors.0.iter().cloned().collect(),
        mean: measured(mean.mean, mean.ci95),
        change: percent.map(|percent| measured(percent, change.and_then(|change| change.ci95))),
        published: comparison.published.value,
        published_change: comparison
            .published
            .claim
            .map(|claim| rounded(claim.percent)),
        verdict: judgement.verdict,
        reason: judgement.reason.clone(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{facts, study};

    #[test]
    fn a_record_reads_back_as_it_was_written() {
        let (plan, trials) = study();
        let facts = facts();
        let record = Record::of(&Findings::of(&plan, &trials, &facts), Some("slow"));
        let text = record.to_text().unwrap();
        let back = Record::parse(&text).unwrap();
        assert_eq!(back.to_text().unwrap(), text);
        assert_eq!(back.run, record.run);
        assert_eq!(back.verdicts.len(), record.verdicts.len());
        assert!(!back.verdicts.is_empty());
        assert_eq!(back.figures, record.figures);
        assert!(back.figures.iter().any(|one| one.change.is_some()));
        assert_eq!(
            back.file_name(),
            format!("{}.slow.{}.json", plan.name, plan.world)
        );
    }

    #[test]
    fn an_unknown_verdict_is_refused() {
        let line = r#"{"jump":"a","verdict":"perhaps","holds":0,"settings":1,"seen":""}"#;
        assert!(serde_json::from_str::<OfJump>(line).is_err());
        let line = line.replace("perhaps", "reproduced");
        let jump: OfJump = serde_json::from_str(&line).unwrap();
        assert_eq!(jump.verdict, Verdict::Reproduced);
    }
}
