//! Congestion control: growth of the window, and its reduction on loss.

mod cubic;
mod hybrid;

use units::{Span, Time};

use super::{Control, Counting, Settings};
use cubic::Cubic;
pub(crate) use hybrid::Hybrid;

/// A congestion control algorithm; windows are in segments.
#[derive(Clone, Debug)]
pub(crate) struct Law {
    counting: Counting,
    /// Acknowledged segments since the window last grew by a whole segment, for laws
    /// that count them.
    credit: f64,
    kind: Kind,
}

#[derive(Clone, Debug)]
enum Kind {
    Reno,
    Cubic(Cubic),
}

/// Round-trip times measured by a sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Trips {
    /// Smoothed round-trip time.
    pub(crate) smooth: Span,
    /// Minimum round-trip time, if each round trip is timed.
    pub(crate) shortest: Option<Span>,
}

impl Law {
    pub(crate) const fn new(settings: &Settings) -> Self {
        Self {
            counting: settings.counting,
            credit: 0.0,
            kind: match settings.control {
                Control::Reno => Kind::Reno,
                Control::Cubic => Kind::Cubic(Cubic::new(false)),
                Control::LinuxCubic => Kind::Cubic(Cubic::new(true)),
            },
        }
    }

    /// The window after an acknowledgement of `acked` segments.
    pub(crate) fn grow(
        &mut self,
        now: Time,
        trips: Trips,
        window: f64,
        threshold: f64,
        acked: f64,
    ) -> f64 {
        let slow = match self.counting {
            _ if window >= threshold => 0.0,
            // One segment for each acknowledgement [RFC5681 s3.1].
            Counting::Acknowledgements => return window + acked.min(1.0),
            // As many as are acknowledged; those above the threshold count as
            // congestion avoidance [RFC3465 s2].
            Counting::Bytes => acked.min(threshold - window),
        };
        let (window, left) = (window + slow, acked - slow);
        if left <= 0.0 {
            return window;
        }
        let growth = match &mut self.kind {
            // [RFC5681 eq 3]
            Kind::Reno => 1.0 / window,
            Kind::Cubic(cubic) => cubic.grow(now, trips, window, left),
        };
        match (&self.kind, self.counting) {
            (Kind::Reno, Counting::Acknowledgements) => window + growth,
            (Kind::Cubic(_), Counting::Acknowledgements) => window + growth * left,
            (_, Counting::Bytes) => window + self.whole(growth, left),
        }
    }

    /// The whole segments by which the window grows for `left` acknowledged segments,
    /// each good for `growth` segments, together with the accumulated credit
    /// [RFC3465 s2.1].
    fn whole(&mut self, growth: f64, left: f64) -> f64 {
        // Credit that suffices at the current growth is worth one segment.
        let mut grown = 0.0;
        if self.credit * growth >= 1.0 {
            self.credit = 0.0;
            grown = 1.0;
        }
        self.credit += left;
        let more = libm::floor(self.credit * growth + 1e-9);
        if more > 0.0 {
            self.credit = (self.credit - more / growth).max(0.0);
        }
        grown + more
    }

    /// The threshold after a loss with `flight` segments outstanding: half of them, at
    /// least two [RFC5681 eq 4].
    pub(crate) fn reduce(&mut self, flight: f64) -> f64 {
        self.credit = 0.0;
        let threshold = match &mut self.kind {
            Kind::Reno => flight / 2.0,
            Kind::Cubic(cubic) => cubic.reduce(flight),
        };
        let threshold = match self.counting {
            Counting::Acknowledgements => threshold,
            Counting::Bytes => libm::floor(threshold),
        };
        threshold.max(2.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn law(counting: Counting) -> Law {
        Law::new(&Settings {
            counting,
            ..Settings::new(1_000)
        })
    }

    #[test]
    fn slow_start_doubles_a_round_trip_and_avoidance_adds_a_segment() {
        let mut law = law(Counting::Acknowledgements);
        let mut window = 10.0;
        for _ in 0..10 {
            window = law.grow(Time::ZERO, Trips::default(), window, 100.0, 1.0);
        }
        assert!((window - 20.0_f64).abs() < 1e-9);
        for _ in 0..20 {
            window = law.grow(Time::ZERO, Trips::default(), window, 10.0, 1.0);
        }
        assert!((window - 21.0).abs() < 0.03);
        assert!((law.reduce(21.0) - 10.5).abs() < 1e-9);
        assert!((law.reduce(1.0) - 2.0).abs() < 1e-9);
    }

    #[test]
    fn where_bytes_count_half_as_many_acknowledgements_do_the_same() {
        let mut law = law(Counting::Bytes);
        let mut window = 10.0;
        for _ in 0..5 {
            window = law.grow(Time::ZERO, Trips::default(), window, 100.0, 2.0);
        }
        assert!((window - 20.0_f64).abs() < 1e-9);
        for number in 1..=10 {
            assert!((window - 20.0).abs() < 1e-9, "{window} after {number}");
            window = law.grow(Time::ZERO, Trips::default(), window, 10.0, 2.0);
        }
        assert!((window - 21.0).abs() < 1e-9, "{window}");
        // The part of an acknowledgement beyond the threshold counts as avoidance.
        let window = law.grow(Time::ZERO, Trips::default(), 99.0, 100.0, 2.0);
        assert!((window - 100.0).abs() < 1e-9);
        assert!((law.credit - 1.0).abs() < 1e-9);
    }
}
