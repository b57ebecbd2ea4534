//! Pareto fronts: settings to which no other one is preferable in two metrics.

use analysis::Findings;
use analysis::pareto::Front;

use crate::document::{Block, Section, Style};
use crate::figure;
use crate::plots::fronts::figures;

/// The explanation of the plots.
const PREFERABLE: &str = "Symbols are means over the trials. A setting is preferable to another if it is no worse in either metric, and in one better by more than chance.";

/// A plot and a line for each front, followed by a line for each setting on it.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    if found.fronts.is_empty() {
        return None;
    }
    let mut blocks = vec![
        Block::heading("Pareto fronts"),
        Block::Page(vec![Block::paragraph(Style::Note, PREFERABLE)]),
    ];
    blocks.extend(figures(found).into_iter().map(Block::Figure));
    blocks.push(Block::list(lines(found)));
    Some(Section {
        id: "fronts",
        blocks,
    })
}

fn lines(found: &Findings<'_>) -> Vec<String> {
    let lines = found.fronts.iter().flat_map(|front| {
        let points = front
            .front()
            .map(|point| format!("  {}", figure::point(found.plan, front, point)));
        std::iter::once(heading(front)).chain(points)
    });
    lines.collect()
}

fn heading(front: &Front<'_>) -> String {
    let (on, all) = (front.front().count(), front.points.len());
    let settings = if all == 1 { "setting" } else { "settings" };
    format!(
        "{}: {on} of {all} {settings} are on the front",
        figure::front(front)
    )
}

#[cfg(test)]
mod tests;
