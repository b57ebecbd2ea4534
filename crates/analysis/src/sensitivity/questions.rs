//! The questions at each point of a plan, and the answers of its trials.

use std::collections::{BTreeMap, BTreeSet};

use plan::evidence::SIZES;
use plan::metric::Metric;
use plan::{Alternatives, Assertion, COPY, Expected, Factors, Level, Plan, StepClaim, Trial};

use super::Answer;
use super::nearest::{Interpretation, Measured, Term};
use crate::claims;
use crate::compare::{Comparison, baselines, compare, find};
use crate::sizes;
use crate::verdict::{Verdict, published_figures};

/// A claim, a claimed step, or a published change.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// The subject of the question.
    pub asked: Asked,
    /// The question in words, one line; alternatives of one claim share it.
    pub text: String,
    /// The alternative that it is about; none where there are none, or it is about any
    /// of them.
    pub alternative: Option<Factors>,
    /// The place where it is printed.
    pub source: String,
}

/// The subject of a question.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    /// The claim at this position of the plan.
    Claim(usize),
    /// The claimed step at this position of the plan.
    Step(usize),
    /// The published change of this metric in this cell.
    Change(&'static Metric, usize),
    /// Whether at least one of these earlier questions holds.
    Any(Vec<usize>),
}

/// The questions of a plan: its claims, its claimed steps, then the published changes. Values are
/// not asked, for they are another machine's; [`interpretations`] has them. Where alternatives
/// exclude each other there is a question for each, and one for any of them.
pub fn questions(plan: &Plan) -> Vec<Question> {
    let mut questions = Vec::new();
    for (at, claim) in plan.claims.iter().enumerate() {
        let of = claims::alternatives(plan, &claim.alternatives, &claim.cells);
        let place = (claim.text.clone(), claim.source.clone());
        ask(
            &mut questions,
            &Asked::Claim(at),
            place,
            &claim.alternatives,
            of,
        );
    }
    for (at, step) in plan.steps.iter().enumerate() {
        let of = claims::alternatives(plan, &step.alternatives, &step.cells);
        let place = (step.text.clone(), step.source.clone());
        ask(
            &mut questions,
            &Asked::Step(at),
            place,
            &step.alternatives,
            of,
        );
    }
    for metric in published(plan) {
        ask_changes(plan, metric, &mut questions);
    }
    questions
}

/// The questions of one claim.
fn ask(
    questions: &mut Vec<Question>,
    asked: &Asked,
    (text, source): (String, String),
    own: &Alternatives,
    alternatives: Vec<Factors>,
) {
    let several = alternatives.len() > 1;
    let question = |asked: Asked, alternative: Option<Factors>| Question {
        asked,
        text: text.clone(),
        alternative,
        source: source.clone(),
    };
    let first = questions.len();
    let each = alternatives.into_iter().filter(|_| several);
    questions.extend(each.map(|levels| question(asked.clone(), Some(levels))));
    let any = match any_of(questions, first, own) {
        each if each.is_empty() => asked.clone(),
        each => Asked::Any(each),
    };
    questions.push(question(any, None));
}

/// The positions of the alternatives among the questions from `first` on: those that the
/// source states, else all.
fn any_of(questions: &[Question], first: usize, own: &Alternatives) -> Vec<usize> {
    let all: Vec<usize> = (first..questions.len())
        .filter(|&at| questions[at].alternative.is_some())
        .collect();
    let mut stated = all.clone();
    stated.retain(|&at| {
        let levels = questions[at].alternative.as_ref();
        levels.is_some_and(|levels| claims::is_stated(own, levels))
    });
    match stated.is_empty() {
        true => all,
        false => stated,
    }
}

/// The questions of the published changes of a metric. Cells that differ in
/// alternatives only are followed by the question for any of them.
fn ask_changes(plan: &Plan, metric: &'static Metric, questions: &mut Vec<Question>) {
    let mut groups: Vec<(Factors, Alternatives, Vec<Question>)> = Vec::new();
    for (cell, own) in plan.cells.iter().enumerate() {
        let printed = published_figures(plan, metric, &own.factors);
        let (Ok(_), Some(claim)) = (&own.setting, &printed.claim) else {
            continue;
        };
        let named = &printed.alternatives.factors;
        let alternative = own.factors.only(named);
        let others = own.factors.0.iter();
        let others = others.filter(|(name, _)| !named.contains(name));
        let others = Factors(others.cloned().collect());
        let question = Question {
            asked: Asked::Change(metric, cell),
            text: format!("{}: {:+} %, {others}", metric.title, rounded(claim.percent)),
            alternative: (!alternative.0.is_empty()).then_some(alternative),
            source: printed.source.unwrap_or_default(),
        };
        match groups.iter_mut().find(|(common, ..)| *common == others) {
            Some((.., group)) => group.push(question),
            None => groups.push((others, printed.alternatives, vec![question])),
        }
    }
    for (_, own, group) in groups {
        let first = questions.len();
        questions.extend(group);
        let each = any_of(questions, first, &own);
        let any = questions[first].clone();
        if !each.is_empty() {
            questions.push(Question {
                asked: Asked::Any(each),
                alternative: None,
                ..any
            });
        }
    }
}

/// A percentage, rounded to two decimal places.
fn rounded(percent: f64) -> f64 {
    (percent * 100.0).round() / 100.0
}

/// The metrics of published figures, each once.
fn published(plan: &Plan) -> Vec<&'static Metric> {
    let mut metrics: Vec<&'static Metric> = Vec::new();
    let names = plan.published.iter().map(|published| &published.metric);
    for metric in names.filter_map(|name| Metric::named(name)) {
        if !metrics.contains(&metric) {
            metrics.push(metric);
        }
    }
    metrics
}

/// The names of all metrics that the questions and the interpretations need.
pub fn metrics(plan: &Plan) -> BTreeSet<String> {
    let of_claims = plan.claims.iter().map(|claim| claim.metric.clone());
    let of_figures = published(plan).into_iter().flat_map(|metric| {
        let upper = metric.attribution().map(|upper| upper.name.to_owned());
        std::iter::once(metric.name.to_owned()).chain(upper)
    });
    of_claims.chain(of_figures).collect()
}

/// The name of the evidence that the questions need: the times by size, where steps
/// are asked.
pub fn evidence(plan: &Plan) -> Option<&'static str> {
    (!plan.steps.is_empty()).then_some(SIZES.name())
}

/// The cells that the questions and the interpretations need, by position.
pub fn cells(plan: &Plan) -> Vec<usize> {
    let is_asked = |cell: usize| {
        let factors = &plan.cells[cell].factors;
        let of_claim = |claim: &Assertion| {
            claims::has(factors, &claim.cells) || is_partner(plan, claim, factors)
        };
        let of_figure = |metric: &&Metric| published_figures(plan, metric, factors).is_any();
        let of_step = |step: &StepClaim| claims::has(factors, &step.cells);
        plan.steps.iter().any(of_step)
            || plan.claims.iter().any(of_claim)
            || published(plan).iter().any(of_figure)
    };
    let measured = (0..plan.cells.len()).filter(|&cell| plan.cells[cell].setting.is_ok());
    measured.filter(|&cell| is_asked(cell)).collect()
}

/// Whether a claim compares one of its cells with the one that has these factors.
fn is_partner(plan: &Plan, claim: &Assertion, factors: &Factors) -> bool {
    let (Expected::Than { than, .. } | Expected::Changed { than, .. }) = &claim.expected else {
        return false;
    };
    let about = plan
        .cells
        .iter()
        .filter(|cell| claims::has(&cell.factors, &claim.cells));
    about
        .into_iter()
        .any(|cell| claims::with(&cell.factors, than) == *factors)
}

/// The answers of `trials` of `plan`, which is that of one point, to `questions`
/// in their order; `None` where one is not asked there, or nothing was measured.
pub fn answers(plan: &Plan, questions: &[Question], trials: &[Trial]) -> Vec<Option<Answer>> {
    let comparisons = compare(plan, trials);
    let judged = claims::judged(plan, &comparisons);
    let curves = match plan.steps.is_empty() {
        true => Vec::new(),
        false => sizes::curves(plan, trials),
    };
    let steps = sizes::judged(plan, &curves);
    let mut answers: Vec<Option<Answer>> = Vec::new();
    for question in questions {
        let of = |verdict, alternatives: &Option<claims::Alternatives>| {
            let own = question.alternative.as_ref();
            own.map_or(Some(verdict), |levels| {
                let mut each = alternatives.as_ref()?.each.iter();
                Some(each.find(|one| one.levels == *levels)?.verdict)
            })
        };
        let answer = match &question.asked {
            Asked::Claim(at) => judged
                .get(*at)
                .and_then(|one| of_verdict(of(one.verdict, &one.alternatives)?)),
            Asked::Step(at) => steps
                .get(*at)
                .and_then(|one| of_verdict(of(one.verdict, &one.alternatives)?)),
            Asked::Change(metric, cell) => find(&comparisons, metric, *cell).and_then(of_change),
            Asked::Any(each) => {
                let each = each.iter().map(|&at| answers.get(at).copied().flatten());
                any(&each.collect::<Vec<_>>())
            }
        };
        answers.push(answer);
    }
    answers
}

/// Whether something holds in at least one of several alternatives.
fn any(each: &[Option<Answer>]) -> Option<Answer> {
    let best_first = [Answer::Holds, Answer::Undecided, Answer::Fails];
    best_first
        .into_iter()
        .find(|answer| each.contains(&Some(*answer)))
}

/// A published change at this point.
fn of_change(comparison: &Comparison) -> Option<Answer> {
    let judgement = comparison.judgement.as_ref()?;
    (comparison.published.claim.is_some() && comparison.change.is_some())
        .then(|| of_verdict(judgement.verdict))
        .flatten()
}

const fn of_verdict(verdict: Verdict) -> Option<Answer> {
    match verdict {
        Verdict::NotMeasured => None,
        Verdict::Inconclusive => Some(Answer::Undecided),
        Verdict::Reproduced | Verdict::InSome => Some(Answer::Holds),
        Verdict::DirectionOnly | Verdict::NotReproduced => Some(Answer::Fails),
    }
}

/// Where the figures of one metric of an interpretation are measured: the metrics in which
/// it may have been counted, and the cells of the figures.
struct Place {
    metrics: Vec<&'static str>,
    cells: Vec<usize>,
}

/// The interpretations of a plan's printed values, and where they are measured: one for each
/// cell that figures are printed for besides its baseline. Equal rows of `[[published]]`
/// are one that may have been counted in either metric.
pub fn interpretations(plan: &Plan) -> Interpretations {
    let (interpretations, places) = printed(plan).into_iter().unzip();
    Interpretations {
        interpretations,
        places,
    }
}

/// Interpretations of printed figures, and where they are measured.
pub struct Interpretations {
    interpretations: Vec<Interpretation>,
    places: Vec<Vec<Place>>,
}

impl Interpretations {
    pub fn interpretations(&self) -> &[Interpretation] {
        &self.interpretations
    }

    /// The measurements of each interpretation by `trials` of the plan of one point.
    pub fn measured(&self, plan: &Plan, trials: &[Trial]) -> Measured {
        let mut sums: BTreeMap<(usize, &str), (f64, f64)> = BTreeMap::new();
        let of_cells = crate::compare::by_cell(plan, trials);
        let needed: BTreeSet<(usize, &'static str)> = (self.places.iter().flatten())
            .flat_map(|place| {
                let cells = place.cells.iter();
                cells.flat_map(|&cell| place.metrics.iter().map(move |&metric| (cell, metric)))
            })
            .collect();
        for (cell, metric) in needed {
            let trials = of_cells.get(cell).into_iter().flatten();
            for value in trials.filter_map(|trial| trial.metrics.get(metric)) {
                let (n, sum) = sums.entry((cell, metric)).or_default();
                *n += 1.0;
                *sum += value;
            }
        }
        let mean = |cell: usize, metric: &str| {
            let (n, sum) = sums.get(&(cell, metric))?;
            Some(sum / n)
        };
        let of_place = |place: &Place| -> Option<Vec<Vec<f64>>> {
            let of_metric =
                |&metric: &&str| place.cells.iter().map(|&cell| mean(cell, metric)).collect();
            place.metrics.iter().map(of_metric).collect()
        };
        let of_interpretation = |places: &Vec<Place>| places.iter().map(of_place).collect();
        self.places.iter().map(of_interpretation).collect()
    }
}

fn printed(plan: &Plan) -> Vec<(Interpretation, Vec<Place>)> {
    let mut found = Vec::new();
    for ((cell, own), base) in plan.cells.iter().enumerate().zip(baselines(plan)) {
        let base = base.filter(|&base| base != cell);
        let (Ok(_), Some(base), None) = (&own.setting, base, own.factors.level(COPY)) else {
            continue;
        };
        let mut interpretation = Interpretation {
            name: own.factors.to_string(),
            terms: Vec::new(),
        };
        let mut places: Vec<Place> = Vec::new();
        for metric in published(plan) {
            let values = [base, cell]
                .map(|at| published_figures(plan, metric, &plan.cells[at].factors).value);
            let [Some(of_base), Some(value)] = values else {
                continue;
            };
            let printed = vec![of_base, value];
            let same = interpretation
                .terms
                .iter()
                .position(|term| term.printed == printed);
            match same {
                Some(same) => places[same].metrics.push(metric.name),
                None => {
                    let scale = scale(of_base, value);
                    interpretation.terms.push(Term {
                        printed,
                        scales: vec![scale; 2],
                    });
                    places.push(Place {
                        metrics: vec![metric.name],
                        cells: vec![base, cell],
                    });
                }
            }
        }
        if !interpretation.terms.is_empty() {
            found.push((interpretation, places));
        }
    }
    found
}

/// The unit of distances: the difference between the study's two values, or a
/// hundredth of the value if they are equal.
fn scale(of_base: f64, value: f64) -> f64 {
    let gap = (value - of_base).abs();
    match gap > 0.0 {
        true => gap,
        false => (value.abs() / 100.0).max(f64::MIN_POSITIVE),
    }
}

/// The levels of a point as factors, in the order of the plan's unstated settings.
pub fn levels(plan: &Plan, point: &[usize]) -> Vec<(String, Level)> {
    let settings = plan.unstated.iter().zip(point);
    let levels = settings.filter_map(|(setting, &value)| {
        Some((setting.name.clone(), setting.values.get(value)?.clone()))
    });
    levels.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::study;
    use plan::{OfStep, Sign};

    #[test]
    fn a_claimed_step_is_asked_of_the_cells_that_have_its_sizes() {
        let (mut plan, trials) = study();
        let before = (questions(&plan).len(), evidence(&plan));
        assert_eq!(before.1, None);
        plan.claims.clear();
        plan.published.clear();
        plan.steps = vec![StepClaim {
            text: "longer from 1000 bytes on".into(),
            source: "here".into(),
            cells: Vec::new(),
            alternatives: plan::Alternatives::default(),
            of: OfStep::Time,
            at: 1000,
            within: 10,
            sign: Sign::Up,
        }];
        let questions = questions(&plan);
        assert_eq!(questions.len(), 1);
        assert_eq!(questions[0].asked, Asked::Step(0));
        assert!(!cells(&plan).is_empty() && evidence(&plan).is_some());
        // These trials have no times by size.
        assert_eq!(super::answers(&plan, &questions, &trials), [None]);
    }

    #[test]
    fn claims_and_published_changes_are_asked_in_the_cells_that_they_need() {
        let (plan, trials) = study();
        let questions = questions(&plan);
        assert!(!questions.is_empty());
        let answers = answers(&plan, &questions, &trials);
        assert_eq!(
            questions[0].text,
            "Throughput: +25.03 %, scenario=LU-LU offloads=off mtu=9000"
        );
        assert_eq!(answers.len(), questions.len());
        assert!(answers.iter().any(Option::is_some));
        let (cells, metrics) = (cells(&plan), metrics(&plan));
        assert!(!cells.is_empty() && cells.iter().all(|&cell| plan.cells[cell].setting.is_ok()));
        // Metrics that are not needed have no part in the answers.
        let mut fewer = trials.clone();
        for trial in &mut fewer {
            trial.metrics.retain(|name| metrics.contains(name));
        }
        assert_eq!(super::answers(&plan, &questions, &fewer), answers);
    }
}
