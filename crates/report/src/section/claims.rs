//! The claims of a plan with their verdicts.

use analysis::Findings;
use analysis::claims::{Alternative, Alternatives, ClaimResult, SettingResult, where_it_holds};
use analysis::statistics::Interval;
use analysis::verdict::Verdict;
use document::{Block, Cell, Column, Item, List, ListKind, Remark, Section, Style, Table};
use plan::{Expected, Over, Plan};

use crate::figure;
use crate::rows::tone;

/// The maximum number of settings of a claim on a terminal.
const MOST_SETTINGS: usize = 4;

/// A line for each claim with its verdict, followed by a line for each setting.
/// On the page a table, with the settings folded.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    if found.claims.is_empty() {
        return None;
    }
    let claims = found.claims.iter();
    let brief = claims.flat_map(|judged| brief(found.plan, judged));
    let list = |items: Vec<String>| {
        Block::List(List {
            kind: ListKind::Plain,
            items: items.iter().cloned().map(Item::from).collect(),
            brief: Some(items.into_iter().map(Item::from).collect()),
        })
    };
    let fold = Block::Fold {
        summary: "Each setting of each claim".to_owned(),
        blocks: vec![list(lines(found))],
    };
    let (measured, others): (Vec<&ClaimResult<'_>>, Vec<&ClaimResult<'_>>) =
        (found.claims.iter()).partition(|judged| judged.not_measured.is_none());
    let table = (!measured.is_empty()).then(|| Block::Table(table(found.plan, &measured)));
    let on_page = table
        .into_iter()
        .chain(not_measured(&others))
        .chain([fold])
        .collect();
    Some(Section {
        id: "claims",
        blocks: vec![
            Block::heading("Claims"),
            Block::Terminal(vec![list(brief.collect())]),
            Block::Page(on_page),
        ],
    })
}

/// A row for each claim: its text, its source, and the verdict with its reason.
fn table(plan: &Plan, claims: &[&ClaimResult<'_>]) -> Table {
    let row = |judged: &&ClaimResult<'_>| {
        let (holds, average) = (holds(plan, judged), average(judged));
        let detail = format!("{holds}{average}{}", tolerance(judged));
        let verdict = Remark {
            detail: detail.trim_start_matches([',', ';', ' ']).to_owned(),
            ..Remark::new(tone(judged.verdict), judged.verdict.to_string())
        };
        vec![
            Cell::Text(judged.claim.text.clone()),
            Cell::Text(judged.claim.source.clone()),
            Cell::Remarks(vec![verdict]),
        ]
    };
    Table {
        columns: ["claim", "source", "verdict"].map(Column::new).into(),
        rows: claims.iter().map(row).collect(),
        ..Table::default()
    }
}

/// A paragraph for each reason for which claims were not measured.
fn not_measured(claims: &[&ClaimResult<'_>]) -> Vec<Block> {
    let mut reasons: Vec<(&str, Vec<String>)> = Vec::new();
    for judged in claims {
        let why = judged.not_measured.as_deref().unwrap_or_default();
        let claim = format!("{} {}", judged.claim.text, judged.claim.source);
        match reasons.iter_mut().find(|(other, _)| *other == why) {
            Some((_, claims)) => claims.push(claim),
            None => reasons.push((why, vec![claim])),
        }
    }
    let paragraph = |(why, claims): (&str, Vec<String>)| {
        let words = format!(
            "{} not measured here ({why}): {}.",
            claims.len(),
            claims.join("; ")
        );
        Block::paragraph(Style::Note, words)
    };
    reasons.into_iter().map(paragraph).collect()
}

fn lines(found: &Findings<'_>) -> Vec<String> {
    let lines = found.claims.iter().flat_map(|judged| {
        let settings = judged.settings.iter();
        let settings = settings.map(|held| format!("  {}", setting(found.plan, judged, held)));
        std::iter::once(claim(found.plan, judged)).chain(settings)
    });
    lines.collect()
}

/// The lines of one claim. Of many settings only the most informative ones:
/// failures by decreasing margin, then the others, those nearest to the bound
/// first.
fn brief(plan: &Plan, judged: &ClaimResult<'_>) -> Vec<String> {
    let mut settings: Vec<&SettingResult> = judged.settings.iter().collect();
    let rank = |held: &SettingResult| {
        let far = distance(&judged.claim.expected, held);
        match held.verdict {
            Verdict::NotReproduced => (0, -far),
            Verdict::Reproduced => (2, far),
            _ => (1, far),
        }
    };
    settings.sort_by(|one, other| {
        let [one, other] = [one, other].map(|held| rank(held));
        one.0.cmp(&other.0).then(one.1.total_cmp(&other.1))
    });
    let more = settings.len().saturating_sub(MOST_SETTINGS);
    settings.truncate(MOST_SETTINGS);
    let settings = settings.into_iter();
    let settings = settings.map(|held| format!("  {}", setting(plan, judged, held)));
    let more = (more > 0).then(|| format!("  and {more} more settings: see the page"));
    std::iter::once(claim(plan, judged))
        .chain(settings)
        .chain(more)
        .collect()
}

/// The distance of a mean from the claim, relative to the claimed value.
fn distance(expected: &Expected, held: &SettingResult) -> f64 {
    let bound = match (expected, held.other) {
        (Expected::Than { higher, by, .. }, Some(other)) if *higher => other.mean + by,
        (Expected::Than { by, .. }, Some(other)) => other.mean - by,
        (
            Expected::Changed {
                higher, percent, ..
            },
            _,
        ) => {
            let claimed = if *higher { *percent } else { -percent };
            let apart = held.percent.map(|change| (change - claimed).abs());
            return apart.unwrap_or(0.0) / percent.abs().max(f64::MIN_POSITIVE);
        }
        (Expected::Than { .. }, None) => return 0.0,
        (Expected::AtMost(bound) | Expected::AtLeast(bound), _) => *bound,
    };
    (held.mean.mean - bound).abs() / bound.abs().max(f64::MIN_POSITIVE)
}

fn claim(plan: &Plan, judged: &ClaimResult<'_>) -> String {
    let settings = holds(plan, judged);
    let why = judged.not_measured.as_ref();
    let why = why.map_or_else(String::new, |why| format!(": {why}"));
    format!(
        "{} {}: {}{}{settings}{why}{}",
        judged.claim.text,
        judged.claim.source,
        judged.verdict,
        average(judged),
        tolerance(judged)
    )
}

/// In how many of several settings a claim holds, or in which alternatives.
fn holds(plan: &Plan, judged: &ClaimResult<'_>) -> String {
    if let Some(alternatives) = judged
        .alternatives
        .as_ref()
        .filter(|all| all.each.len() > 1)
    {
        return match judged.settings.is_empty() {
            true => String::new(),
            false => format!(", {}", places(plan, alternatives)),
        };
    }
    match judged.settings.len() {
        0 | 1 => String::new(),
        many => format!(", it holds in {} of {many} settings", judged.holds_in()),
    }
}

/// The alternatives in which a claim holds, and the others.
fn places(plan: &Plan, alternatives: &Alternatives) -> String {
    let named = |one: &Alternative| {
        let stated = one.is_stated.then(|| "as stated".to_owned());
        let partly = one.settings > 1 && one.verdict != Verdict::Reproduced;
        let partly = partly.then(|| format!("in {} of {} settings", one.holds, one.settings));
        let notes: Vec<String> = stated.into_iter().chain(partly).collect();
        let name = plan.in_words(&one.levels);
        let name = match notes.is_empty() {
            true => name,
            false => format!("{name} ({})", notes.join(", ")),
        };
        (name, one.verdict)
    };
    let each: Vec<_> = alternatives.each.iter().map(named).collect();
    where_it_holds(&each)
}

/// The tolerance of a claim of equality, if it has one and a setting has no
/// spread.
fn tolerance(judged: &ClaimResult<'_>) -> String {
    let is_exact = |held: &SettingResult| held.interval.is_some_and(|own| own.low == own.high);
    let Some(tolerance) =
        (judged.claim.tolerance.as_ref()).filter(|_| judged.settings.iter().any(is_exact))
    else {
        return String::new();
    };
    let unit = match judged.claim.expected {
        Expected::Changed { .. } => "points",
        _ => judged.unit,
    };
    format!(
        "; without spread what is within {} {unit} is equal: {}",
        tolerance.within, tolerance.reason
    )
}

/// The average to which the claim refers, and the claimed value.
fn average(judged: &ClaimResult<'_>) -> String {
    let Expected::Changed {
        higher, percent, ..
    } = judged.claim.expected
    else {
        return String::new();
    };
    judged.average.map_or_else(String::new, |average| {
        let measured = percent_of(average.percent, average.interval);
        format!(
            ", on average {measured}, claimed {}",
            least(higher, percent)
        )
    })
}

/// A claimed change, e.g. `+117 % or more`.
fn least(higher: bool, percent: f64) -> String {
    match higher {
        true => format!("{percent:+} % or more"),
        false => format!("{:+} % or lower", -percent),
    }
}

fn percent_of(percent: f64, interval: Option<Interval>) -> String {
    match interval {
        Some(interval) => figure::percent_in(percent, interval),
        None => format!("{} %", figure::four_digits(percent)),
    }
}

/// The cell, the measured value, and the value that it is compared with.
fn setting(plan: &Plan, judged: &ClaimResult<'_>, held: &SettingResult) -> String {
    let cell = figure::cell(plan, &held.factors);
    let (metric, unit) = (&judged.claim.metric, judged.unit);
    let measured = figure::four_digits(held.mean.mean);
    let verdict = match held.mean.is_approximate {
        true => format!("approximate: {}", held.verdict),
        false => held.verdict.to_string(),
    };
    let bound = match (&judged.claim.expected, held.other) {
        (Expected::Than { than, by, .. }, Some(other)) => {
            let by = match *by {
                by if by > 0.0 => format!(", claimed by {by} at least"),
                by if by < 0.0 => format!(", which may fall short by {}", -by),
                _ => String::new(),
            };
            let other = figure::four_digits(other.mean);
            format!(" against {other} with {than}{by}")
        }
        (Expected::Changed { than, .. }, Some(other)) => {
            format!(" against {} with {than}", figure::four_digits(other.mean))
        }
        (Expected::Than { .. } | Expected::Changed { .. }, None) => String::new(),
        (Expected::AtMost(bound), _) => format!(", claimed at most {bound}"),
        (Expected::AtLeast(bound), _) => format!(", claimed at least {bound}"),
    };
    if let Expected::Changed {
        higher,
        percent,
        over,
        ..
    } = judged.claim.expected
    {
        let change = match held.percent {
            Some(change) => percent_of(change, held.interval),
            None => "no change in per cent: from 0".to_owned(),
        };
        let claimed = match over {
            // Stated once, for all of them.
            Over::Mean => String::new(),
            Over::Each | Over::Any => format!(", claimed {}", least(higher, percent)),
        };
        return format!("{cell}: {metric} {measured} {unit}{bound}; {change}{claimed}: {verdict}");
    }
    let interval = held.interval.map_or_else(
        || "; too few trials: a single one has no interval".to_owned(),
        |interval| {
            if interval.is_exact(held.mean.mean) {
                return "; exact".to_owned();
            }
            let Interval { low, high } = interval;
            let [low, high] = [low, high].map(figure::four_digits);
            let what = if held.other.is_some() {
                "difference"
            } else {
                "mean"
            };
            format!("; {what} [{low}, {high}]")
        },
    );
    format!("{cell}: {metric} {measured} {unit}{bound}{interval}: {verdict}")
}

#[cfg(test)]
mod tests;
