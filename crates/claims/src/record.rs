//! Recorded results: the verdicts of one run, small enough to keep.

use analysis::Findings;
use analysis::quality_check::{State, check_quality};
use analysis::sensitivity::findings::Findings as Search;
use analysis::statistics::Interval;
use anyhow::{Context, Result};
use plan::{Plan, RunFacts, Trial};
use serde::{Deserialize, Serialize};

mod cells;
mod judged;
mod lines;
mod measured;

pub(crate) use cells::OfCell;
use judged::{of_claim, of_figure, of_jump, subject};
pub use lines::Sensitivity;
pub(crate) use lines::{Line, Named, OfAlternative, OfClaim, OfFigure};
pub(crate) use measured::Measured;
use measured::measured;

/// The files of docs/results: name and text.
const FILES: &[(&str, &str)] = include!(concat!(env!("OUT_DIR"), "/recorded.rs"));

/// The verdicts of one run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Record {
    pub run: Header,
    /// One a claim, a claim about a step, and a published figure of a cell.
    pub verdicts: Vec<Line>,
    /// The figures of each cell; none in records of older versions.
    #[serde(default)]
    pub figures: Vec<OfCell>,
    /// One a question that was asked of all plausible settings.
    pub sensitivity: Vec<Sensitivity>,
}

/// The run, and the machine that ran it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    pub experiment: String,
    /// The variant, where settings differ from the shipped ones.
    pub variant: Option<String>,
    pub backend: String,
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
    #[serde(with = "state")]
    pub quality_check: State,
}

/// The state of a quality check as its words.
mod state {
    use serde::de::Error as _;
    use serde::{Deserializer, Serializer};

    use super::*;

    const fn words(state: State) -> &'static str {
        match state {
            State::Passed => "passed",
            State::PassedWithWarnings => "passed with warnings",
            State::Failed => "failed",
        }
    }

    pub(super) fn serialize<S: Serializer>(state: &State, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(words(*state))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<State, D::Error> {
        let words = String::deserialize(from)?;
        let all = [State::Passed, State::PassedWithWarnings, State::Failed];
        let found = all.into_iter().find(|state| self::words(*state) == words);
        found.ok_or_else(|| D::Error::custom(format!("there is no state {words:?}")))
    }
}

/// The recorded results that are part of the program.
///
/// # Errors
/// When a file cannot be read; the error names it.
pub fn recorded() -> Result<Vec<Record>> {
    let read = |(name, text): &(&str, &str)| {
        Record::parse(text).with_context(|| format!("docs/results/{name}"))
    };
    FILES.iter().map(read).collect()
}

impl Header {
    fn of(
        plan: &Plan,
        facts: &RunFacts,
        trials: &[Trial],
        complete: bool,
        quality_check: State,
    ) -> Self {
        let host = facts.host.as_ref();
        let last = trials.iter().filter_map(|trial| trial.start.as_deref());
        let day = last.max().and_then(|start| start.get(..10));
        let failed = trials.iter().filter(|trial| trial.failure.is_some());
        Self {
            experiment: plan.name.clone(),
            variant: None,
            backend: plan.backend.to_string(),
            plan: plan.hash.clone(),
            version: facts.version.clone(),
            kernel: host.map(|host| host.kernel.clone()),
            processors: host.map(|host| host.cpus),
            date: day.map(str::to_owned),
            trials: trials.len(),
            failed: failed.count(),
            complete,
            quality_check,
        }
    }
}

impl Record {
    /// The verdicts of a run.
    pub fn of(found: &Findings<'_>, variant: Option<&str>) -> Self {
        let plan = found.plan;
        let claims = found.claims.iter().map(|judged| of_claim(plan, judged));
        let claims = claims.map(Line::Claim);
        let jumps = found
            .steps
            .iter()
            .filter_map(|judged| of_jump(plan, judged));
        let jumps = jumps.map(Line::Jump);
        let figures = found.comparisons.iter();
        let figures = figures.filter_map(|comparison| of_figure(plan, comparison));
        Self {
            run: Header {
                variant: variant.map(str::to_owned),
                ..Header::of(
                    found.plan,
                    found.facts,
                    found.trials,
                    found.complete,
                    found.quality_check.state(),
                )
            },
            verdicts: claims
                .chain(jumps)
                .chain(figures.map(Line::Figure))
                .collect(),
            figures: cells::of_cells(found),
            sensitivity: Vec::new(),
        }
    }

    /// The shares of the plausible settings of a search in which each claim and claimed
    /// step holds and each published change is reproduced.
    pub fn of_search(found: &Search<'_>, facts: &RunFacts, trials: &[Trial]) -> Self {
        let asked = &found.asked;
        let name = &asked.plan.name;
        let name = name.strip_suffix("-sensitivity").unwrap_or(name);
        let judged = found.judged.iter().filter_map(|judged| {
            let shares = judged.shares.as_ref()?;
            let share = &shares.holds;
            let percent = |interval: Interval| Interval {
                low: 100.0 * interval.low,
                high: 100.0 * interval.high,
            };
            let (metric, cell) = subject(asked, &judged.question.asked);
            let levels = judged.question.alternative.as_ref();
            Some(Sensitivity {
                question: judged.question.text.clone(),
                alternative: levels.map(|levels| asked.plan.in_words(levels)),
                metric,
                cell,
                holds: measured(100.0 * share.share, share.interval.map(percent)),
                settings: shares.asked,
            })
        });
        let quality_check = check_quality(facts, trials).state();
        Self {
            run: Header {
                experiment: name.to_owned(),
                variant: Some("sensitivity".to_owned()),
                ..Header::of(asked.plan, facts, trials, asked.is_complete, quality_check)
            },
            verdicts: Vec::new(),
            figures: Vec::new(),
            sensitivity: judged.collect(),
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
            "{{\n\"run\": {},\n\"verdicts\": [{}],\n\"figures\": [{}],\n\"sensitivity\": [{}]\n}}\n",
            serde_json::to_string(&self.run)?,
            list(&verdicts),
            list(&each(&self.figures)?),
            list(&each(&self.sensitivity)?)
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
            run.backend
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

#[cfg(test)]
mod tests {
    use analysis::verdict::Verdict;
    use plan::synthetic::{facts, study};

    use super::lines::OfJump;
    use super::*;

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
            format!("{}.slow.{}.json", plan.name, plan.backend)
        );
    }

    #[test]
    fn an_unknown_verdict_is_rejected() {
        let line = r#"{"jump":"a","verdict":"perhaps","holds":0,"settings":1,"seen":""}"#;
        assert!(serde_json::from_str::<OfJump>(line).is_err());
        let line = line.replace("perhaps", "reproduced");
        let jump: OfJump = serde_json::from_str(&line).unwrap();
        assert_eq!(jump.verdict, Verdict::Reproduced);
    }
}
