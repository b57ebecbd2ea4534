//! The serializer: one frame after the other, each for as long as its bits take.

use units::{Bytes, Rate, Span, Time};

/// Picoseconds in a second.
const PICOS: u128 = 1_000_000_000_000;

/// When the wire is free, exactly: what a whole picosecond cannot say is kept
/// for the next frame, so that many frames take as long as their bits.
#[derive(Debug)]
pub(super) struct Serializer {
    rate: Option<Rate>,
    free_at: Time,
    /// Picoseconds times rate that the last frames took beyond `free_at`.
    remainder: u64,
    latest: Taken,
}

/// What a frame takes from the wire. Most are as large as the one before, and
/// a division less for each of them counts.
#[derive(Clone, Copy, Debug, Default)]
struct Taken {
    size: Bytes,
    picos: u64,
    /// Picoseconds times rate beyond those.
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

    /// When the last frame has left.
    pub(super) const fn free_at(&self) -> Time {
        self.free_at
    }

    /// Puts `size` octets on the wire at `start`, when it is free; returns
    /// when the last of them has left.
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
