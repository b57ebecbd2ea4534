//! The report of one run.

use std::path::Path;

use analysis::Findings;
use document::{Block, Document, Section};

use crate::section::{
    citation, claims, delays, head, latency_breakdown, metrics, other_metrics, outliers, paired,
    prober_accuracy, quality_check, reading, redrawn, sizes, study, test_bed, time_series,
    verdicts,
};

/// A function that describes a section; `None` if it has no content.
type Describe = fn(&Findings<'_>) -> Option<Section>;

/// The sections of a report, in order.
const SECTIONS: [Describe; 19] = [
    // What was claimed, or known, and what came of it.
    prober_accuracy::section,
    claims::section,
    verdicts::section,
    // Plots, those of the question first.
    latency_breakdown::section,
    redrawn::section,
    metrics::section,
    sizes::section,
    time_series::section,
    delays::section,
    // Figures.
    study::section,
    paired::section,
    verdicts::open_questions,
    outliers::section,
    other_metrics::section,
    // How it was done.
    reading::section,
    test_bed::section,
    quality_check::section,
    citation::section,
    quality_check::plan,
];

/// The report of a run: answer, plots of all metrics with every trial, tables,
/// quality check, plan, and the folder's path.
pub fn of_run(found: &Findings<'_>, folder: Option<&Path>) -> Document {
    let folder = folder.map(|folder| Section {
        id: "",
        blocks: vec![Block::Terminal(vec![Block::Verbatim(format!(
            "Results: {}",
            folder.display()
        ))])],
    });
    let sections = SECTIONS.iter().filter_map(|describe| describe(found));
    Document {
        title: format!("{}: {}", found.plan.name, found.plan.title),
        head: head::blocks(found),
        sections: sections.chain(folder).collect(),
    }
}

#[cfg(test)]
mod tests;
