//! The subject of a summary: its metrics, its level of the compared factor, and its
//! cells.

use analysis::Findings;
use plan::metric::{CPU_TOTAL, Metric, THROUGHPUT};
use plan::{Cell, Factors, Level, Plan};

/// The metrics of a summary without others, with their names in sentences.
const ANSWERS: [(&str, &str); 2] = [
    (THROUGHPUT.name, "goodput"),
    (CPU_TOTAL.name, "CPU per gigabyte"),
];

/// The subject of a summary.
pub(crate) struct Subject<'a> {
    pub(super) plan: &'a Plan,
    /// The metrics, with their names in sentences.
    pub(super) metrics: Vec<(&'a str, String)>,
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
            metrics: metrics(plan),
            level: last_level(plan),
            selects: false,
            most: 6,
        }
    }

    /// The subject of the headline, which the experiment may choose.
    pub(crate) fn of_headline(found: &Findings<'a>) -> Self {
        let plan = found.plan;
        let is_measured = |name: &&String| {
            let mut rows = found.comparisons.iter();
            rows.any(|row| row.metric.name == **name && row.n > 0)
        };
        let chosen = plan.report.metrics.iter().filter(is_measured);
        let chosen: Vec<_> = chosen.filter_map(|name| in_sentence(name)).collect();
        Self {
            metrics: if chosen.is_empty() {
                metrics(plan)
            } else {
                chosen
            },
            level: plan.report.level.clone().or_else(|| last_level(plan)),
            selects: true,
            most: 3,
            ..Self::of_run(plan)
        }
    }

    /// Whether the subject is the comparison of this cell with its baseline.
    pub(crate) fn includes(&self, cell: &Cell) -> bool {
        let level = cell.factors.level(&self.plan.compare.factor);
        cell.setting.is_ok()
            && level.is_some_and(|level| self.level.as_ref() == Some(level))
            && cell.factors.level("copy").is_none()
            && self.has(&cell.factors)
    }

    /// Whether the cell has the levels that the experiment selects.
    pub(crate) fn has(&self, factors: &Factors) -> bool {
        !self.selects || self.plan.report.includes(factors)
    }

    /// The level of the compared factor that is set against the baseline.
    pub(crate) const fn level(&self) -> Option<&Level> {
        self.level.as_ref()
    }

    /// The names of its metrics.
    pub(crate) fn metrics(&self) -> impl Iterator<Item = &'a str> {
        self.metrics.iter().map(|(name, _)| *name)
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

    /// Whether each sentence repeats the doubts; a headline states them once.
    pub(super) const fn repeats_doubts(&self) -> bool {
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

/// The last level of the compared factor that is not the baseline.
fn last_level(plan: &Plan) -> Option<Level> {
    let mut levels = plan
        .cells
        .iter()
        .filter_map(|cell| cell.factors.level(&plan.compare.factor));
    levels
        .rfind(|level| **level != plan.compare.baseline)
        .cloned()
}

/// The metrics of a summary if the experiment chooses none for its headline.
fn metrics(plan: &Plan) -> Vec<(&str, String)> {
    let study: Vec<&str> = ANSWERS.iter().map(|&(metric, _)| metric).collect();
    let named: Vec<&str> = plan.leading.iter().map(String::as_str).collect();
    let names = if named.is_empty() { study } else { named };
    names.into_iter().filter_map(in_sentence).collect()
}

/// A metric with its name in sentences.
fn in_sentence(name: &str) -> Option<(&str, String)> {
    let known = ANSWERS.iter().find(|(metric, _)| *metric == name);
    let title = || Metric::named(name).map(|metric| inside(metric.title));
    let words = known.map(|(_, words)| (*words).to_owned()).or_else(title);
    Some((name, words?))
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
