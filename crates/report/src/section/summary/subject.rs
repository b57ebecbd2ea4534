//! The subject of a summary: its metrics, its level of the compared factor, and its
//! cells.

use analysis::Findings;
use analysis::answer::{last_level, usual_metrics};
use plan::metric::{CPU_TOTAL, Metric, THROUGHPUT};
use plan::{Cell, Level, Plan};

/// Metrics that sentences do not call by their titles.
const CALLED: [(&str, &str); 2] = [
    (THROUGHPUT.name, "goodput"),
    (CPU_TOTAL.name, "CPU per gigabyte"),
];

/// The subject of a summary.
pub(crate) struct Subject<'a> {
    pub(super) plan: &'a Plan,
    /// The metrics, with their names in sentences.
    pub(super) metrics: Vec<(&'static Metric, String)>,
    /// The level of the compared factor that is set against the baseline.
    pub(super) level: Option<Level>,
    /// Whether the experiment selects cells and labels levels (`[report]`).
    selects: bool,
    /// The maximum number of sentences; more are combined.
    pub(super) most: usize,
}

impl<'a> Subject<'a> {
    /// The subject of JSON: all cells, with levels as written.
    pub(crate) fn of_run(plan: &'a Plan) -> Self {
        Self {
            plan,
            metrics: in_sentences(&usual_metrics(plan)),
            level: last_level(plan),
            selects: false,
            most: 6,
        }
    }

    /// The subject of the headline, which the experiment may choose.
    pub(crate) fn of_headline(found: &Findings<'a>) -> Self {
        Self {
            metrics: in_sentences(&found.answer.metrics),
            level: found.answer.level.clone(),
            selects: true,
            most: 3,
            ..Self::of_run(found.plan)
        }
    }

    /// Whether the subject is the comparison of this cell with its baseline.
    pub(crate) fn includes(&self, cell: &Cell) -> bool {
        let level = cell.factors.level(&self.plan.compare.factor);
        cell.setting.is_ok()
            && level.is_some_and(|level| self.level.as_ref() == Some(level))
            && cell.factors.level("copy").is_none()
            && (!self.selects || self.plan.report.includes(&cell.factors))
    }

    /// The comparison, as `MTU 9000 against 1500`.
    pub(super) fn comparison(&self, level: &Level) -> String {
        let compare = &self.plan.compare;
        let [level, baseline] =
            [level, &compare.baseline].map(|level| self.level_text(&compare.factor, level));
        format!("{} {level} against {baseline}", factor(self.plan))
    }

    /// Factors in words: `offloads off, protocol udp`; a label stands without the
    /// name of its factor.
    pub(super) fn words<'f>(
        &self,
        factors: impl Iterator<Item = (&'f String, &'f Level)>,
    ) -> String {
        let words = factors.map(|(name, level)| match self.label(name, level) {
            Some(label) => label.to_owned(),
            None => format!("{name} {level}"),
        });
        words.collect::<Vec<_>>().join(", ")
    }

    /// The selected cells in words, behind a number of settings.
    pub(super) fn selection(&self) -> String {
        if !self.selects || self.plan.report.cells.is_empty() {
            return String::new();
        }
        let parts = self.plan.report.cells.iter().map(|(name, levels)| {
            let words = levels.iter().map(|level| self.level_text(name, level));
            let words = words.collect::<Vec<_>>().join(" or ");
            match levels.iter().all(|level| self.label(name, level).is_some()) {
                true => words,
                false => format!("{name} {words}"),
            }
        });
        format!(" with {}", parts.collect::<Vec<_>>().join(", "))
    }

    /// Whether each sentence repeats the warnings; a headline states them once.
    pub(super) const fn repeats_warnings(&self) -> bool {
        !self.selects
    }

    fn label(&self, factor: &str, level: &Level) -> Option<&'a str> {
        let labels = self.plan.report.labels.get(factor);
        let labels = labels.filter(|_| self.selects);
        Some(labels?.get(&level.to_string())?.as_str())
    }

    fn level_text(&self, factor: &str, level: &Level) -> String {
        let label = self.label(factor, level);
        label.map_or_else(|| level.to_string(), str::to_owned)
    }
}

/// The name of the compared factor in a sentence.
pub(crate) fn factor(plan: &Plan) -> &str {
    match plan.compare.factor.as_str() {
        "mtu" => "MTU",
        other => other,
    }
}

/// Metrics with their names in sentences.
fn in_sentences(metrics: &[&'static Metric]) -> Vec<(&'static Metric, String)> {
    let called = |metric: &&'static Metric| {
        let own = CALLED.iter().find(|(name, _)| *name == metric.name);
        let words = own.map_or_else(|| inside(metric.title), |(_, words)| (*words).to_owned());
        (*metric, words)
    };
    metrics.iter().map(called).collect()
}

/// A title in lower case for use within a sentence; abbreviations stay as they
/// are.
fn inside(title: &str) -> String {
    let mut letters = title.chars();
    match (letters.next(), letters.next()) {
        (Some(first), Some(second)) if second.is_lowercase() => {
            first.to_lowercase().chain(title.chars().skip(1)).collect()
        }
        _ => title.to_owned(),
    }
}
