//! Sentences about a search.

use analysis::sensitivity::Answer;
use analysis::sensitivity::effects::FEWEST;
use analysis::sensitivity::findings::{Findings, Nearest, QuestionResult};
use analysis::sensitivity::questions::{Asked, Question};
use analysis::sensitivity::shares::Share;
use analysis::statistics::Interval;

/// The explanation of the table of shares of variance.
pub(super) const HOW_EFFECTS_ARE_MEANT: &str = "How much of the variance of the answers (1 where it holds, 0 where it fails, 1/2 where it is undecided) the values of a setting explain alone, and together with those of one other setting, with 95 % intervals. A setting decides if its share is beyond chance at 5 % over all settings of the question, by permutation, and 5 % at least. # is the number of the question above.";

/// The answers in a few sentences.
pub(super) fn answer(found: &Findings<'_>) -> Vec<String> {
    let asked = found.asked;
    let of = found.space.map_or_else(
        || "more than can be counted".to_owned(),
        |all| all.to_string(),
    );
    let how = match found.is_all {
        true => format!("All {} plausible settings were run", found.sampled()),
        false => format!(
            "Of {of} plausible settings {} were sampled",
            found.sampled()
        ),
    };
    let chosen = found.points.len() - found.sampled();
    let chosen = match chosen {
        0 => String::new(),
        chosen => format!(", and {chosen} more chosen"),
    };
    let rejected = match asked.rejected {
        0 => String::new(),
        rejected => format!("; {rejected} cannot be run"),
    };
    let left = if asked.is_complete {
        "nothing is left to run"
    } else {
        "--resume goes on"
    };
    let mut lines = vec![format!(
        "{how}{chosen}{rejected}: {} trials; {left}.",
        asked.runs
    )];
    let questions = found.judged.len();
    let deciding = found.deciding();
    let names: Vec<String> = deciding
        .iter()
        .map(|&(setting, decided, share)| {
            let name = &found.settings()[setting].name;
            format!(
                "{name} ({decided} of {questions}, up to {} of the variance)",
                percent(share)
            )
        })
        .collect();
    lines.push(match names.is_empty() {
        true if found.sampled() < FEWEST => {
            format!("Which settings decide is told from {FEWEST} settings of the sample on.")
        }
        true => "No setting was found that decides a claim or published change.".to_owned(),
        false => format!(
            "Claims and published changes are decided by: {}.",
            names.join(", ")
        ),
    });
    let nearest = found.nearest.as_ref();
    lines.extend(nearest.and_then(|nearest| distance_decided_by(found, nearest)));
    let turning = found
        .judged
        .iter()
        .filter(|judged| judged.flip.is_some())
        .count();
    lines.push(format!(
        "{turning} of {questions} claims and published changes hold at some plausible settings and fail at others."
    ));
    lines
}

/// The explanation of the shares.
pub(super) fn how_shares_are_meant(found: &Findings<'_>) -> String {
    let interval = match found.is_all {
        true => "",
        false => ", with 95 % intervals over all plausible settings",
    };
    format!(
        "Shares of the {} settings {}{interval}. A published change holds where it is reproduced; a change of the same direction and another size fails. default: the answer at the settings that `jumbolab run` uses.",
        found.sampled(),
        if found.is_all {
            "that there are"
        } else {
            "of the sample"
        },
    )
}

/// A question with its source, and the alternative that it is about.
pub(super) fn question(found: &Findings<'_>, question: &Question) -> String {
    let Question { text, source, .. } = question;
    let text = format!("{text} {source}");
    match (&question.alternative, &question.asked) {
        (Some(levels), _) => format!("{text}: {}", found.asked.plan.in_words(levels)),
        (None, Asked::Any(each)) => format!("{text}: any of these {}", each.len()),
        (None, _) => text,
    }
}

pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

pub(super) fn interval(Interval { low, high }: Interval) -> String {
    format!("[{:.0}, {:.0}]", 100.0 * low, 100.0 * high)
}

pub(super) fn share(share: &Share) -> String {
    match share.interval {
        Some(own) => format!("{} {}", percent(share.share), interval(own)),
        None => percent(share.share),
    }
}

pub(super) fn at_default(judged: &QuestionResult<'_>) -> String {
    judged.at_default.map_or("-", word).to_owned()
}

pub(super) const fn word(answer: Answer) -> &'static str {
    match answer {
        Answer::Holds => "holds",
        Answer::Fails => "fails",
        Answer::Undecided => "undecided",
    }
}

/// The settings that decide a question, those with the largest shares first.
pub(super) fn decided_by(found: &Findings<'_>, judged: &QuestionResult<'_>) -> String {
    let effects = found.settings().iter().zip(&judged.effects);
    let mut deciding: Vec<_> = effects.filter(|(_, effect)| effect.decides).collect();
    deciding.sort_by(|(_, one), (_, other)| other.total.share.total_cmp(&one.total.share));
    let names = deciding
        .iter()
        .map(|(setting, effect)| format!("{} {}", setting.name, percent(effect.total.share)));
    names.collect::<Vec<_>>().join(", ")
}

/// The settings that decide how near the printed figures come.
pub(super) fn distance_decided_by(found: &Findings<'_>, nearest: &Nearest<'_>) -> Option<String> {
    let effects = found.settings().iter().zip(&nearest.effects);
    let mut deciding: Vec<_> = effects.filter(|(_, effect)| effect.decides).collect();
    deciding.sort_by(|(_, one), (_, other)| other.total.share.total_cmp(&one.total.share));
    let names: Vec<String> = deciding
        .iter()
        .map(|(setting, effect)| {
            format!(
                "{} {} {}",
                setting.name,
                percent(effect.total.share),
                interval(effect.total.interval)
            )
        })
        .collect();
    (!names.is_empty()).then(|| {
        format!(
            "The distance from all printed figures is decided by (share of the variance of its logarithm, with pairs): {}.",
            names.join(", ")
        )
    })
}

/// The two points with opposite answers that differ least.
pub(super) fn turn(
    found: &Findings<'_>,
    number: usize,
    judged: &QuestionResult<'_>,
) -> Option<String> {
    let turn = judged.flip.as_ref()?;
    let [holds, fails] = [turn.holds, turn.fails].map(|place| &found.points[place].point);
    let default_holds = judged.at_default == Some(Answer::Holds);
    // From the default on, where it is one of the two.
    let is_default = |point: &[usize]| point.iter().all(|&value| value == 0);
    let from_holds = match (is_default(holds), is_default(fails)) {
        (true, _) => true,
        (_, true) => false,
        _ => default_holds,
    };
    let (from, to) = if from_holds {
        (holds, fails)
    } else {
        (fails, holds)
    };
    let value = |setting: usize, point: &[usize]| {
        found.settings()[setting].values[point[setting]].to_string()
    };
    let differing: Vec<String> = turn
        .settings
        .iter()
        .map(|&setting| {
            let name = &found.settings()[setting].name;
            format!(
                "{name} is {} instead of {}",
                value(setting, to),
                value(setting, from)
            )
        })
        .collect();
    let others: Vec<String> = (0..from.len())
        .filter(|setting| !turn.settings.contains(setting) && from[*setting] != 0)
        .map(|setting| {
            format!(
                "{}={}",
                found.settings()[setting].name,
                value(setting, from)
            )
        })
        .collect();
    let others = match others.is_empty() {
        true => "all else as by default".to_owned(),
        false => format!("with {}, all else as by default", others.join(" ")),
    };
    let to = if from_holds { "fails" } else { "holds" };
    Some(format!(
        "#{} {to} when {}, {others}: {}",
        number + 1,
        differing.join(" and "),
        question(found, judged.question)
    ))
}

/// A point by the values that are not those of the default.
pub(super) fn point(found: &Findings<'_>, place: usize) -> String {
    let values = found.points[place].point.iter().zip(found.settings());
    let others = values.filter(|(value, _)| **value != 0);
    let others: Vec<String> = others
        .map(|(&value, setting)| format!("{}={}", setting.name, setting.values[value]))
        .collect();
    match others.is_empty() {
        true => "default".to_owned(),
        false => others.join(" "),
    }
}

/// How near the nearest point is, and how probable that is by chance.
pub(super) fn chance(nearest: &Nearest<'_>) -> Vec<String> {
    let mut lines = vec![
        "The distance is the root of the mean square, over the printed figures, of measured less printed, in what the study holds its two figures apart: 1 is as far as these are.".to_owned(),
    ];
    if let Some(chance) = nearest.chance {
        let first = nearest.points.first();
        let fresh = first.and_then(|first| first.fresh);
        let how = match fresh {
            Some(fresh) => format!("{fresh:.2} with fresh seeds"),
            None => "as near as that".to_owned(),
        };
        lines.push(format!(
            "Picking the nearest among so many would find one {how} with a probability of {:.3} [{:.3}, {:.3}] if the printed figures had nothing to do with each other, by {} sets of figures from settings drawn at random.",
            chance.share, chance.interval.low, chance.interval.high, chance.draws
        ));
    }
    lines
}
