//! The findings of a search, computed once. Every report reads them from here.

use plan::{Plan, Unstated};

use super::effects::{Effect, effects};
use super::flips::{DecisionFlip, flip};
use super::nearest::{Chance, Interpretation, Measured, Near, chance, near};
use super::questions::Question;
use super::shares::{Shares, shares};
use super::{Answer, Point, Space};
use crate::digits;

/// Points that are listed as the nearest.
const LISTED: usize = 10;

/// A point that was run.
#[derive(Clone, Debug)]
pub struct EvaluatedPoint {
    pub point: Point,
    /// Whether it belongs to the sample.
    pub is_sampled: bool,
    /// With how many seeds, fresh ones not counted.
    pub seeds: usize,
    /// The answer to each question; `None` where it was not asked.
    pub answers: Vec<Option<Answer>>,
    /// The measurements of the printed values.
    pub measured: Measured,
    /// The measurements with fresh seeds.
    pub fresh: Option<Measured>,
}

/// The questions of a search, and its progress.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The plan of the default point.
    pub plan: &'a Plan,
    pub questions: &'a [Question],
    /// The interpretations of printed values.
    pub interpretations: &'a [Interpretation],
    /// Trials that were run.
    pub runs: usize,
    /// Points that no backend can run.
    pub rejected: usize,
    /// Whether nothing is left to run.
    pub is_complete: bool,
}

/// The findings of a search.
pub struct Findings<'a> {
    /// The questions and the progress.
    pub asked: Asked<'a>,
    /// How many points the space has; `None` of more than can be counted.
    pub space: Option<usize>,
    /// Whether all of them were run.
    pub is_all: bool,
    /// The points that were run, in the order in which they were planned.
    pub points: Vec<EvaluatedPoint>,
    /// The questions with their answers.
    pub judged: Vec<QuestionResult<'a>>,
    /// The points nearest to the printed figures; `None` where none are printed.
    pub nearest: Option<Nearest<'a>>,
}

/// A question with its answers over the space.
pub struct QuestionResult<'a> {
    pub question: &'a Question,
    /// The answer at the default point.
    pub at_default: Option<Answer>,
    /// The shares of each answer; `None` where it was asked nowhere.
    pub shares: Option<Shares>,
    /// The effect of each unstated setting on the answer, in the plan's order;
    /// empty if the answer is constant, or has too few points.
    pub effects: Vec<Effect>,
    /// The two points with opposite answers that differ least, as positions in
    /// [`Findings::points`].
    pub flip: Option<DecisionFlip>,
}

/// The points nearest to the printed figures.
pub struct Nearest<'a> {
    /// The nearest first.
    pub points: Vec<NearPoint<'a>>,
    /// The share of each unstated setting in the variance of the logarithm of the
    /// distance over the sample, in the plan's order; empty as
    /// [`QuestionResult::effects`].
    pub effects: Vec<Effect>,
    /// How probable it is that one of the points would be as near as the nearest is
    /// with fresh seeds, or without where it has none, to figures that have nothing
    /// to do with any of them.
    pub chance: Option<Chance>,
}

/// A point near the printed figures.
pub struct NearPoint<'a> {
    /// Its position in [`Findings::points`].
    pub place: usize,
    /// How the figures are read there.
    pub interpretation: &'a Interpretation,
    /// The distance from them.
    pub distance: f64,
    /// That with fresh seeds, which no selection has flattered.
    pub fresh: Option<f64>,
}

impl<'a> Findings<'a> {
    /// The findings of a search that ran these points.
    pub fn of(asked: Asked<'a>, points: Vec<EvaluatedPoint>) -> Self {
        let sizes = asked
            .plan
            .unstated
            .iter()
            .map(|setting| setting.values.len());
        let space = Space::new(sizes.collect());
        let sampled = points.iter().filter(|ran| ran.is_sampled).count();
        let is_all = space.len() == Some(sampled + asked.rejected);
        let questions = asked.questions.iter().enumerate();
        let judged = questions
            .map(|(at, question)| judged(asked.plan, &space, &points, is_all, at, question))
            .collect();
        Self {
            space: space.len(),
            is_all,
            judged,
            nearest: nearest(asked, &space, &points),
            points,
            asked,
        }
    }

    /// The settings that are not stated.
    pub fn settings(&self) -> &'a [Unstated] {
        &self.asked.plan.unstated
    }

    /// How many of the points belong to the sample.
    pub fn sampled(&self) -> usize {
        self.points.iter().filter(|ran| ran.is_sampled).count()
    }

    /// The settings that decide some question, by position, with the number of
    /// questions that each decides and its largest total share; those that decide
    /// most first.
    pub fn deciding(&self) -> Vec<(usize, usize, f64)> {
        let mut found: Vec<(usize, usize, f64)> = (0..self.settings().len())
            .map(|setting| {
                let effects = self
                    .judged
                    .iter()
                    .filter_map(|judged| judged.effects.get(setting));
                let deciding = effects.filter(|effect| effect.decides);
                deciding.fold((setting, 0, 0.0), |(setting, n, most), effect| {
                    (setting, n + 1, f64::max(most, effect.total.share))
                })
            })
            .filter(|(_, questions, _)| *questions > 0)
            .collect();
        found.sort_by(|one, other| other.1.cmp(&one.1).then(other.2.total_cmp(&one.2)));
        found
    }
}

fn judged<'a>(
    plan: &Plan,
    space: &Space,
    points: &[EvaluatedPoint],
    is_all: bool,
    at: usize,
    question: &'a Question,
) -> QuestionResult<'a> {
    let default = space.default_point();
    let asked: Vec<(usize, Answer)> = points
        .iter()
        .enumerate()
        .filter_map(|(place, ran)| Some((place, (*ran.answers.get(at)?)?)))
        .collect();
    let (sample, answers): (Vec<&Point>, Vec<Answer>) = asked
        .iter()
        .filter(|(place, _)| points[*place].is_sampled)
        .map(|(place, answer)| (&points[*place].point, *answer))
        .unzip();
    let scores: Vec<f64> = answers.iter().map(|answer| answer.score()).collect();
    let of_default = asked
        .iter()
        .find(|(place, _)| points[*place].point == default);
    let everywhere: Vec<&Point> = asked
        .iter()
        .map(|(place, _)| &points[*place].point)
        .collect();
    let all: Vec<Answer> = asked.iter().map(|(_, answer)| *answer).collect();
    let flip = flip(&everywhere, &all, &default).map(|flip| DecisionFlip {
        holds: asked[flip.holds].0,
        fails: asked[flip.fails].0,
        settings: flip.settings,
    });
    QuestionResult {
        question,
        at_default: of_default.map(|(_, answer)| *answer),
        shares: shares(&answers, is_all),
        effects: effects(space.sizes(), &sample, &scores, plan.seed),
        flip,
    }
}

fn nearest<'a>(asked: Asked<'a>, space: &Space, points: &[EvaluatedPoint]) -> Option<Nearest<'a>> {
    let interpretations = asked.interpretations;
    let mut found: Vec<(usize, Near)> = points
        .iter()
        .enumerate()
        .filter_map(|(place, ran)| Some((place, near(interpretations, &ran.measured)?)))
        .collect();
    let (sample, distances): (Vec<&Point>, Vec<f64>) = found
        .iter()
        .filter(|(place, near)| points[*place].is_sampled && near.distance > 0.0)
        .map(|(place, near)| (&points[*place].point, digits::ln(near.distance)))
        .unzip();
    found.sort_by(|(a, one), (b, other)| one.distance.total_cmp(&other.distance).then(a.cmp(b)));
    found.truncate(LISTED);
    let listed = found.iter().map(
        |&(
            place,
            Near {
                interpretation,
                distance,
            },
        )| {
            let fresh = points[place].fresh.as_ref();
            // The interpretation stays the one that was picked.
            let fresh = fresh.and_then(|fresh| {
                let own = fresh.get(interpretation..=interpretation)?.to_vec();
                near(&interpretations[interpretation..=interpretation], &own)
            });
            NearPoint {
                place,
                interpretation: &interpretations[interpretation],
                distance,
                fresh: fresh.map(|near| near.distance),
            }
        },
    );
    let listed: Vec<NearPoint<'_>> = listed.collect();
    let first = listed.first()?;
    let distance = first.fresh.unwrap_or(first.distance);
    let measured: Vec<&Measured> = points.iter().map(|ran| &ran.measured).collect();
    Some(Nearest {
        chance: chance(interpretations, &measured, distance, asked.plan.seed),
        points: listed,
        effects: effects(space.sizes(), &sample, &distances, asked.plan.seed),
    })
}

#[cfg(test)]
mod tests {
    use plan::Level;

    use super::super::questions::Asked as Subject;
    use super::*;
    use crate::sensitivity::effects::Part;
    use crate::statistics::Interval;

    fn effect(share: f64, decides: bool) -> Effect {
        let part = |share| Part {
            share,
            interval: Interval {
                low: share,
                high: share,
            },
        };
        Effect {
            first: part(0.0),
            total: part(share),
            p: 0.0,
            decides,
        }
    }

    #[test]
    fn settings_that_decide_come_by_their_questions_then_by_their_shares() {
        let mut plan = plan::synthetic::plan(Vec::new(), 1, Vec::new());
        plan.unstated = ["buffer", "start", "loss", "rate"]
            .map(|name| Unstated {
                name: name.into(),
                values: vec![Level::Integer(1), Level::Integer(2)],
                reason: String::new(),
            })
            .into();
        let question = Question {
            asked: Subject::Claim(0),
            text: String::new(),
            alternative: None,
            source: String::new(),
        };
        let questions = [question.clone(), question];
        let asked = Asked {
            plan: &plan,
            questions: &questions,
            interpretations: &[],
            runs: 0,
            rejected: 0,
            is_complete: true,
        };
        let mut found = Findings::of(asked, Vec::new());
        let shares = [[0.9, 0.1, 0.3, 0.2], [0.0, 0.2, 0.4, 0.6]];
        let decides = [[false, true, true, false], [false, false, true, true]];
        for (judged, (shares, decides)) in found.judged.iter_mut().zip(shares.iter().zip(decides)) {
            let each = shares.iter().zip(decides);
            judged.effects = each
                .map(|(&share, decides)| effect(share, decides))
                .collect();
        }
        assert_eq!(found.deciding(), [(2, 2, 0.4), (3, 1, 0.6), (1, 1, 0.1)]);
    }
}
