//! A plan: an experiment resolved into cells, each to be run so many times.

use std::collections::BTreeSet;

use units::Seed;

use crate::metric::Metric;
use crate::{Factors, LawFile, Level, Setting, Trial, Until, World};

/// A resolved experiment: what will be run, and what it will be held against.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The experiment's name.
    pub name: String,
    /// What it asks, one line.
    pub title: String,
    /// The key of its source in docs/sources.md, if it has one.
    pub source: Option<String>,
    /// The world that runs it.
    pub world: World,
    /// The cells in sweep order.
    pub cells: Vec<Cell>,
    /// How often each cell is run.
    pub repeat: u32,
    /// What ends the run before the last repeat, if anything.
    pub until: Option<Until>,
    /// The seed of everything random in the run.
    pub seed: Seed,
    /// What is compared with what.
    pub compare: Compare,
    /// Metrics that have tables and plots of their own, in this order; none:
    /// those of the study's tables.
    pub leading: Vec<String>,
    /// Metrics whose differences are reported run by run, as reports name them.
    pub paired: Vec<String>,
    /// Published figures to hold the results against.
    pub published: Vec<Published>,
    /// What a study asserts without a figure.
    pub claims: Vec<Assertion>,
    /// What is weighed against each other.
    pub tradeoffs: Vec<Tradeoff>,
    /// Figures of a study whose settings are looked for, if any are.
    pub ranking: Option<Ranking>,
    /// What a study asserts of sizes at which times jump.
    pub steps: Vec<StepClaim>,
    /// Settings that the source does not state.
    pub unstated: Vec<Unstated>,
    /// The resolved experiment as TOML; parses back to this plan.
    pub text: String,
    /// Eight hexadecimal digits over experiment, seeds, world and format.
    pub hash: String,
    /// Files of values that the text names; a run keeps them beside it.
    pub files: Vec<LawFile>,
}

impl Plan {
    /// How many trials it asks for at most: every repeat of each cell that its
    /// world can measure.
    pub fn expected_trials(&self) -> usize {
        let measured = self.cells.iter().filter(|cell| cell.setting.is_ok());
        measured.flat_map(|_| 1..=self.repeat).count()
    }

    /// How many of its trials are among `trials`, failed ones included.
    pub fn finished_trials(&self, trials: &[Trial]) -> usize {
        let name = |trial: &Trial| (trial.repeat, trial.factors.to_string());
        let held: BTreeSet<(u32, String)> = trials.iter().map(name).collect();
        let measured = self.cells.iter().filter(|cell| cell.setting.is_ok());
        measured
            .map(|cell| {
                let factors = cell.factors.to_string();
                let run = |&repeat: &u32| held.contains(&(repeat, factors.clone()));
                (1..=self.repeat).filter(run).count()
            })
            .sum()
    }

    /// Whether `metric` is one of those that a reader is shown first.
    pub fn leads(&self, metric: &Metric) -> bool {
        match self.leading.is_empty() {
            true => metric.table().is_some(),
            false => self.leading.iter().any(|name| name == metric.name),
        }
    }
}

/// One combination of the swept factors.
#[derive(Clone, Debug)]
pub struct Cell {
    /// The factors that tell it from the other cells.
    pub factors: Factors,
    /// What to do; `Err` says why this world cannot measure it, e.g.
    /// "needs a Windows host": the row is kept, with the published figures.
    pub setting: Result<Setting, String>,
}

/// The factor of interest and its baseline.
#[derive(Clone, Debug)]
pub struct Compare {
    /// The factor's name as in the sweep, e.g. `mtu`.
    pub factor: String,
    /// The level that changes are taken against, e.g. 1500.
    pub baseline: Level,
}

/// Figures printed by a study: one metric along the compared factor.
#[derive(Clone, Debug)]
pub struct Published {
    /// The metric, as reports name it, e.g. `throughput`.
    pub metric: String,
    /// The unit of `values`.
    pub unit: String,
    /// The factors these figures belong to, e.g. scenario = LU-LU. A cell
    /// matches if it has the same level wherever both name a factor.
    pub factors: Factors,
    /// Figures by level of the compared factor, where printed; sorted.
    pub values: Vec<(Level, f64)>,
    /// Changes against the baseline in per cent, decreases negative, where
    /// printed; sorted. Empty where the run compares with another baseline.
    pub changes: Vec<(Level, f64)>,
    /// The smallest change the study's instrument could resolve, in per cent,
    /// where that is known.
    pub resolution_percent: Option<f64>,
    /// Where it is printed, e.g. `[Praptodiyono2019 Table 4]`.
    pub source: String,
}

/// What a study asserts of one metric without printing a figure: which direction it
/// goes, or what bounds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Assertion {
    /// The assertion, one line.
    pub text: String,
    /// Where it is printed, e.g. `[Floyd1993 s1]`.
    pub source: String,
    /// The metric, as reports name it.
    pub metric: String,
    /// The cells that it is about have one of these levels of each of these
    /// factors.
    pub cells: Vec<(String, Vec<Level>)>,
    /// What is said of them.
    pub expected: Expected,
}

/// What is said of a mean, in the metric's unit.
#[derive(Clone, Debug, PartialEq)]
pub enum Expected {
    /// It differs from that of the cell that has these levels and else the same.
    Than {
        /// The levels of the other cell.
        than: Factors,
        /// Whether it is above the other one, not below.
        higher: bool,
        /// By how much at least; negative: it may fall short of the other by so
        /// much.
        by: f64,
    },
    /// It is changed by so many per cent against that of the cell that has
    /// these levels and else the same.
    Changed {
        /// The levels of the other cell.
        than: Factors,
        /// Whether it is above the other one, not below.
        higher: bool,
        /// By how many per cent at least, not negative.
        percent: f64,
        /// In which of the settings.
        over: Over,
    },
    /// It is no more than this.
    AtMost(f64),
    /// It is no less than this.
    AtLeast(f64),
}

/// In which of its settings a change is as large as claimed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Over {
    /// In each of them.
    Each,
    /// In one at least: "up to".
    Any,
    /// On average over them.
    Mean,
}

/// Two metrics in which settings may be preferable to others, or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tradeoff {
    /// The metrics, as reports name them: along the page, and up.
    pub metrics: [String; 2],
    /// The factors of which only cells with the same levels compete.
    pub within: Vec<String>,
}

/// Figures that a study prints of a setting that it does not tell whole. The
/// cells that have the baseline of the compared factor are ranked by how near
/// they come to them.
#[derive(Clone, Debug, PartialEq)]
pub struct Ranking {
    /// What the figures are of, one line.
    pub text: String,
    /// Where they are printed, e.g. `[Mulahuwaish s3.D]`.
    pub source: String,
    /// What the study may have counted, by name; empty: one counting without a name.
    pub countings: Vec<String>,
    /// The figures, at least one.
    pub figures: Vec<Target>,
}

/// A printed figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The metric of each counting, as reports name them; one where no
    /// counting has a name.
    pub metrics: Vec<String>,
    /// The unit of all of them.
    pub unit: &'static str,
    /// The figure.
    pub value: f64,
    /// What the study adds to it at another level of the compared factor: not
    /// 0. Distances are stated in gaps.
    pub gap: f64,
}

/// A setting that a study does not state.
#[derive(Clone, Debug, PartialEq)]
pub struct Unstated {
    /// Its name, as that of a factor.
    pub name: String,
    /// The admissible values; a run uses the first.
    pub values: Vec<Level>,
    /// Why each of them is admissible.
    pub because: String,
}

/// What a study asserts of a size at which the time of a message jumps.
#[derive(Clone, Debug, PartialEq)]
pub struct StepClaim {
    /// The assertion, one line.
    pub text: String,
    /// Where it is printed, e.g. `[Egan s5.1.1]`.
    pub source: String,
    /// The cells that it is about have one of these levels of each of these
    /// factors.
    pub cells: Vec<(String, Vec<Level>)>,
    /// What jumps.
    pub of: OfStep,
    /// The size, in octets.
    pub at: u32,
    /// How far from there it may be, in octets.
    pub within: u32,
    /// Where to.
    pub sign: Sign,
}

/// What a step is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfStep {
    /// The mean time of a message.
    Time,
    /// Its variance within a trial.
    Variance,
}

/// Where a step leads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It is longer with larger messages.
    Up,
    /// It is shorter.
    Down,
    /// There is no step.
    None,
}

/// The name of a trial: its cell's place in the plan, and which repeat.
pub fn trial_id(cell: usize, repeat: u32) -> String {
    format!("{}-r{repeat:02}", cell_id(cell))
}

/// The name of a cell, which its trials have before their own: `c03`.
pub fn cell_id(cell: usize) -> String {
    format!("c{cell:02}")
}
