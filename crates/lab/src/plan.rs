//! A plan: an experiment resolved into cells, each to be run so many times.

use std::fmt;
use std::str::FromStr;

use anyhow::{Error, bail};
use serde::{Deserialize, Serialize};
use units::Seed;

use crate::experiment::{LawFile, Setting};
use crate::metric::Metric;
use crate::until::Until;

/// Which world runs a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum World {
    /// Real kernels in network namespaces of this machine.
    #[default]
    Netns,
    /// A virtual network: a pure function of setting and seed.
    Sim,
}

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
    /// Metrics of which differences are told run by run, as reports name them.
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
    /// The resolved experiment as TOML; parses back to this plan.
    pub text: String,
    /// Eight hexadecimal digits over experiment, seeds, world and format.
    pub hash: String,
    /// Files of values that the text names; a run keeps them beside it.
    pub files: Vec<LawFile>,
}

impl Plan {
    /// Whether `metric` is one of those that a reader is shown first.
    pub fn leads(&self, metric: &Metric) -> bool {
        match self.leading.is_empty() {
            true => metric.primary,
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

/// What a study asserts of one metric without printing a figure: which way it
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
    /// The ways in which the study may have counted; empty: one, without a name.
    pub ways: Vec<String>,
    /// The figures, at least one.
    pub figures: Vec<Target>,
}

/// A printed figure.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// The metric of each way of counting, as reports name them; one where no
    /// ways have names.
    pub metrics: Vec<String>,
    /// The unit of all of them.
    pub unit: &'static str,
    /// The figure.
    pub value: f64,
    /// What the study adds to it at another level of the compared factor: not
    /// 0. Distances are told in gaps.
    pub gap: f64,
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
    pub way: Way,
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
pub enum Way {
    /// It is longer with larger messages.
    Up,
    /// It is shorter.
    Down,
    /// There is no step.
    None,
}

/// The factors of a cell, in sweep order. A level that is listed twice makes
/// two cells; the second has the extra factor `copy = 2`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Factors(pub Vec<(String, Level)>);

/// One value of a factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Level {
    /// A whole number, e.g. an MTU.
    Integer(i64),
    /// A number with a fraction.
    Float(f64),
    /// A word or a quantity, e.g. `1gbit`.
    Text(String),
}

impl FromStr for World {
    type Err = Error;
    fn from_str(name: &str) -> Result<Self, Error> {
        match name {
            "netns" => Ok(Self::Netns),
            "sim" => Ok(Self::Sim),
            "model" | "hosts" => {
                bail!("world `{name}` is not built yet (docs/roadmap.md); `netns` and `sim` are")
            }
            _ => bail!(
                "there is no world `{}`; there are: netns, sim; model and hosts are not built yet (docs/roadmap.md)",
                name.escape_debug()
            ),
        }
    }
}

impl fmt::Display for World {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Netns => f.write_str("netns"),
            Self::Sim => f.write_str("sim"),
        }
    }
}

impl Factors {
    /// The level of `factor`, if it is one of ours.
    pub fn level(&self, factor: &str) -> Option<&Level> {
        self.0
            .iter()
            .find(|(name, _)| name == factor)
            .map(|(_, level)| level)
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer(number) => number.fmt(f),
            Self::Float(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl fmt::Display for Factors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, (name, level)) in self.0.iter().enumerate() {
            write!(f, "{}{name}={level}", if position == 0 { "" } else { " " })?;
        }
        Ok(())
    }
}

impl Serialize for Factors {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|(name, level)| (name, level)))
    }
}

impl<'de> Deserialize<'de> for Factors {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct InOrder;
        impl<'de> serde::de::Visitor<'de> for InOrder {
            type Value = Factors;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a map of factors")
            }
            fn visit_map<A: serde::de::MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<Factors, A::Error> {
                let mut factors = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    factors.push(entry);
                }
                Ok(Factors(factors))
            }
        }
        deserializer.deserialize_map(InOrder)
    }
}
