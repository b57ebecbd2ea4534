//! The horizontal layout of plots: levels along the axis, and the series of
//! cells side by side at each level.

use plan::{Factors, Level, Plan};

use crate::rows::{Kind, kinds};

/// Cells that differ only in the compared factor, at least one of which can be
/// measured here.
pub(super) struct Series {
    /// The name that distinguishes it from other series; empty if it is the
    /// only one.
    pub(super) name: String,
    /// The factors that the name is made of.
    pub(super) factors: Vec<(String, Level)>,
    /// Positions of its cells in the plan.
    pub(super) cells: Vec<usize>,
}

/// The series of a plan, in its order.
pub(super) fn series(plan: &Plan) -> Vec<Series> {
    let is_measured = |kind: &Kind| {
        kind.cells
            .iter()
            .any(|&cell| plan.cells[cell].setting.is_ok())
    };
    let measured: Vec<Kind> = kinds(plan).into_iter().filter(is_measured).collect();
    let varies = |factor: &(String, Level)| {
        let lacks = |kind: &Kind| !kind.factors.contains(factor);
        measured.iter().any(lacks)
    };
    measured
        .iter()
        .map(|kind| {
            let factors = kind.factors.iter().filter(|factor| varies(factor));
            let factors: Vec<(String, Level)> = factors.cloned().collect();
            Series {
                name: labelled(plan, &factors),
                factors,
                cells: kind.cells.clone(),
            }
        })
        .collect()
}

/// Factors as text, with labels instead of coded levels.
pub(super) fn labelled(plan: &Plan, factors: &[(String, Level)]) -> String {
    let words = factors
        .iter()
        .map(|(name, level)| format!("{name} {}", plan.label(name, level)));
    words.collect::<Vec<_>>().join(", ")
}

/// A level of the compared factor as text, with its label if it has one.
pub(super) fn level_label(plan: &Plan, level: &str) -> String {
    plan.label(&plan.compare.factor, &Level::Text(level.to_owned()))
}

/// The levels of the compared factor in the plan's order; a repeated level has
/// its own position.
pub(super) fn levels(plan: &Plan) -> Vec<String> {
    let mut levels = Vec::new();
    for cell in &plan.cells {
        let level = level(plan, &cell.factors);
        if !levels.contains(&level) {
            levels.push(level);
        }
    }
    levels
}

/// The position of a cell along the axis.
pub(super) fn place(plan: &Plan, levels: &[String], cell: usize) -> Option<usize> {
    let level = level(plan, &plan.cells[cell].factors);
    levels.iter().position(|other| *other == level)
}

fn level(plan: &Plan, factors: &Factors) -> String {
    let level = factors.level(&plan.compare.factor);
    let level = level.map_or_else(String::new, Level::to_string);
    match factors.level("copy") {
        Some(copy) => format!("{level} (copy {copy})"),
        None => level,
    }
}
