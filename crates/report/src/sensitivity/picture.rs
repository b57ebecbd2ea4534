//! Settings against claims, coloured.

use std::cmp::Ordering;

use analysis::sensitivity::Answer;
use analysis::sensitivity::findings::{EvaluatedPoint, Findings};
use document::{Color, Picture, Strip};

use super::words;

/// The settings whose values are shown below the answers.
const SETTINGS: usize = 6;

/// A strip for each question with a column for each point, and below them strips
/// for the values of the settings that decide most. Points are sorted by those
/// values, so that what decides shows as blocks.
pub(super) fn of(found: &Findings<'_>) -> Picture {
    let mut leading: Vec<usize> = found
        .deciding()
        .iter()
        .map(|&(setting, ..)| setting)
        .collect();
    let others = (0..found.settings().len()).filter(|setting| !leading.contains(setting));
    let others: Vec<usize> = others.collect();
    leading.extend(others);
    let mut points: Vec<&EvaluatedPoint> =
        found.points.iter().filter(|ran| ran.is_sampled).collect();
    points.sort_by(|one, other| {
        let values = leading
            .iter()
            .map(|&at| one.point[at].cmp(&other.point[at]));
        values.fold(Ordering::Equal, Ordering::then)
    });
    let questions = found.judged.iter().enumerate().map(|(at, judged)| Strip {
        label: format!("#{} {}", at + 1, words::question(found, judged.question)),
        shades: points
            .iter()
            .map(|ran| match ran.answers.get(at).copied().flatten() {
                Some(Answer::Holds) => Color::Good,
                Some(Answer::Fails) => Color::Bad,
                Some(Answer::Undecided) => Color::Open,
                None => Color::Missing,
            })
            .collect(),
    });
    let settings = leading.iter().take(SETTINGS).map(|&at| {
        let setting = &found.settings()[at];
        let values: Vec<String> = setting.values.iter().map(ToString::to_string).collect();
        let many = setting.values.len();
        Strip {
            label: format!(
                "{}: {}, from light to dark",
                setting.name,
                values.join(", ")
            ),
            shades: points
                .iter()
                .map(|ran| Color::Value(ran.point[at], many))
                .collect(),
        }
    });
    Picture {
        title: "Settings against claims".into(),
        note: "A column is a setting of the sample. Above, the answer: green where it holds, red where it fails, grey where it is undecided, empty where it is not asked. Below, the values of the settings that decide most, by which columns are sorted.".into(),
        strips: questions.chain(settings).collect(),
    }
}
