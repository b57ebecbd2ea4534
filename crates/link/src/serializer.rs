//! The serializer: transmits frames one after the other at the link's rate.

use units::{Bytes, Rate, Span, Time};

/// Picoseconds in a second.
const PICOS: u128 = 1_000_000_000_000;

/// The time at which the wire is free.
#[derive(Debug)]
pub(super) struct Serializer {
    free_at: Time,
    /// The picoseconds that a byte takes, if that is a whole number, as at 100 Mbit/s;
    /// otherwise 0.
    byte: u64,
    /// The fractions that are carried over at other rates.
    fractions: Option<Box<Fractions>>,
}

/// Fractions of picoseconds, which are carried over to the next frame, so the total time
/// of many frames is exact.
#[derive(Debug)]
struct Fractions {
    rate: Rate,
    /// The fraction beyond the time at which the wire is free, in picoseconds times the
    /// rate.
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
        let byte = rate.map(|rate| (rate, Taken::by(Bytes::new(1), rate)));
        let (byte, fractions) = match byte {
            None => (0, None),
            Some((_, byte)) if byte.remainder == 0 => (byte.picos, None),
            Some((rate, latest)) => (
                0,
                Some(Box::new(Fractions {
                    rate,
                    remainder: 0,
                    latest,
                })),
            ),
        };
        Self {
            free_at: Time::ZERO,
            byte,
            fractions,
        }
    }

    /// The time at which the last frame has left.
    pub(super) const fn free_at(&self) -> Time {
        self.free_at
    }

    /// Whether even a single byte takes a picosecond.
    pub(super) fn takes_time(&self) -> bool {
        let picos = |fractions: &Fractions| Taken::by(Bytes::new(1), fractions.rate).picos;
        self.byte > 0 || self.fractions.as_deref().map_or(0, picos) > 0
    }

    /// Transmits `size` bytes from `start`, when the wire is free. Returns the time
    /// at which the last byte has left.
    #[inline(always)]
    pub(super) fn occupy(&mut self, start: Time, size: Bytes) -> Time {
        if self.fractions.is_some() {
            return self.occupy_in_fractions(start, size);
        }
        self.free_at = start + Span::from_picos(size.get().saturating_mul(self.byte));
        self.free_at
    }

    /// The same where bytes take fractions of picoseconds.
    #[inline(never)]
    fn occupy_in_fractions(&mut self, start: Time, size: Bytes) -> Time {
        let Some(fractions) = &mut self.fractions else {
            return start;
        };
        let carried = match start > self.free_at {
            true => 0,
            false => fractions.remainder,
        };
        if fractions.latest.size != size {
            fractions.latest = Taken::by(size, fractions.rate);
        }
        let Taken {
            mut picos,
            remainder,
            room,
            ..
        } = fractions.latest;
        if carried >= room {
            fractions.remainder = carried - room;
            picos = picos.saturating_add(1);
        } else {
            fractions.remainder = carried + remainder;
        }
        self.free_at = start + Span::from_picos(picos);
        self.free_at
    }
}

impl Taken {
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
