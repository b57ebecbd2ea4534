//! Message times by size.

use analysis::Findings;
use analysis::sizes::{Curve, Family, StepResult};
use analysis::statistics::steps::Jump;
use analysis::statistics::{Mean, change, mean};
use document::{Block, Section, Style};
use meter::request_response::Stall;
use plan::{Cell, Plan, Trial, evidence};

use crate::figure;
use crate::plots::sizes::figures;

/// The explanation of the plots.
const STEPS: &str = "A step is where the lines through the points on either side differ by more than chance explains, \
                     at 5 % over all gaps of a band of sizes; the lists below say what each curve shows.";

/// The maximum number of steps to list.
const TOLD: usize = 12;

/// Plots of message times by size, and lines about each curve.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let (figures, lines) = (figures(found), lines(found));
    if figures.is_empty() && lines.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::heading("By size")];
    if !figures.is_empty() {
        blocks.push(Block::Page(vec![Block::paragraph(Style::Note, STEPS)]));
    }
    blocks.extend(figures.into_iter().map(Block::Figure));
    blocks.push(Block::list(lines));
    Some(Section {
        id: "by-size",
        blocks,
    })
}

/// The steps of each curve, the differences between compared curves, and the
/// verdicts on claimed steps; empty without sizes.
fn lines(found: &Findings<'_>) -> Vec<String> {
    let (plan, curves) = (found.plan, &found.curves);
    let mut lines = Vec::new();
    for curve in curves {
        lines.extend(of_curve(plan, curve));
    }
    for curve in curves {
        lines.extend(ratio(plan, curve, curves));
    }
    lines.extend(stalls(plan, found.trials));
    for judged in &found.steps {
        lines.extend(of_claim(plan, judged));
    }
    lines
}

fn of_curve(plan: &Plan, curve: &Curve<'_>) -> Vec<String> {
    let name = figure::cell(plan, &curve.factors);
    let (Some(first), Some(last)) = (curve.points.first(), curve.points.last()) else {
        return Vec::new();
    };
    let flat = curve.flat_from().map_or_else(String::new, |from| {
        format!("; a megabyte takes within 5 % of what it takes at last from {from} B on")
    });
    let sizes = format!(
        "{name}: {} sizes of {} to {} B{flat}",
        curve.points.len(),
        first.size,
        last.size
    );
    let Some(shape) = &curve.shape else {
        return vec![format!(
            "{sizes}; too far from each other to show frames, write a smaller traffic.size_step"
        )];
    };
    let mut lines = vec![
        sizes,
        format!("  steps: {}", steps_text(&shape.steps, "us")),
        format!(
            "  steps of the shortest times: {}",
            steps_text(&shape.of_shortest, "us")
        ),
        format!(
            "  steps of ln variance: {}",
            steps_text(&shape.of_variance, "")
        ),
    ];
    lines.extend(shape.families.iter().map(of_family));
    lines
}

/// The kernel's state at messages that were not answered in time: the first one
/// of each cell.
fn stalls(plan: &Plan, trials: &[Trial]) -> Vec<String> {
    let of_cell = |cell: &Cell| {
        let of_cell = trials.iter().filter(|trial| *trial.factors == cell.factors);
        let all: Vec<Stall> = of_cell
            .filter_map(|trial| trial.evidence.get(evidence::STALLED))
            .flatten()
            .collect();
        let first = all.iter().min_by_key(|stall| stall.size)?;
        let tcp = first.tcp.as_ref().map_or_else(String::new, |tcp| {
            format!(
                ", {} segments not acknowledged, {} time-outs in a row, {} probes of a closed window",
                tcp.unacknowledged, tcp.retransmits, tcp.probes
            )
        });
        Some(format!(
            "{}: {} stalls, the smallest at {} B (message {} of its size) while {}: {} B of it written, {} B of the answer read, {} B in the sending queue, {} B unread in the receiving queue{tcp}",
            figure::cell(plan, &cell.factors),
            all.len(),
            first.size,
            first.message,
            first.at,
            first.written,
            first.read,
            first.send_queue,
            first.receive_queue,
        ))
    };
    plan.cells.iter().filter_map(of_cell).collect()
}

fn steps_text(steps: &[Jump], unit: &str) -> String {
    if steps.is_empty() {
        return "none".to_owned();
    }
    let one = |step: &Jump| {
        let height = format!("{:+.2} {unit}", step.height);
        format!("{} at {} B", height.trim_end(), step.between[1])
    };
    let mut words: Vec<String> = steps.iter().take(TOLD).map(one).collect();
    if let Some(others) = steps.len().checked_sub(TOLD).filter(|&others| others > 0) {
        words.push(format!("and {others} more"));
    }
    words.join(", ")
}

fn of_family(family: &Family) -> String {
    let of = |height: &Option<Mean>| {
        height.as_ref().map_or_else(String::new, |height| {
            let interval = height.ci95.map_or_else(String::new, |interval| {
                format!(" [{:+.3}, {:+.3}]", interval.low, interval.high)
            });
            format!("{:+.3} us{interval}", height.mean)
        })
    };
    let height = format!(
        ": the mean jump is {}, of the shortest times {}",
        of(&family.height),
        of(&family.of_shortest)
    );
    format!(
        "  {}, {} places{height}; {} of them have a step, by chance {:.1} would (p = {:.2e})",
        family.what, family.places, family.marked, family.by_chance, family.p
    )
}

/// The ratio of a curve to that of the baseline.
fn ratio(plan: &Plan, curve: &Curve<'_>, curves: &[Curve<'_>]) -> Option<String> {
    let factor = &plan.compare.factor;
    let level = curve.factors.level(factor)?;
    if *level == plan.compare.baseline {
        return None;
    }
    let is_baseline = |other: &Curve<'_>| {
        other.factors.0.iter().all(|(name, level)| match name {
            name if name == factor => *level == plan.compare.baseline,
            name => curve.factors.level(name) == Some(level),
        })
    };
    let other = curves.iter().find(|other| is_baseline(other))?;
    let mut ratios = Vec::new();
    for point in &curve.points {
        let Ok(place) = (other.points).binary_search_by_key(&point.size, |other| other.size) else {
            continue;
        };
        let (Some(sample), Some(base)) = (mean(&point.times), mean(&other.points[place].times))
        else {
            continue;
        };
        let change = change(&sample, &base);
        ratios.extend(
            change
                .percent
                .map(|percent| (point.size, percent, change.ci95)),
        );
    }
    let of = |percent: f64| 1.0 + percent / 100.0;
    let least = ratios.iter().min_by(|a, b| a.1.total_cmp(&b.1))?;
    let most = ratios.iter().max_by(|a, b| a.1.total_cmp(&b.1))?;
    let slower = ratios
        .iter()
        .filter(|(_, percent, _)| *percent > 0.0)
        .count();
    // The size for which the study prints values [Egan s5.1.3].
    let printed = ratios.iter().find(|(size, ..)| *size == 11_000);
    let printed = printed.map_or_else(String::new, |(size, percent, ci95)| {
        let interval = ci95.map_or_else(String::new, |ci95| {
            format!(" [{:.4}, {:.4}]", of(ci95.low), of(ci95.high))
        });
        format!("at {size} B {:.4}{interval}; ", of(*percent))
    });
    Some(format!(
        "{}: over {factor} {}: {printed}from {:.3} (at {} B) to {:.3} (at {} B); longer at {slower} of {} sizes",
        figure::cell(plan, &curve.factors),
        plan.compare.baseline,
        of(least.1),
        least.0,
        of(most.1),
        most.0,
        ratios.len()
    ))
}

fn of_claim(plan: &Plan, judged: &StepResult<'_>) -> Vec<String> {
    let claim = judged.claim;
    let about = |(factors, verdict, why): &(_, _, String)| {
        let cell = figure::cell(plan, factors);
        format!("  {cell}: {why}: {verdict}")
    };
    let heading = format!("{} {}", claim.text, claim.source);
    std::iter::once(heading)
        .chain(judged.curves.iter().map(about))
        .collect()
}

#[cfg(test)]
mod tests;
