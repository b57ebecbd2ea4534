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
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    size: Bytes,
    picos: u64,
    /// The fraction beyond the whole picoseconds, in picoseconds times the rate.
    remainder: u64,
}

impl Serializer {
    pub(super) fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            free_at: Time::ZERO,
            remainder: 0,
            latest: Taken::default(),
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

    /// Transmits `size` octets from `start`, when the wire is free. Returns the instant
    /// at which the last octet has left.
    pub(super) fn occupy(&mut self, start: Time, size: Bytes) -> Time {
        if start > self.free_at {
            self.remainder = 0;
        }
        self.free_at = start;
        if let Some(rate) = self.rate {
            let rate = rate.bits_per_second();
            if self.latest.size != size {
                self.latest = Taken::by(size, rate);
            }
            let mut picos = self.latest.picos;
            // Both are less than the rate.
            let room = rate - self.latest.remainder;
            if self.remainder >= room {
                self.remainder -= room;
                picos = picos.saturating_add(1);
            } else {
                self.remainder += self.latest.remainder;
            }
            self.free_at += Span::from_picos(picos);
        }
        self.free_at
    }
}

impl Taken {
    fn by(size: Bytes, rate: u64) -> Self {
        let rate = u128::from(rate);
        let all = u128::from(size.get()) * 8 * PICOS;
        Self {
            size,
            picos: u64::try_from(all / rate).unwrap_or(u64::MAX),
            remainder: u64::try_from(all % rate).expect("less than the rate"),
        }
    }
}
