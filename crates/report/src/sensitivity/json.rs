//! The lines of a search: one object for it, one a question, one a near point and
//! one a point; docs/reference/json.md is their schema.

use analysis::sensitivity::effects::Effect;
use analysis::sensitivity::findings::Findings;
use analysis::sensitivity::nearest::Chance;
use analysis::sensitivity::questions::levels;
use analysis::sensitivity::shares::Shares;
use analysis::sensitivity::{Answer, Point};
use document::json_line;
use plan::Factors;
use serde::Serialize;

#[derive(Serialize)]
struct SearchLine<'a> {
    kind: &'static str,
    search: &'a str,
    runs: usize,
    settings: Option<usize>,
    sampled: usize,
    run: usize,
    rejected: usize,
    is_all: bool,
    is_complete: bool,
    deciding: Vec<&'a str>,
    chance: Option<Chance>,
    distance_effects: Vec<EffectLine<'a>>,
}

#[derive(Serialize)]
struct QuestionLine<'a> {
    kind: &'static str,
    question: usize,
    text: &'a str,
    alternative: Option<&'a Factors>,
    source: &'a str,
    at_default: Option<Answer>,
    shares: Option<Shares>,
    effects: Vec<EffectLine<'a>>,
    holds_at: Option<Factors>,
    fails_at: Option<Factors>,
    differing: Option<Vec<&'a str>>,
}

#[derive(Serialize)]
struct EffectLine<'a> {
    setting: &'a str,
    #[serde(flatten)]
    effect: Effect,
}

#[derive(Serialize)]
struct NearLine<'a> {
    kind: &'static str,
    rank: usize,
    interpretation: &'a str,
    distance: f64,
    revalidated_distance: Option<f64>,
    setting: Factors,
}

#[derive(Serialize)]
struct PointLine<'a> {
    kind: &'static str,
    setting_id: usize,
    is_sampled: bool,
    seeds: usize,
    setting: Factors,
    answers: &'a [Option<Answer>],
}

fn effect_lines<'a>(found: &Findings<'a>, effects: &[Effect]) -> Vec<EffectLine<'a>> {
    let settings = found.settings().iter().zip(effects);
    let lines = settings.map(|(setting, &effect)| EffectLine {
        setting: &setting.name,
        effect,
    });
    lines.collect()
}

/// One object for the search, then one for each question, near point and point,
/// without line ends.
pub fn sensitivity_json(found: &Findings<'_>) -> Vec<String> {
    let asked = found.asked;
    let name = |setting: usize| &*found.settings()[setting].name;
    let factors = |point: &Point| Factors(levels(asked.plan, point));
    let deciding = found.deciding();
    let search = SearchLine {
        kind: "search",
        search: &asked.plan.name,
        runs: asked.runs,
        settings: found.space,
        sampled: found.sampled(),
        run: found.points.len(),
        rejected: asked.rejected,
        is_all: found.is_all,
        is_complete: asked.is_complete,
        deciding: deciding
            .iter()
            .map(|&(setting, ..)| name(setting))
            .collect(),
        chance: found.nearest.as_ref().and_then(|nearest| nearest.chance),
        distance_effects: effect_lines(
            found,
            found
                .nearest
                .as_ref()
                .map_or(&[], |nearest| &nearest.effects),
        ),
    };
    let questions = found.judged.iter().enumerate().map(|(at, judged)| {
        let turn = judged.flip.as_ref();
        let at_place = |place: usize| factors(&found.points[place].point);
        json_line(&QuestionLine {
            kind: "question",
            question: at + 1,
            text: &judged.question.text,
            alternative: judged.question.alternative.as_ref(),
            source: &judged.question.source,
            at_default: judged.at_default,
            shares: judged.shares,
            effects: effect_lines(found, &judged.effects),
            holds_at: turn.map(|turn| at_place(turn.holds)),
            fails_at: turn.map(|turn| at_place(turn.fails)),
            differing: turn.map(|turn| turn.settings.iter().map(|&at| name(at)).collect()),
        })
    });
    let nearest = found.nearest.iter().flat_map(|nearest| &nearest.points);
    let nearest = nearest.enumerate().map(|(at, near)| {
        json_line(&NearLine {
            kind: "nearest_setting",
            rank: at + 1,
            interpretation: &near.interpretation.name,
            distance: near.distance,
            revalidated_distance: near.fresh,
            setting: factors(&found.points[near.place].point),
        })
    });
    let points = found.points.iter().enumerate().map(|(at, ran)| {
        json_line(&PointLine {
            kind: "setting",
            setting_id: at,
            is_sampled: ran.is_sampled,
            seeds: ran.seeds,
            setting: factors(&ran.point),
            answers: &ran.answers,
        })
    });
    std::iter::once(json_line(&search))
        .chain(questions)
        .chain(nearest)
        .chain(points)
        .collect()
}
