//! Latency breakdowns by message size.

use analysis::Findings;
use analysis::latency_breakdown::Group;
use document::{Block, Section, Style};

use crate::figure;
use crate::plots::areas::figures;

/// The explanation of the plots.
const PARTS: &str = "Means over the trials, one part of the round trip upon the other in the order of time; all together are the round trip. A click on a name hides or shows a part.";

/// Plots of the stages, and the message sizes that suffice.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let figures = figures(found);
    let lines: Vec<String> = found.latency_breakdown.iter().filter_map(line).collect();
    if figures.is_empty() && lines.is_empty() {
        return None;
    }
    let mut blocks = vec![Block::Page(vec![
        Block::heading("Where the time goes"),
        Block::paragraph(Style::Note, PARTS),
    ])];
    if !lines.is_empty() {
        blocks.push(Block::subheading(
            "Smallest messages that reach 95 % of the peak goodput",
        ));
        blocks.push(Block::list(lines));
    }
    blocks.extend(figures.into_iter().map(Block::Figure));
    Some(Section {
        id: "latency-breakdown",
        blocks,
    })
}

/// The message size from which goodput of a group no longer grows.
fn line(group: &Group) -> Option<String> {
    let knee = group.knee?;
    let place = match figure::words(&group.factors.0) {
        name if name.is_empty() => name,
        name => format!("{name}: "),
    };
    let largest = match knee.is_largest {
        true => ", the largest tested size: goodput may grow further",
        false => "",
    };
    let (size, goodput) = knee.peak;
    Some(format!(
        "{place}{} B{largest}; the peak is {} Mbit/s there and back, at {size} B",
        knee.enough,
        figure::four_digits(goodput)
    ))
}
