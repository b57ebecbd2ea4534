//! Determines how the conclusions of a study depend on its unstated settings.
//!
//! Each unstated setting has a list of plausible values; a [`Point`] takes one
//! value of each, and all points together are the [`Space`]. A question is a
//! claim or a published change; at each point it has an [`Answer`].
//! [`search`] plans which points are run, and how often; [`shares`] says at how
//! many of them an answer holds, [`effects`] which settings decide that,
//! [`flip`] which two points with opposite answers differ least, and [`nearest`]
//! which point comes nearest to printed figures. Only [`questions`] knows plans
//! and trials; the others are functions of points and numbers. [`findings`] puts
//! all of it together.

mod design;
pub mod effects;
pub mod findings;
pub mod flips;
pub mod nearest;
pub mod questions;
pub mod search;
pub mod shares;
mod space;

use serde::Serialize;

pub use space::{Point, Space};

/// The answer to a question at one point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The claim holds, or the published change is reproduced.
    Holds,
    /// The claim fails, or the published change is not reproduced.
    Fails,
    /// The trials do not decide.
    Undecided,
}

impl Answer {
    /// The opposite of a decided answer.
    pub const fn opposite(self) -> Option<Self> {
        match self {
            Self::Holds => Some(Self::Fails),
            Self::Fails => Some(Self::Holds),
            Self::Undecided => None,
        }
    }

    /// The answer as a number for shares of variance: 1 if it holds, 0 if it
    /// fails, 0.5 if undecided.
    pub const fn score(self) -> f64 {
        match self {
            Self::Holds => 1.0,
            Self::Fails => 0.0,
            Self::Undecided => 0.5,
        }
    }
}
