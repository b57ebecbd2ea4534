//! What a row finds.

use std::fmt;

use crate::compare::{Comparison, Difference, NotFound};

/// The change in per cent below which a row makes no difference, although it is beyond
/// chance.
const LEAST: f64 = 1.0;

/// The change in per cent that must have shown before a row says that there is none.
const WOULD_SHOW: f64 = 10.0;

/// What a row finds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finding {
    /// A change for the better, of at least [`LEAST`].
    MetricDirection,
    /// A change for the worse, of at least [`LEAST`].
    Worse,
    /// A smaller change; or none was found, and one of [`WOULD_SHOW`] would have shown.
    Same,
    /// Too few trials, or they vary too much.
    Undecided,
}

impl Finding {
    pub(super) fn of(comparison: &Comparison) -> Self {
        let percent = comparison.change.and_then(|change| change.percent);
        let is_small = percent.is_some_and(|percent| percent.abs() < LEAST);
        match (comparison.difference, comparison.not_found()) {
            (Some(Difference::Found), _) if is_small => Self::Same,
            (Some(Difference::Found), _) if comparison.improves() => Self::MetricDirection,
            (Some(Difference::Found), _) => Self::Worse,
            (Some(Difference::NotFound), Some(NotFound::Above(margin))) if margin <= WOULD_SHOW => {
                Self::Same
            }
            (Some(Difference::NotFound), Some(NotFound::Resolution(_))) if is_small => Self::Same,
            (Some(Difference::NotFound | Difference::Unknown) | None, _) => Self::Undecided,
        }
    }

    /// The finding of several rows about one place: what any of them finds, unless they
    /// contradict each other.
    pub fn together(all: &[Self]) -> Option<Self> {
        let any = |finding| all.contains(&finding);
        match (any(Self::MetricDirection), any(Self::Worse)) {
            (true, true) => None,
            (true, false) => Some(Self::MetricDirection),
            (false, true) => Some(Self::Worse),
            (false, false) if any(Self::Undecided) => Some(Self::Undecided),
            (false, false) => Some(Self::Same),
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MetricDirection => "better",
            Self::Worse => "worse",
            Self::Same => "same",
            Self::Undecided => "undecided",
        })
    }
}
