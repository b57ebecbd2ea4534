//! The verdicts with their reasons, and what more trials would settle.

use crate::compare::Comparison;
use crate::plan::Plan;
use crate::report::{figure, outliers, summary};
use crate::trial::Trial;
use crate::verdict::Verdict;

/// For each metric a heading, and a line for each published change that was
/// held against trials: cell, verdict, reason and, for goodput, what the
/// change is made of.
pub(super) fn lines(plan: &Plan, comparisons: &[Comparison]) -> Vec<String> {
    let judged = comparisons.iter().filter_map(|comparison| {
        comparison.published.claim?;
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

/// What stands below the tables, by heading: what more trials would settle,
/// and the trials that stand apart. Either may be empty.
pub(super) fn lists(
    plan: &Plan,
    trials: &[Trial],
    comparisons: &[Comparison],
) -> [(&'static str, Vec<String>); 2] {
    [
        (
            "Open: about so many trials a cell (--repeat) would settle it",
            open(plan, comparisons),
        ),
        (
            "Outliers, far from the median of their cell; they are kept in every figure",
            // Of hundreds of settings they would be as many lines.
            match plan.ranking {
                None => outliers::lines(plan, trials),
                Some(_) => Vec::new(),
            },
        ),
    ]
}

/// A line for each leading metric that more trials would settle.
fn open(plan: &Plan, comparisons: &[Comparison]) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let leading = (comparisons.iter()).filter(|row| plan.leads(row.metric));
    for (comparison, trials) in leading.filter_map(|row| Some((row, row.trials_to_settle?))) {
        let heading = format!("{}: ", comparison.metric.name);
        let cell = format!("{trials} at {}", figure::cell(plan, &comparison.factors));
        match lines.last_mut().filter(|line| line.starts_with(&heading)) {
            Some(line) => *line += &format!("; {cell}"),
            None => lines.push(heading + &cell),
        }
    }
    lines
}
