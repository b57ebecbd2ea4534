//! Verdicts with their reasons, and the questions that more trials would
//! settle.

use analysis::Findings;
use analysis::compare::Comparison;
use analysis::verdict::Verdict;
use document::{Block, Section};
use plan::Plan;

use crate::figure;
use crate::section::summary;

/// The verdicts on published changes; on the page they are in the tables.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let section = Section::listed(
        "verdicts",
        "Verdicts",
        verdicts(found.plan, &found.comparisons),
    )?;
    Some(Section {
        blocks: vec![Block::Terminal(section.blocks)],
        ..section
    })
}

/// Open questions that more trials would settle.
pub(crate) fn open_questions(found: &Findings<'_>) -> Option<Section> {
    Section::listed(
        "open-questions",
        "Open questions, with the approximate number of trials per cell (--repeat) to settle them",
        open(found.plan, &found.comparisons),
    )
}

/// A heading for each metric, and a line for each published change that was
/// measured: cell, verdict, reason and, for goodput, the decomposition.
fn verdicts(plan: &Plan, comparisons: &[Comparison]) -> Vec<String> {
    let judged = comparisons.iter().filter_map(|comparison| {
        comparison.published.claim.as_ref()?;
        let judgement = comparison.judgement.as_ref()?;
        (judgement.verdict != Verdict::NotMeasured).then_some((comparison, judgement))
    });
    let (mut lines, mut metric) = (Vec::new(), "");
    for (comparison, judgement) in judged {
        if metric != comparison.metric.name {
            metric = comparison.metric.name;
            lines.push(metric.to_owned());
        }
        let parts = summary::parts(comparison);
        let parts = match parts.is_empty() {
            true => String::new(),
            false => format!(" ({})", parts.join(", ")),
        };
        lines.push(format!(
            "  {}: {}; {}{parts}",
            figure::cell(plan, &comparison.factors),
            judgement.verdict,
            judgement.reason
        ));
    }
    lines
}

/// With more settings, only the extremes are named.
const MOST_SETTINGS: usize = 6;

/// A line for each leading metric that more trials would settle.
fn open(plan: &Plan, comparisons: &[Comparison]) -> Vec<String> {
    let mut metrics: Vec<(&str, Vec<(usize, String)>)> = Vec::new();
    let leading = (comparisons.iter()).filter(|row| plan.leads(row.metric));
    for (comparison, trials) in leading.filter_map(|row| Some((row, row.trials_to_settle?))) {
        let name = comparison.metric.name;
        let setting = (trials, figure::cell(plan, &comparison.factors));
        match metrics.last_mut().filter(|(other, _)| *other == name) {
            Some((_, settings)) => settings.push(setting),
            None => metrics.push((name, vec![setting])),
        }
    }
    let text = |(trials, cell): &(usize, String)| format!("{trials} at {cell}");
    let line = |(name, settings): (&str, Vec<(usize, String)>)| {
        let extremes = (
            settings.iter().min_by_key(|(trials, _)| trials),
            settings.iter().max_by_key(|(trials, _)| trials),
        );
        match extremes {
            (Some(fewest), Some(most)) if settings.len() > MOST_SETTINGS => format!(
                "{name}: in {} settings, from {} to {}",
                settings.len(),
                text(fewest),
                text(most)
            ),
            _ => {
                let all: Vec<String> = settings.iter().map(text).collect();
                format!("{name}: {}", all.join("; "))
            }
        }
    };
    metrics.into_iter().map(line).collect()
}
