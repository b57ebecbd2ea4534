//! Spans as numbers of the unit that the name of their key says, for `serde(with = "..")`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Span;

/// Microseconds; null if the span is not known.
pub mod micros {
    use super::*;

    /// Writes a [`Span`], or one that may not be known.
    ///
    /// # Errors
    /// The serializer fails.
    pub fn serialize<S: Serializer>(
        span: &(impl Copy + Into<Option<Span>>),
        to: S,
    ) -> Result<S::Ok, S::Error> {
        let span: Option<Span> = (*span).into();
        span.map(Span::as_micros_f64).serialize(to)
    }

    /// Reads a span that may not be known.
    ///
    /// # Errors
    /// It is neither a number nor null.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Span>, D::Error> {
        let micros = Option::<f64>::deserialize(from)?;
        Ok(micros.map(|micros| nearest(micros * 1e6)))
    }
}

/// Seconds.
pub mod seconds {
    use super::*;

    /// Writes a [`Span`].
    ///
    /// # Errors
    /// The serializer fails.
    pub fn serialize<S: Serializer>(span: &Span, to: S) -> Result<S::Ok, S::Error> {
        span.as_secs_f64().serialize(to)
    }

    /// Reads a span.
    ///
    /// # Errors
    /// It is no number.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Span, D::Error> {
        Ok(nearest(f64::deserialize(from)? * 1e12))
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
