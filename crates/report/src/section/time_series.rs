//! Flows and queues over time, on the page only.

use analysis::Findings;
use document::{Block, Figure, Section, Style};

use crate::plots::time_series::{figures, flows};

/// The explanation of the plots.
const MEANS: &str = "Means over the trials, interval by interval; bands are their 95 % intervals, each for itself, from three trials on. A band is cut where it would rule the axis.";

/// A figure of flows with more plots shows [`SHOWN`] of them, and folds the rest.
const MOST_PANELS: usize = 6;

/// The plots that stay.
const SHOWN: usize = 4;

/// Time series of flows and links.
pub(crate) fn section(found: &Findings<'_>) -> Option<Section> {
    let (flows, links) = (flows(found), figures(found));
    if flows.is_none() && links.is_empty() {
        return None;
    }
    let mut blocks = vec![
        Block::heading("Over time"),
        Block::paragraph(Style::Note, MEANS),
    ];
    blocks.extend(flows.into_iter().flat_map(folded));
    blocks.extend(links.into_iter().map(Block::Figure));
    Some(Section {
        id: "over-time",
        blocks: vec![Block::Page(blocks)],
    })
}

fn folded(mut figure: Figure) -> Vec<Block> {
    if figure.plots.len() <= MOST_PANELS {
        return vec![Block::Figure(figure)];
    }
    let rest = Figure {
        title: format!("{}, other settings", figure.title),
        note: String::new(),
        plots: figure.plots.split_off(SHOWN),
    };
    let summary = format!("{} plots more, one a setting", rest.plots.len());
    let blocks = vec![Block::Figure(rest)];
    vec![Block::Figure(figure), Block::Fold { summary, blocks }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use document::{Drawing, Plot};

    fn figure(plots: usize) -> Figure {
        let drawing = |number: usize| Drawing {
            id: format!("p{number}"),
            label: String::new(),
            is_change: false,
            plot: Plot::default(),
        };
        Figure {
            title: "Flows".into(),
            note: String::new(),
            plots: (0..plots).map(drawing).collect(),
        }
    }

    #[test]
    fn many_plots_are_folded_behind_the_first_ones() {
        assert!(matches!(&folded(figure(6))[..], [Block::Figure(all)] if all.plots.len() == 6));
        let blocks = folded(figure(16));
        let [Block::Figure(first), Block::Fold { summary, blocks }] = &blocks[..] else {
            panic!("a figure and a fold");
        };
        assert_eq!(
            (first.plots.len(), summary.as_str()),
            (4, "12 plots more, one a setting")
        );
        assert!(matches!(&blocks[..], [Block::Figure(rest)] if rest.plots[0].id == "p4"));
    }
}
