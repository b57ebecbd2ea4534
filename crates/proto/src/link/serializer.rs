//! The serializer: transmits frames one after the other at the link's rate.

use units::{Bytes, Rate, Span, Time};

/// Picoseconds in a second.
const PICOS: u128 = 1_000_000_000_000;

/// The instant at which the wire is free. Fractions of picoseconds are carried over to
/// the next frame, so the total time of many frames is exact.
#[derive(Debug)]
pub(super) struct Serializer {
    rate: Option<Rate>,
    free_at: Time,
    /// The fraction beyond `free_at`, in picoseconds times the rate.
    remainder: u64,
    latest: Taken,
}

/// The transmission time of the latest size. Most frames have the same size as the one
/// before, and caching the result saves a division.
#[derive(Clone, Copy, Debug)]
struct Taken {
    size: Bytes,
    picos: u64,
    /// The fraction beyond the whole picoseconds, in picoseconds times the rate.
    remainder: u64,
    /// The fraction that is missing from the next whole picosecond, in the same unit.
    room: u64,
}

impl Serializer {
    pub(super) fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            free_at: Time::ZERO,
            remainder: 0,
            latest: Taken::NOTHING,
        }
    }

    /// The instant at which the last frame has left.
    pub(super) const fn free_at(&self) -> Time {
        self.free_at
    }

    /// Whether even a single octet takes a picosecond.
    pub(super) fn takes_time(&self) -> bool {
        let most = u64::try_from(8 * PICOS).unwrap_or(u64::MAX);
        self.rate.is_some_and(|rate| rate.bits_per_second() <= most)
    }

    /// Transmits as many octets as the time before, from `start`; `None` if the wire is
    /// not free then.
    #[inline(always)]
    pub(super) fn occupy_again(&mut self, start: Time) -> Option<Time> {
        if start < self.free_at {
            return None;
        }
        let carried = match start > self.free_at {
            true => 0,
            false => self.remainder,
        };
        Some(self.advance(start, carried))
    }

    /// Transmits `size` octets from `start`, when the wire is free. Returns the instant
    /// at which the last octet has left.
    pub(super) fn occupy(&mut self, start: Time, size: Bytes) -> Time {
        let carried = match start > self.free_at {
            true => 0,
            false => self.remainder,
        };
        if let Some(rate) = self.rate
            && self.latest.size != size
        {
            self.latest = Taken::by(size, rate);
        }
        self.advance(start, carried)
    }

    /// Adds the latest transmission time and the `carried` fraction to `start`.
    #[inline(always)]
    fn advance(&mut self, start: Time, carried: u64) -> Time {
        let Taken {
            mut picos,
            remainder,
            room,
            ..
        } = self.latest;
        if carried >= room {
            self.remainder = carried - room;
            picos = picos.saturating_add(1);
        } else {
            self.remainder = carried + remainder;
        }
        self.free_at = start + Span::from_picos(picos);
        self.free_at
    }
}

impl Taken {
    const NOTHING: Self = Self {
        size: Bytes::ZERO,
        picos: 0,
        remainder: 0,
        room: u64::MAX,
    };

    fn by(size: Bytes, rate: Rate) -> Self {
        let rate = rate.bits_per_second();
        let all = u128::from(size.get()) * 8 * PICOS;
        let (picos, remainder) = match u64::try_from(all) {
            Ok(all) => (all / rate, all % rate),
            // More than two megabytes.
            Err(_) => {
                let wide = u128::from(rate);
                let picos = u64::try_from(all / wide).unwrap_or(u64::MAX);
                let remainder = u64::try_from(all % wide);
                (picos, remainder.expect("less than the rate"))
            }
        };
        Self {
            size,
            picos,
            remainder,
            room: rate - remainder,
        }
    }
}
