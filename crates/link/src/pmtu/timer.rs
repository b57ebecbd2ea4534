//! The time after which a probe counts as lost.

use units::Span;

use super::ProbeTimer;

/// The estimate of the round trip, as of retransmission timers [RFC6298 s2].
#[derive(Clone, Copy, Debug)]
pub struct RoundTrip {
    timer: ProbeTimer,
    /// Smoothed round trip and its variation, in picoseconds.
    smoothed: Option<(u64, u64)>,
}

impl RoundTrip {
    /// Without a round trip.
    pub const fn new(timer: ProbeTimer) -> Self {
        Self {
            timer,
            smoothed: None,
        }
    }

    /// A probe was acknowledged after `sample`.
    pub fn measured(&mut self, sample: Span) {
        let sample = sample.as_picos();
        self.smoothed = Some(match self.smoothed {
            None => (sample, sample / 2),
            Some((mean, variation)) => {
                let apart = mean.abs_diff(sample);
                (
                    mean - mean / 8 + sample / 8,
                    variation - variation / 4 + apart / 4,
                )
            }
        });
    }

    /// The time to wait for an answer.
    pub fn timeout(&self) -> Span {
        match (self.timer, self.smoothed) {
            (ProbeTimer::Fixed(span), _) => span,
            (ProbeTimer::FromRoundTrips { most, .. }, None) => most,
            (ProbeTimer::FromRoundTrips { least, most }, Some((mean, variation))) => {
                Span::from_picos(mean.saturating_add(variation.saturating_mul(4)))
                    .max(least)
                    .min(most)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_round_trip_waits_for_three_times_as_long() {
        let (least, most) = (Span::from_millis(10), Span::from_secs(1));
        let mut trip = RoundTrip::new(ProbeTimer::FromRoundTrips { least, most });
        assert_eq!(trip.timeout(), most);
        trip.measured(Span::from_millis(20));
        assert_eq!(trip.timeout(), Span::from_millis(60));
        for _ in 0..200 {
            trip.measured(Span::from_millis(1));
        }
        assert_eq!(trip.timeout(), least);
    }
}
