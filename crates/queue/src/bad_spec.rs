//! Disciplines that there cannot be, and why.

use units::{Bytes, Span};

use crate::Limit;
use crate::law::Curve;

/// A queue that there cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadSpec {
    /// It would hold nothing.
    #[error("a queue that holds nothing passes nothing; give it room for a packet")]
    Empty,
    /// It would hold no packet of the size that is usual.
    #[error("a buffer smaller than one packet holds none; give it room for one at least")]
    Small,
    /// A law that reckons with the link's rate, and a link without one.
    #[error("{0} reckons with the rate of its link; give the link a rate")]
    NoRate(&'static str),
    /// Thresholds that are no numbers from 0 on, or not in order.
    #[error("min must be a number from 0 on, and max a larger one; write two others")]
    Thresholds,
    /// A probability outside of 0 to 1.
    #[error("{0} is a probability; write a number from 0 to 1")]
    Probability(&'static str),
    /// A weight with which an average never moves, or is none.
    #[error(
        "weight is the share of one arrival; write a number above 0, at most 1, for instance 0.002"
    )]
    Weight,
    /// Bounds the wrong way round.
    #[error("the lower bound of a share is above the upper one; swap them")]
    Bounds,
    /// A law that decides packet by packet, and a pick that does not.
    #[error("RED as in ns-2 decides packet by packet; use rounding = each with it")]
    Rounding,
    /// A value that must be above 0.
    #[error("{0} must be more than 0; write a larger value")]
    Zero(&'static str),
    /// A time that is too short to be simulated in steps of it.
    #[error("{0} must be at least {1}; write a larger value")]
    Short(&'static str, Span),
    /// A value that must not be negative.
    #[error("{0} must be a number from 0 on; write another one")]
    Negative(&'static str),
    /// Classes of classes.
    #[error("a class of a priority queue cannot have classes itself; name another queue for it")]
    Nested,
    /// Thresholds in bytes, and another unit.
    #[error("bytes are a threshold only where unit = \"bytes\"; write it too")]
    Bytes,
    /// Bounds that are not kept.
    #[error(
        "only interpretation = \"letter\" keeps a share within bounds; write it too, or leave them out"
    )]
    IdleBounds,
    /// A share that no frame loses.
    #[error(
        "only interpretation = \"letter\" takes a share of frames; write it too, or leave it out"
    )]
    IdleShare,
    /// A reaction of sources that are not notified.
    #[error("only notified sources react; write notify = \"on\" too, or leave it out")]
    IdleReaction,
}

impl BadSpec {
    /// The key of the discipline that is at fault; `None`: what the link is.
    pub const fn key(self) -> Option<&'static str> {
        Some(match self {
            Self::Empty | Self::Small | Self::NoRate(_) => return None,
            Self::Thresholds | Self::Bytes => "max",
            Self::Weight => "weight",
            Self::Bounds | Self::IdleBounds => "bounds",
            Self::IdleShare => "share",
            Self::Rounding => "rounding",
            Self::Nested => "class_queue",
            Self::IdleReaction => "reaction",
            Self::Probability(name)
            | Self::Zero(name)
            | Self::Short(name, _)
            | Self::Negative(name) => name,
        })
    }

    pub(crate) fn check_limit(limit: Limit, packet: Bytes) -> Result<(), Self> {
        match limit {
            _ if limit.is_zero() => Err(Self::Empty),
            Limit::Bytes(most) if most < packet => Err(Self::Small),
            _ => Ok(()),
        }
    }

    pub(crate) fn check_curve(curve: &Curve) -> Result<(), Self> {
        let ordered = curve.min >= 0.0 && curve.min < curve.max && curve.max.is_finite();
        if !ordered {
            return Err(Self::Thresholds);
        }
        Self::check_probability("max_probability", curve.max_probability)
    }

    pub(crate) fn check_average(weight: f64, mean_size: Bytes) -> Result<(), Self> {
        if !(weight > 0.0 && weight <= 1.0) {
            return Err(Self::Weight);
        }
        if mean_size == Bytes::ZERO {
            return Err(Self::Zero("mean_size"));
        }
        Ok(())
    }

    pub(crate) fn check_probability(name: &'static str, value: f64) -> Result<(), Self> {
        if !(0.0..=1.0).contains(&value) {
            return Err(Self::Probability(name));
        }
        Ok(())
    }

    pub(crate) fn check_span(name: &'static str, span: Span) -> Result<(), Self> {
        if span == Span::ZERO {
            return Err(Self::Zero(name));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_names_the_key_at_fault_unless_the_link_is() {
        for (bad, key) in [
            (BadSpec::Empty, None),
            (BadSpec::Small, None),
            (BadSpec::NoRate("RED"), None),
            (BadSpec::Thresholds, Some("max")),
            (BadSpec::Bytes, Some("max")),
            (BadSpec::Weight, Some("weight")),
            (BadSpec::Bounds, Some("bounds")),
            (BadSpec::IdleBounds, Some("bounds")),
            (BadSpec::Rounding, Some("rounding")),
            (BadSpec::Nested, Some("class_queue")),
            (BadSpec::IdleReaction, Some("reaction")),
            (BadSpec::Probability("beta"), Some("beta")),
            (BadSpec::Zero("quantum"), Some("quantum")),
            (
                BadSpec::Short("update", Span::from_micros(10)),
                Some("update"),
            ),
            (BadSpec::Negative("alpha"), Some("alpha")),
        ] {
            assert_eq!(bad.key(), key, "{bad:?}");
        }
    }
}
