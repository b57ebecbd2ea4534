//! Rows of the answer of a report.

use serde::Serialize;

use crate::{Factors, Level};

/// A row of the table that answers the question of an experiment: the change of one metric
/// in some of its cells.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ReportRow {
    /// What the cells are about, such as `Full link`. Rows with the same title belong
    /// together.
    pub title: String,
    /// The metric's name in reports.
    pub metric: String,
    /// The metric in the words of this row, such as `goodput`. If absent: its title.
    pub called: Option<String>,
    /// Where its change matters, as the end of a sentence: `on a full link`. Rows of one
    /// place are one finding of the advice; a row without a place is in the table alone.
    #[serde(rename = "where")]
    pub place: Option<String>,
    /// The cells of the row: each listed factor has one of the listed levels.
    #[serde(serialize_with = "crate::plan::pairs")]
    pub cells: Vec<(String, Vec<Level>)>,
}

impl ReportRow {
    /// Whether the row is about a cell with these factors, whatever its level of the
    /// compared factor.
    pub fn includes(&self, factors: &Factors) -> bool {
        self.cells.iter().all(|(name, levels)| {
            let level = factors.level(name);
            level.is_some_and(|level| levels.iter().any(|listed| listed.is_same(level)))
        })
    }
}
