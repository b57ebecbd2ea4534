//! The retransmission timer of ns-2.35, in whole ticks and scaled integers.

use units::{Span, Time};

use crate::Settings;

/// Fractional bits of the smoothed round-trip time and of its deviation [Ns2].
const TRIP_BITS: u32 = 3;
const DEVIATION_BITS: u32 = 2;
/// The deviation before the first sample, in seconds [Ns2].
const FIRST_DEVIATION: i64 = 12;

/// Estimator of the round-trip time in ticks, and the timeout derived from it.
#[derive(Clone, Debug)]
pub(crate) struct Ticks {
    tick: Span,
    phase: Span,
    shortest: Span,
    longest: Span,
    trip: i64,
    deviation: i64,
    timeout: Span,
    backoff: u64,
}

impl Ticks {
    pub(crate) fn new(settings: &Settings) -> Self {
        let second = Span::from_secs(FIRST_DEVIATION.unsigned_abs());
        let ticks = second.as_picos() / settings.tick.as_picos().max(1);
        Self {
            tick: settings.tick,
            phase: settings.phase,
            shortest: settings.min_rto,
            longest: settings.max_rto,
            trip: 0,
            deviation: signed(ticks) << DEVIATION_BITS,
            timeout: settings.initial_rto,
            backoff: 1,
        }
    }

    /// Adds the round trip of the segment sent at `sent`, counted in the ticks that end
    /// in it [Ns2].
    pub(crate) fn measure(&mut self, sent: Time, now: Time) {
        let tick = self.tick.as_picos().max(1);
        let into = (sent + self.phase).as_picos() % tick;
        let span = now.since(sent).unwrap_or_default().as_picos();
        let trip = signed((span + into) / tick).max(1);
        if self.trip == 0 {
            self.trip = trip << TRIP_BITS;
            self.deviation = trip << (DEVIATION_BITS - 1);
        } else {
            let error = trip - (self.trip >> TRIP_BITS);
            self.trip = (self.trip + error).max(1);
            let error = error.abs() - (self.deviation >> DEVIATION_BITS);
            self.deviation = (self.deviation + error).max(1);
        }
        let sum = (self.deviation << TRIP_BITS) + self.trip;
        self.timeout = self.tick * (sum >> TRIP_BITS).unsigned_abs();
    }

    /// The current timeout.
    pub(crate) fn timeout(&self) -> Span {
        let timeout = self.timeout.max(self.shortest) * self.backoff;
        timeout.min(self.longest).max(self.tick * 2)
    }

    /// Doubles the timeout; after more than three doublings the next sample replaces the
    /// estimate [Ns2].
    pub(crate) fn back_off(&mut self) {
        if self.backoff < 64 || self.timeout() < self.longest {
            self.backoff = self.backoff.saturating_mul(2);
        }
        if self.backoff > 8 {
            self.deviation += self.trip >> TRIP_BITS;
            self.trip = 0;
        }
    }

    pub(crate) const fn forgive(&mut self) {
        self.backoff = 1;
    }

    /// The smoothed round-trip time, once measured.
    pub(crate) fn round_trip(&self) -> Option<Span> {
        let ticks = (self.trip >> TRIP_BITS).unsigned_abs();
        (self.trip > 0).then(|| self.tick * ticks)
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
