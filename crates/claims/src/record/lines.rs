//! The lines of a record: verdicts, and shares of plausible settings.

use std::collections::BTreeMap;

use analysis::verdict::Verdict;
use plan::Level;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::measured::Measured;

/// One verdict.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Line {
    /// Of a claim in words.
    Claim(OfClaim),
    /// Of a claim about a step.
    Jump(OfJump),
    /// Of a published figure.
    Figure(OfFigure),
}

/// The verdict of a claim in words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfClaim {
    /// The text of the claim.
    pub claim: String,
    #[serde(with = "verdict")]
    pub verdict: Verdict,
    /// The number of settings in which it holds.
    pub holds: usize,
    /// The number of settings that it is about.
    pub settings: usize,
    /// The unit of the figures below.
    pub unit: String,
    /// The lowest figure of a setting: the difference, the change in per cent, or
    /// the mean that is compared with a bound.
    pub lowest: Option<Measured>,
    /// The highest one, if there are several settings.
    pub highest: Option<Measured>,
    /// The mean of the changes in per cent, where that is claimed.
    pub average: Option<Measured>,
    /// Alternatives that exclude each other; none where all settings are needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<OfAlternative>,
}

/// The verdict of one alternative.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfAlternative {
    /// The alternative in words.
    pub name: String,
    pub cell: BTreeMap<String, Level>,
    /// Whether the source states it; if it states none, all of them count.
    pub stated: bool,
    #[serde(with = "verdict")]
    pub verdict: Verdict,
    /// The number of settings in which the claim holds.
    pub holds: usize,
    /// The number of settings that it is about.
    pub settings: usize,
}

/// The verdict of a claim about a step.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfJump {
    /// The text of the claim.
    pub jump: String,
    /// The verdict of all curves together.
    #[serde(with = "verdict")]
    pub verdict: Verdict,
    /// The number of curves that agree with it.
    pub holds: usize,
    /// The number of curves that it is about.
    pub settings: usize,
    /// The figure of the first curve that decides the verdict.
    pub seen: String,
    /// Alternatives that exclude each other; none where all curves are needed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alternatives: Vec<OfAlternative>,
}

/// The verdict of a published figure in one cell.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OfFigure {
    pub metric: String,
    /// The unit of `mean` and `published`.
    pub unit: String,
    pub cell: BTreeMap<String, Level>,
    pub mean: Measured,
    /// The change against the baseline in per cent.
    pub change: Option<Measured>,
    /// The published value.
    pub published: Option<f64>,
    /// The published change in per cent.
    pub published_change: Option<f64>,
    #[serde(with = "verdict")]
    pub verdict: Verdict,
    pub reason: String,
    /// The alternative that the cell belongs to; none where all cells are needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<Named>,
}

/// An alternative of a published figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Named {
    /// The alternative in words.
    pub name: String,
    /// Whether the source states it; if it states none, all of them count.
    pub stated: bool,
}

/// In which share of the plausible settings something holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sensitivity {
    /// The text of the claim, of the claim about a step, or of the figure.
    pub question: String,
    /// The alternative in words, if it is one of several that exclude each other; the
    /// line without it is about any of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alternative: Option<String>,
    /// The metric, if it is a published change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub cell: BTreeMap<String, Level>,
    /// The share in per cent, with its interval.
    pub holds: Measured,
    /// The number of settings that were tried.
    pub settings: usize,
}

/// A verdict as its words.
mod verdict {
    use super::*;

    pub(super) fn serialize<S: Serializer>(verdict: &Verdict, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(verdict.as_str())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Verdict, D::Error> {
        let words = String::deserialize(from)?;
        let found = { Verdict::ALL.into_iter() }.find(|verdict| verdict.as_str() == words);
        found.ok_or_else(|| D::Error::custom(format!("there is no verdict {words:?}")))
    }
}
