//! Spans as numbers of the unit that the name of their key states, for `serde(with = "..")`.

use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Span;

/// A [`Span`], or one that may not be known.
pub trait MaybeSpan: Copy + Into<Option<Span>> {
    /// The span; `None` if it must be known and is not.
    fn of(span: Option<Span>) -> Option<Self>;
}

impl MaybeSpan for Span {
    fn of(span: Option<Span>) -> Option<Self> {
        span
    }
}

impl MaybeSpan for Option<Span> {
    fn of(span: Option<Span>) -> Option<Self> {
        Some(span)
    }
}

/// Seconds; null if the span is not known.
pub mod seconds {
    use super::*;

    /// Writes a span.
    ///
    /// # Errors
    /// The serializer fails.
    pub fn serialize<S: Serializer>(span: &impl MaybeSpan, to: S) -> Result<S::Ok, S::Error> {
        let span: Option<Span> = (*span).into();
        span.map(Span::as_secs_f64).serialize(to)
    }

    /// Reads a span.
    ///
    /// # Errors
    /// It is no number, nor null where it may be unknown.
    pub fn deserialize<'de, D: Deserializer<'de>, T: MaybeSpan>(from: D) -> Result<T, D::Error> {
        let seconds = Option::<f64>::deserialize(from)?;
        let span = seconds.map(|seconds| nearest(seconds * 1e12));
        T::of(span).ok_or_else(|| D::Error::custom("a time is missing"))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
fn nearest(picos: f64) -> Span {
    Span::from_picos((picos + 0.5) as u64)
}
