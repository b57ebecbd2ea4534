//! A plan: an experiment resolved into cells, each with a number of repeats.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde::{Serialize, Serializer};
use units::Seed;

use crate::metric::Metric;
use crate::{
    Backend, DistributionFile, Factors, Level, Report, RetryLimit, Setting, SideEffect, Trial,
    Until,
};

/// A resolved experiment: the trials to run and the values to compare them
/// with.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The experiment's name.
    pub name: String,
    /// The question of the experiment, in one line.
    pub title: String,
    /// The key of the experiment's source in docs/sources.md, if any.
    pub source: Option<String>,
    /// The backend that runs the plan.
    pub backend: Backend,
    /// The cells in sweep order.
    pub cells: Vec<Cell>,
    /// The number of trials of each cell.
    pub repeat: u32,
    /// The condition that ends the run before the last repeat, if any.
    pub until: Option<Until>,
    /// How far the run repeats disturbed trials.
    pub retry_limit: RetryLimit,
    /// The seed of all random streams of the run.
    pub seed: Seed,
    /// The compared factor and its baseline.
    pub compare: Compare,
    /// Metrics with tables and plots of their own, in this order. If empty: the
    /// metrics of the 2019 study's tables.
    pub leading: Vec<String>,
    /// Metrics whose differences are reported for each repeat, by report name.
    pub paired: Vec<String>,
    /// Published values to compare the results with.
    pub published: Vec<Published>,
    /// Claims of studies that state no value.
    pub claims: Vec<Assertion>,
    /// Claims of studies about message sizes at which times jump.
    pub steps: Vec<StepClaim>,
    /// Settings that the source does not state.
    pub unstated: Vec<Unstated>,
    /// How reports present the results.
    pub report: Report,
    /// The resolved experiment as TOML; parses back to this plan.
    pub text: String,
    /// Eight hexadecimal digits of a hash over experiment, seeds, backend and
    /// format.
    pub hash: String,
    /// Files of values that the text names; a run keeps copies of them.
    pub files: Vec<DistributionFile>,
    /// What its cells do outside of the run, each once.
    pub side_effects: BTreeSet<SideEffect>,
}

impl Plan {
    /// The maximum number of trials: all repeats of all cells that the backend
    /// can measure.
    pub fn expected_trials(&self) -> usize {
        let measured = self.cells.iter().filter(|cell| cell.setting.is_ok());
        measured.count() * self.repeat as usize
    }

    /// The number of trials of this plan in `trials`, failed ones included.
    pub fn finished_trials(&self, trials: &[Trial]) -> usize {
        let mut held: BTreeMap<String, usize> = BTreeMap::new();
        // Trials that were read from a folder share the factors of their cell.
        let mut known: BTreeMap<usize, usize> = BTreeMap::new();
        let mut repeats: Vec<Vec<u32>> = Vec::new();
        for trial in trials {
            let of = || {
                let next = held.len();
                *held.entry(trial.factors.to_string()).or_insert(next)
            };
            let address = Arc::as_ptr(&trial.factors).addr();
            let cell = *known.entry(address).or_insert_with(of);
            repeats.resize_with(held.len(), Vec::new);
            if (1..=self.repeat).contains(&trial.repeat) {
                repeats[cell].push(trial.repeat);
            }
        }
        let counts = repeats.into_iter().map(|mut repeats| {
            repeats.sort_unstable();
            repeats.dedup();
            repeats.len()
        });
        let counts: Vec<usize> = counts.collect();
        let measured = self.cells.iter().filter(|cell| cell.setting.is_ok());
        let of_cell = measured.filter_map(|cell| held.get(&cell.factors.to_string()));
        of_cell.map(|&cell| counts[cell]).sum()
    }

    /// Whether a report shows `metric` first.
    pub fn leads(&self, metric: &Metric) -> bool {
        match self.leading.is_empty() {
            true => metric.is_shown_first(),
            false => self.leading.iter().any(|name| name == metric.name),
        }
    }
}

/// One combination of the levels of all factors.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The factors that identify the cell.
    pub factors: Factors,
    /// The setting, or the reason why this backend cannot measure the cell, such
    /// as "needs a Windows host". Reports then still show the cell's row with
    /// the published values.
    pub setting: Result<Setting, String>,
}

/// The factor of interest and its baseline.
#[derive(Clone, Debug, Serialize)]
pub struct Compare {
    /// The factor's name as in the sweep, e.g. `mtu`.
    pub factor: String,
    /// The level that changes are taken against, e.g. 1500.
    pub baseline: Level,
}

/// Values printed by a study: one metric along the compared factor.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Published {
    /// The metric's name in reports, such as `throughput`.
    pub metric: String,
    /// The unit of `values`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// The factors that the values belong to, such as scenario = LU-LU. A cell
    /// matches if all factors that both name have equal levels.
    pub factors: Factors,
    /// Printed values by level of the compared factor; sorted.
    #[serde(serialize_with = "pairs")]
    pub values: Vec<(Level, f64)>,
    /// Printed changes against the baseline in per cent, decreases negative;
    /// sorted. Empty if the run compares with another baseline.
    #[serde(serialize_with = "pairs")]
    pub changes: Vec<(Level, f64)>,
    /// The levels whose values the costs of described hosts are fitted to, where hosts have
    /// such costs. Nothing is judged by these values alone.
    #[serde(serialize_with = "words", skip_serializing_if = "Vec::is_empty")]
    pub used_in_fit: Vec<Level>,
    /// The smallest change that the study's instrument could resolve, in per
    /// cent, if known.
    pub resolution_percent: Option<f64>,
    /// The random error of the printed means; without it they count as exact within
    /// their rounding.
    #[serde(flatten)]
    pub sampling: Option<Sampling>,
    /// As [`Assertion::alternatives`].
    #[serde(flatten)]
    pub alternatives: Alternatives,
    /// The place where the values are printed, such as `[Praptodiyono2019 Table
    /// 4]`.
    pub source: String,
}

/// Settings that exclude each other, such as interpretations of a text or rival
/// explanations.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Alternatives {
    /// The factors whose levels, in each combination, are the alternatives.
    #[serde(rename = "alternatives")]
    pub factors: Vec<String>,
    /// The alternatives that the source itself states: each listed factor has one of
    /// the listed levels. They alone decide the overall verdict.
    #[serde(serialize_with = "pairs")]
    pub stated: Vec<(String, Vec<Level>)>,
}

/// How far printed means are from those of further trials.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sampling {
    /// The number of trials of each mean.
    pub trials: u32,
    /// The standard deviation of single trials, in per cent of their mean.
    pub spread_percent: f64,
    /// Where that is from, one line: the study, or trials of ours.
    #[serde(rename = "spread_source")]
    pub source: String,
}

impl Sampling {
    /// The standard error of a change by `percent` between two such means, in points
    /// (delta method).
    pub fn standard_error(&self, percent: f64) -> f64 {
        let ratio = 1.0 + percent / 100.0;
        ratio.abs() * self.spread_percent * (2.0 / f64::from(self.trials)).sqrt()
    }
}

/// The distance at which figures without spread still count as equal.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Tolerance {
    /// The distance.
    #[serde(rename = "tolerance")]
    pub within: f64,
    /// The reason for it, one line.
    pub reason: String,
}

/// A claim of a study about one metric without a printed value: a direction or
/// a bound.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Assertion {
    /// The claim, in one line.
    pub text: String,
    /// The place where the claim is printed, such as `[Floyd1993 s1]`.
    pub source: String,
    /// The metric's name in reports.
    pub metric: String,
    /// The cells of the claim: each listed factor has one of the listed levels.
    #[serde(serialize_with = "pairs")]
    pub cells: Vec<(String, Vec<Level>)>,
    /// Interpretations of the text and other settings that exclude each other. The
    /// claim is judged for each of them.
    #[serde(flatten)]
    pub alternatives: Alternatives,
    /// The claimed relation.
    #[serde(flatten)]
    pub expected: Expected,
    /// Up to which distance figures without spread count as equal, in the
    /// metric's unit or, of changes in per cent, in points.
    #[serde(flatten)]
    pub tolerance: Option<Tolerance>,
}

/// A claimed relation of a mean, in the metric's unit.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Expected {
    /// The mean is at most this value.
    AtMost(f64),
    /// The mean is at least this value.
    AtLeast(f64),
    /// The mean differs from the mean of the cell with these levels and
    /// otherwise equal ones.
    #[serde(untagged)]
    Than {
        /// Whether the mean is higher than the other one; otherwise it is
        /// lower.
        #[serde(rename = "is", serialize_with = "side")]
        higher: bool,
        /// The levels of the other cell.
        than: Factors,
        /// The smallest difference. A negative value allows the mean to fall
        /// short of the other by that much.
        by: f64,
    },
    /// The mean changes by a percentage against the cell with these levels and
    /// otherwise equal ones.
    #[serde(untagged)]
    Changed {
        /// Whether the mean is higher than the other one; otherwise it is
        /// lower.
        #[serde(rename = "is", serialize_with = "side")]
        higher: bool,
        /// The levels of the other cell.
        than: Factors,
        /// The smallest change in per cent to that side; negative: it may be so much to
        /// the other side.
        #[serde(rename = "by_percent")]
        percent: f64,
        /// The settings for which the change must be that large.
        over: Over,
    },
}

/// Writes pairs as a table, in their order.
pub(crate) fn pairs<K: ToString, V: Serialize, S: Serializer>(
    pairs: &[(K, V)],
    to: S,
) -> Result<S::Ok, S::Error> {
    to.collect_map(pairs.iter().map(|(key, value)| (key.to_string(), value)))
}

/// Writes levels as a list of words.
fn words<S: Serializer>(levels: &[Level], to: S) -> Result<S::Ok, S::Error> {
    to.collect_seq(levels.iter().map(Level::to_string))
}

fn side<S: Serializer>(higher: &bool, to: S) -> Result<S::Ok, S::Error> {
    to.serialize_str(if *higher { "higher" } else { "lower" })
}

/// The settings for which a change must be as large as claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Over {
    /// All settings.
    Each,
    /// At least one setting ("up to").
    Any,
    /// The mean over the settings.
    Mean,
}

/// A setting that a study does not state.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Unstated {
    /// The setting's name, used as a factor name.
    pub name: String,
    /// The plausible values; a run uses the first.
    pub values: Vec<Level>,
    /// The reason why each value is plausible.
    pub reason: String,
}

/// A claim of a study about a message size at which the time of a message
/// jumps.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct StepClaim {
    /// The claim, in one line.
    pub text: String,
    /// The place where the claim is printed, such as `[Egan s5.1.1]`.
    pub source: String,
    /// The cells of the claim: each listed factor has one of the listed levels.
    #[serde(serialize_with = "pairs")]
    pub cells: Vec<(String, Vec<Level>)>,
    /// As [`Assertion::alternatives`].
    #[serde(flatten)]
    pub alternatives: Alternatives,
    /// The quantity that jumps.
    pub of: OfStep,
    /// The message size of the jump, in bytes.
    pub at: u32,
    /// The allowed distance from `at`, in bytes.
    pub within: u32,
    /// The direction of the jump.
    #[serde(rename = "is")]
    pub sign: Sign,
}

/// The quantity that a step changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OfStep {
    /// The mean time of a message.
    Time,
    /// The variance of the time within a trial.
    Variance,
}

/// The direction of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Sign {
    /// Larger messages take longer.
    Up,
    /// Larger messages take less time.
    Down,
    /// There is no step.
    None,
}

/// The name of a trial: the cell's position in the plan, and the repeat.
pub fn trial_id(cell: usize, repeat: u32) -> String {
    format!("{}-r{repeat:02}", cell_id(cell))
}

/// The name of a cell, the prefix of its trials' names: `c03`.
pub fn cell_id(cell: usize) -> String {
    format!("c{cell:02}")
}
