//! How reports present a plan's results. It changes no trial and is not part of
//! the plan's hash.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::{Factors, Level, Plan, ReportFigure, ReportRow};

/// The question of an experiment, the subject of its headline, and words for
/// coded levels.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The question that the headline answers; one sentence with `?` at its end.
    pub question: Option<String>,
    /// The metrics of the headline, by report name and in this order. If empty:
    /// those that reports choose.
    pub metrics: Vec<String>,
    /// The level of the compared factor that the headline is about. If absent: the
    /// last one.
    pub level: Option<Level>,
    /// What to type after the answer, a line each.
    pub next: Vec<String>,
    /// The cells that the headline is about: each listed factor has one of the
    /// listed levels.
    #[serde(serialize_with = "crate::plan::pairs")]
    pub cells: Vec<(String, Vec<Level>)>,
    /// Words for levels, by the name of the factor and the level as written.
    #[serde(skip)]
    pub labels: BTreeMap<String, BTreeMap<String, String>>,
    /// The rows of the table that is the answer, in order. If empty: the answer is in
    /// sentences.
    #[serde(skip)]
    pub rows: Vec<ReportRow>,
    /// Figures of studies to redraw, in order.
    #[serde(skip)]
    pub figures: Vec<ReportFigure>,
}

impl Report {
    /// Whether the headline is about a cell with these factors, whatever its level
    /// of the compared factor.
    pub fn includes(&self, factors: &Factors) -> bool {
        self.cells.iter().all(|(name, levels)| {
            let level = factors.level(name);
            level.is_none_or(|level| levels.iter().any(|listed| listed.is_same(level)))
        })
    }
}

impl Plan {
    /// A level in words for people: its label, else the level as written.
    pub fn label(&self, factor: &str, level: &Level) -> String {
        let level = level.to_string();
        let labels = self.report.labels.get(factor);
        let label = labels.and_then(|labels| labels.get(&level));
        label.cloned().unwrap_or(level)
    }

    /// Factors in words for sentences: a label stands for itself, any other level with
    /// the name of its factor: `drop tail, mtu 1500`.
    pub fn in_words(&self, Factors(factors): &Factors) -> String {
        let words = factors.iter().map(|(name, level)| {
            let label = self.label(name, level);
            match label == level.to_string() {
                true => format!("{name} {label}"),
                false => label,
            }
        });
        words.collect::<Vec<_>>().join(", ")
    }

    /// Factors with the labels of their levels, as `queue=drop tail mtu=1500`.
    pub fn labelled(&self, Factors(factors): &Factors) -> String {
        let pairs = factors.iter();
        let pairs = pairs.map(|(name, level)| format!("{name}={}", self.label(name, level)));
        pairs.collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{full_factors, plan};

    #[test]
    fn a_level_without_a_label_is_shown_as_written() {
        let mut plan = plan(Vec::new(), 1, Vec::new());
        let label = ("LU-LU".to_owned(), "Linux to Linux".to_owned());
        let labels = BTreeMap::from([label]);
        plan.report.labels.insert("scenario".into(), labels);
        let factors = full_factors("LU-LU", "off", 1500);
        let shown = "scenario=Linux to Linux offloads=off mtu=1500";
        assert_eq!(plan.labelled(&factors), shown);
    }

    #[test]
    fn a_headline_includes_the_cells_that_have_a_listed_level_of_every_listed_factor() {
        let levels = |levels: &[i64]| levels.iter().copied().map(Level::Integer).collect();
        let report = Report {
            cells: vec![
                ("mtu".into(), levels(&[1500, 9000])),
                ("size".into(), levels(&[1])),
            ],
            ..Report::default()
        };
        assert!(report.includes(&full_factors("LU-LU", "on", 9000)));
        assert!(!report.includes(&full_factors("LU-LU", "on", 4000)));
    }
}
