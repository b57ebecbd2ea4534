//! How the window grows, and what is left of it at a loss.

mod cubic;

use units::{Span, Time};

use super::Control;
use cubic::Cubic;

/// A law for the window, which it counts in segments.
#[derive(Clone, Debug)]
pub(crate) enum Law {
    Reno,
    Cubic(Cubic),
}

impl Law {
    pub(crate) fn new(control: Control) -> Self {
        match control {
            Control::Reno => Self::Reno,
            Control::Cubic => Self::Cubic(Cubic::new()),
        }
    }

    /// The window after an acknowledgement of `acked` segments.
    pub(crate) fn grow(
        &mut self,
        now: Time,
        round_trip: Span,
        window: f64,
        threshold: f64,
        acked: f64,
    ) -> f64 {
        // Slow start: a segment for each acknowledgement [RFC5681 s3.1].
        if window < threshold {
            return window + acked.min(1.0);
        }
        match self {
            // [RFC5681 eq 3]
            Self::Reno => window + 1.0 / window,
            Self::Cubic(cubic) => cubic.grow(now, round_trip, window, acked),
        }
    }

    /// The threshold after a loss that was found with `flight` segments
    /// outstanding: half of that, at least two [RFC5681 eq 4].
    pub(crate) fn reduce(&mut self, flight: f64) -> f64 {
        match self {
            Self::Reno => (flight / 2.0).max(2.0),
            Self::Cubic(cubic) => cubic.reduce(flight).max(2.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_start_doubles_a_round_trip_and_avoidance_adds_a_segment() {
        let mut law = Law::new(Control::Reno);
        let trip = Span::from_millis(100);
        let mut window = 10.0;
        for _ in 0..10 {
            window = law.grow(Time::ZERO, trip, window, 100.0, 1.0);
        }
        assert!((window - 20.0_f64).abs() < 1e-9);
        for _ in 0..20 {
            window = law.grow(Time::ZERO, trip, window, 10.0, 1.0);
        }
        assert!((window - 21.0).abs() < 0.03);
        assert!((law.reduce(21.0) - 10.5).abs() < 1e-9);
        assert!((law.reduce(1.0) - 2.0).abs() < 1e-9);
    }
}
