//! The wire: one frame after the other, each for as long as its bits take.

use units::{Bytes, Rate, Span, Time};

/// Picoseconds in a second.
const PICOS: u128 = 1_000_000_000_000;

/// When the wire is free, exactly: what a whole picosecond cannot say is kept
/// for the next frame, so that many frames take as long as their bits.
#[derive(Debug)]
pub(super) struct Wire {
    rate: Option<Rate>,
    free_at: Time,
    /// Picoseconds times rate that the last frames took beyond `free_at`.
    remainder: u128,
}

impl Wire {
    pub(super) const fn new(rate: Option<Rate>) -> Self {
        Self {
            rate,
            free_at: Time::ZERO,
            remainder: 0,
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
            let rate = u128::from(rate.bits_per_second());
            let numerator = u128::from(size.get()) * 8 * PICOS + self.remainder;
            self.remainder = numerator % rate;
            let picos = u64::try_from(numerator / rate).unwrap_or(u64::MAX);
            self.free_at += Span::from_picos(picos);
        }
        self.free_at
    }
}
