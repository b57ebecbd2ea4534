//! Rates in bits per second.

use crate::{Bytes, Span};

/// Picoseconds in a second.
const PICOS: u128 = 1_000_000_000_000;

/// A positive rate in bits per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(
    feature = "serde",
    derive(serde::Serialize, serde::Deserialize),
    serde(try_from = "u64", into = "u64")
)]
pub struct Rate(u64);

impl From<Rate> for u64 {
    fn from(rate: Rate) -> Self {
        rate.0
    }
}

impl TryFrom<u64> for Rate {
    type Error = &'static str;
    fn try_from(bits: u64) -> Result<Self, Self::Error> {
        Self::from_bits_per_second(bits).ok_or("a rate of zero sends nothing")
    }
}

impl Rate {
    /// A rate of `bits` per second, or `None` for zero, at which no frame would
    /// ever leave a link.
    pub const fn from_bits_per_second(bits: u64) -> Option<Self> {
        if bits == 0 { None } else { Some(Self(bits)) }
    }

    /// Bits per second.
    pub const fn bits_per_second(self) -> u64 {
        self.0
    }

    /// Whole bytes per second.
    pub const fn bytes_per_second(self) -> u64 {
        self.0 / 8
    }

    /// Megabits (10^6 bits) per second.
    pub const fn megabits_per_second(self) -> f64 {
        self.0 as f64 / 1e6
    }

    /// How long `size` takes to pass at this rate, rounded down to a whole
    /// picosecond. Saturates at [`Span`]'s 213 days.
    pub fn serialise(self, size: Bytes) -> Span {
        let picos = u128::from(size.get()) * 8 * PICOS / u128::from(self.0);
        Span::from_picos(u64::try_from(picos).unwrap_or(u64::MAX))
    }

    /// The bytes that pass at this rate within `span`, rounded down.
    pub fn carries(self, span: Span) -> Bytes {
        let bytes = u128::from(span.as_picos()) * u128::from(self.0) / 8 / PICOS;
        Bytes::new(u64::try_from(bytes).unwrap_or(u64::MAX))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_full_standard_frame_takes_12_304_ns_on_gigabit_ethernet() {
        let gigabit = Rate::from_bits_per_second(1_000_000_000).unwrap();
        assert_eq!(
            gigabit.serialise(Bytes::new(1538)),
            Span::from_nanos(12_304)
        );
    }

    #[test]
    fn a_rate_of_zero_is_rejected() {
        assert_eq!(Rate::from_bits_per_second(0), None);
    }

    proptest! {
        #[test]
        fn what_was_serialised_is_carried_to_within_an_byte(
            bits in 1_000u64..100_000_000_000, bytes in 0u64..10_000_000,
        ) {
            let rate = Rate::from_bits_per_second(bits).unwrap();
            let carried = rate.carries(rate.serialise(Bytes::new(bytes))).get();
            prop_assert!(carried <= bytes && bytes - carried <= 1);
        }
    }
}
