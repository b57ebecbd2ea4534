//! The result of a metric in a cell.

use plan::Factors;
use plan::metric::{Metric, MetricDirection};
use serde::Serialize;

use crate::decomposition::Decomposition;
use crate::passes::Passes;
use crate::statistics::{Change, Interval, Mean};
use crate::verdict::{Judgement, PublishedFigures, Verdict};

/// The probability of finding any difference in all comparisons of one metric
/// if there is none.
pub(super) const LEVEL: f64 = 0.05;

/// One metric in one cell.
#[derive(Clone, Debug)]
pub struct Comparison {
    /// The metric.
    pub metric: &'static Metric,
    /// The cell's position in the plan.
    pub cell: usize,
    /// The cell's factors.
    pub factors: Factors,
    /// Trials that finished and report the metric.
    pub n: usize,
    /// Failed trials of the cell; no result includes them.
    pub failed: usize,
    /// Their mean, or their trimmed mean.
    pub mean: Option<Mean>,
    /// The trials behind the mean.
    pub passes: Passes,
    /// The trials behind the change: those of the cell and those of its baseline.
    pub compared: Passes,
    /// The smallest difference that the instrument can resolve, in the metric's
    /// unit, if known.
    pub resolution: Option<f64>,
    /// The larger resolution of this cell and the baseline, which a difference
    /// must exceed.
    pub(super) threshold: Option<f64>,
    /// The change against the baseline cell; the baseline itself has none.
    pub change: Option<Change>,
    /// The resolution of the change in per cent, if known.
    pub resolution_percent: Option<f64>,
    /// Whether the cell differs from its baseline.
    pub difference: Option<Difference>,
    /// The number of comparisons of the metric that were decided together.
    pub together: usize,
    /// For the CPU time of one end: the process alone, and with all softirq.
    pub attribution: Option<[f64; 2]>,
    /// The decomposition of a change of goodput, if known.
    pub decomposition: Option<Decomposition>,
    /// The number of trials per cell that would settle open questions, if
    /// trials can.
    pub trials_to_settle: Option<usize>,
    /// The study to whose figures the costs of the cell's hosts are fitted, if they are.
    pub fitted_to: Option<String>,
    /// The published values of the study.
    pub published: PublishedFigures,
    /// The verdict on the published change, if there is one.
    pub judgement: Option<Judgement>,
}

/// Whether a cell differs from its baseline.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Difference {
    /// It differs significantly, at 5 % over all comparisons of the metric, and
    /// by more than the instrument's resolution.
    Found,
    /// No difference found.
    NotFound,
    /// Too few trials to decide.
    Unknown,
}

/// Why no difference was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NotFound {
    /// Alone it would count, but it is not beyond chance over this number of
    /// comparisons of the metric, which are decided together.
    Together(usize),
    /// It is beyond chance, but within the resolution of the instrument, in the
    /// metric's unit.
    Resolution(f64),
    /// It is not beyond chance; a change above this percentage would have shown.
    Above(f64),
    /// The interval of the change holds 0 and is wider than the baseline.
    NoResult,
    /// It is not beyond chance; there is no change in per cent.
    Chance,
}

impl Comparison {
    /// Why no difference was found, if none was.
    pub fn not_found(&self) -> Option<NotFound> {
        let change = self.change?;
        (self.difference == Some(Difference::NotFound)).then_some(())?;
        let alone = change.p.is_some_and(|p| p < LEVEL);
        let hidden = self
            .threshold
            .filter(|&threshold| change.difference.abs() <= threshold);
        let margin = change
            .excluded_above
            .map(|above| above.max(self.resolution_percent.unwrap_or(0.0)));
        Some(match (alone, hidden, margin) {
            (true, Some(resolution), _) => NotFound::Resolution(resolution),
            (true, None, _) => NotFound::Together(self.together),
            (false, _, _) if self.is_no_result() => NotFound::NoResult,
            (false, _, Some(margin)) => NotFound::Above(margin),
            (false, _, None) => NotFound::Chance,
        })
    }

    /// Whether the change is no result: its interval holds 0 and is wider than the
    /// baseline.
    pub fn is_no_result(&self) -> bool {
        let interval = self.change.and_then(|change| change.ci95);
        interval.is_some_and(Interval::is_no_result)
    }

    /// Whether its change is for the better.
    pub fn improves(&self) -> bool {
        self.change.is_some_and(|change| match self.metric.better {
            MetricDirection::Higher => change.difference > 0.0,
            MetricDirection::Lower => change.difference < 0.0,
        })
    }

    /// Whether the value is no result: the costs of the hosts were chosen so that it is the
    /// published one.
    pub const fn is_fit(&self) -> bool {
        self.fitted_to.is_some() && self.published.used_in_fit
    }

    /// Takes the verdict away, for a reason of the whole run.
    pub(crate) fn leave_unjudged(&mut self, why: &str) {
        self.judgement = Some(Judgement {
            verdict: Verdict::NotMeasured,
            reason: why.to_owned(),
        });
    }

    /// Whether the result is approximate: other work disturbed trials of the compared
    /// cells, and too few others remain.
    pub fn is_approximate(&self) -> bool {
        self.mean.is_some_and(|mean| mean.is_approximate)
    }
}
