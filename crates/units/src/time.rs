//! Times and spans, in picoseconds.

use core::ops::{Add, AddAssign, Mul, Sub};

/// A time: picoseconds since the run began.
///
/// A `u64` of picoseconds lasts 213 days; a daemon rebases when idle.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
pub struct Time(u64);

/// A length of time in picoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(transparent)
)]
pub struct Span(u64);

impl Time {
    /// The time at which the run began.
    pub const ZERO: Self = Self(0);

    /// The time `picos` picoseconds after the run began.
    pub const fn from_picos(picos: u64) -> Self {
        Self(picos)
    }

    /// The time `nanos` nanoseconds after the run began.
    ///
    /// Saturates after 213 days.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos.saturating_mul(1_000))
    }

    /// Picoseconds since the run began.
    pub const fn as_picos(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds since the run began.
    pub const fn as_nanos(self) -> u64 {
        self.0 / 1_000
    }

    /// The span from `earlier` to `self`, or `None` if `earlier` is later:
    /// two clocks, or one that was stepped, can produce that.
    pub const fn since(self, earlier: Self) -> Option<Span> {
        match self.0.checked_sub(earlier.0) {
            Some(picos) => Some(Span(picos)),
            None => None,
        }
    }
}

impl Span {
    /// No time at all.
    pub const ZERO: Self = Self(0);

    /// A span of picoseconds.
    pub const fn from_picos(picos: u64) -> Self {
        Self(picos)
    }

    /// A span of nanoseconds; saturates after 213 days.
    pub const fn from_nanos(nanos: u64) -> Self {
        Self(nanos.saturating_mul(1_000))
    }

    /// A span of microseconds; saturates after 213 days.
    pub const fn from_micros(micros: u64) -> Self {
        Self(micros.saturating_mul(1_000_000))
    }

    /// A span of milliseconds; saturates after 213 days.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis.saturating_mul(1_000_000_000))
    }

    /// A span of seconds; saturates after 213 days.
    pub const fn from_secs(secs: u64) -> Self {
        Self(secs.saturating_mul(1_000_000_000_000))
    }

    /// Picoseconds.
    pub const fn as_picos(self) -> u64 {
        self.0
    }

    /// Whole nanoseconds.
    pub const fn as_nanos(self) -> u64 {
        self.0 / 1_000
    }

    /// Seconds, rounded to the nearest `f64`.
    pub const fn as_secs_f64(self) -> f64 {
        self.0 as f64 / 1e12
    }

    /// Microseconds, rounded to the nearest `f64`.
    pub const fn as_micros_f64(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// Milliseconds, rounded to the nearest `f64`.
    pub const fn as_millis_f64(self) -> f64 {
        self.0 as f64 / 1e9
    }
}

impl Add<Span> for Time {
    type Output = Self;
    fn add(self, span: Span) -> Self {
        Self(self.0.saturating_add(span.0))
    }
}

impl AddAssign<Span> for Time {
    fn add_assign(&mut self, span: Span) {
        *self = *self + span;
    }
}

impl Add for Span {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}

impl Mul<u64> for Span {
    type Output = Self;
    fn mul(self, count: u64) -> Self {
        Self(self.0.saturating_mul(count))
    }
}

impl AddAssign for Span {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl Sub for Span {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_earlier_instant_has_no_span_since_a_later_one() {
        let early = Time::from_nanos(5);
        let late = early + Span::from_picos(1);
        assert_eq!(late.since(early), Some(Span::from_picos(1)));
        assert_eq!(early.since(late), None);
    }
}
