//! Timestamps of test packets, and how good they are.

use crate::{Error, Field};
use units::Span;

/// Seconds from 1900, where NTP counts from, until 1970 [RFC5905 s6].
const UNIX_IN_NTP: u64 = 2_208_988_800;

const NANOS: u64 = 1_000_000_000;

/// A timestamp as its eight bytes; [`ErrorEstimate::format`] says what they mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamp(pub u64);

/// The format of a timestamp [RFC8186].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Format {
    /// Seconds since 1900 and a binary fraction of 32 bits each [RFC5905 s6].
    #[default]
    Ntp,
    /// Seconds since 1970 and nanoseconds, 32 bits each; the time scale is TAI, whose
    /// offset from UTC is not applied here.
    Ptp,
}

impl Timestamp {
    /// The timestamp, in the format of NTP, of a time in nanoseconds since 1970 UTC.
    pub const fn ntp(unix_nanos: u64) -> Self {
        // The number of seconds is that of its era: it wraps in 2036 [RFC5905 s6].
        let seconds = (unix_nanos / NANOS).wrapping_add(UNIX_IN_NTP);
        let fraction = ((unix_nanos % NANOS) << 32) / NANOS;
        Self(seconds << 32 | fraction)
    }

    /// The time in nanoseconds since 1970, rounded to the next: between 1970 and 2106.
    pub const fn unix_nanos(self, format: Format) -> u64 {
        let (seconds, fraction) = (self.0 >> 32, self.0 & 0xffff_ffff);
        match format {
            Format::Ntp => {
                let seconds = seconds.wrapping_sub(UNIX_IN_NTP) & 0xffff_ffff;
                seconds * NANOS + (((fraction * NANOS) + (1 << 31)) >> 32)
            }
            Format::Ptp => seconds * NANOS + fraction,
        }
    }
}

/// The quality of timestamps [RFC4656 s4.1.2] [RFC8186]: the error is at most
/// `multiplier * 2^scale` units of 2^-32 seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ErrorEstimate {
    /// Whether the clock is synchronised to UTC by an external source.
    pub synchronised: bool,
    /// The format of the timestamps.
    pub format: Format,
    scale: u8,
    multiplier: u8,
}

mod bit {
    pub(super) const SYNCHRONISED: u8 = 0x80;
    pub(super) const PTP: u8 = 0x40;
    pub(super) const SCALE: u8 = 0x3f;
}

impl ErrorEstimate {
    /// The smallest estimate, of timestamps in the format of NTP, that is not below
    /// `error`.
    pub fn new(error: Span, synchronised: bool) -> Self {
        let nanos = u128::from(error.as_picos().div_ceil(1_000));
        let mut units = (nanos << 32).div_ceil(NANOS.into()).max(1);
        let mut scale = 0;
        while units > u8::MAX.into() {
            units = units.div_ceil(2);
            scale += 1;
        }
        Self {
            synchronised,
            format: Format::Ntp,
            scale,
            multiplier: u8::try_from(units).unwrap_or(u8::MAX),
        }
    }

    /// The error in nanoseconds, rounded down.
    pub fn nanos(&self) -> u64 {
        let units = u128::from(self.multiplier) << self.scale;
        u64::try_from((units * u128::from(NANOS)) >> 32).unwrap_or(u64::MAX)
    }

    /// Reads the field. A multiplier of zero marks a corrupt packet [RFC4656 s4.1.2].
    pub(super) const fn parse([bits, multiplier]: [u8; 2]) -> Result<Self, Error> {
        if multiplier == 0 {
            return Err(Error::Malformed(Field::ErrorEstimate));
        }
        Ok(Self {
            synchronised: bits & bit::SYNCHRONISED != 0,
            format: if bits & bit::PTP == 0 {
                Format::Ntp
            } else {
                Format::Ptp
            },
            scale: bits & bit::SCALE,
            multiplier,
        })
    }

    pub(super) const fn bytes(self) -> [u8; 2] {
        let synchronised = if self.synchronised {
            bit::SYNCHRONISED
        } else {
            0
        };
        let format = match self.format {
            Format::Ntp => 0,
            Format::Ptp => bit::PTP,
        };
        [synchronised | format | self.scale, self.multiplier]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_those_of_the_standards() {
        // 2000-01-01 00:00:00.5 UTC: NTP has 3 155 673 600 s [RFC5905 Fig 4].
        let millennium = 946_684_800 * NANOS + NANOS / 2;
        let ntp = Timestamp::ntp(millennium);
        assert_eq!(ntp.0, 3_155_673_600 << 32 | 1 << 31);
        assert_eq!(ntp.unix_nanos(Format::Ntp), millennium);
        let ptp = Timestamp(946_684_800 << 32 | 500_000_000);
        assert_eq!(ptp.unix_nanos(Format::Ptp), millennium);
        // The era of NTP ends on 2036-02-07 at 06:28:16 UTC.
        let era = 2_085_978_496 * NANOS;
        assert_eq!(Timestamp::ntp(era).0, 0);
        for nanos in [0, 1, 999_999_999, era - 1, era, era + 123_456_789] {
            assert_eq!(Timestamp::ntp(nanos).unix_nanos(Format::Ntp), nanos);
        }
        // No bytes overflow.
        for bytes in [0, u64::MAX] {
            for format in [Format::Ntp, Format::Ptp] {
                assert!(Timestamp(bytes).unix_nanos(format) < 5_000_000_000 * NANOS);
            }
        }
    }

    #[test]
    fn an_error_estimate_is_not_below_the_error() {
        for nanos in [
            0,
            1,
            1_000,
            59_605,
            1_000_000,
            1_000_000_000,
            u64::MAX / 2_000,
        ] {
            let error = Span::from_nanos(nanos);
            let estimate = ErrorEstimate::new(error, false);
            assert!(estimate.nanos() >= nanos, "{nanos}: {estimate:?}");
            // The multiplier has eight bits, so the estimate is close.
            assert!(
                estimate.nanos() <= nanos + nanos / 100 + 1,
                "{nanos}: {estimate:?}"
            );
            assert_eq!(ErrorEstimate::parse(estimate.bytes()), Ok(estimate));
        }
    }
}
