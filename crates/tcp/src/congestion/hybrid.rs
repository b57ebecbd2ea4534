//! Early exit from slow start: HyStart [Ha2011].

use units::{Span, Time};

/// The smallest window, in segments, for which the tests run [Ha2011 s4].
const LEAST_WINDOW: f64 = 16.0;
/// The largest gap between acknowledgements of one train [Ha2011 s4].
const SPACING: Span = Span::from_millis(2);
/// Round trips that must be sampled in a round before their delay counts [Ha2011 s4].
const SAMPLES: u32 = 8;
/// Bounds of the delay increase that ends slow start; within them it is an eighth of
/// the minimum round-trip time [Ha2011 s4].
const DELAYS: (Span, Span) = (Span::from_millis(4), Span::from_millis(16));
/// The largest delay of an acknowledgement behind its segment [Linux].
const HOLD: Span = Span::from_millis(1);

/// Observations of one round of slow start.
#[derive(Clone, Debug, Default)]
pub(crate) struct Hybrid {
    /// The number whose acknowledgement ends the round.
    end: u64,
    begun: Time,
    /// The latest acknowledgement of the train.
    train: Time,
    shortest: Option<Span>,
    samples: u32,
}

impl Hybrid {
    /// Whether slow start should end with the acknowledgement of all numbers below
    /// `acknowledged` that arrived at `now` and whose segment took `trip`. `fresh` is
    /// the first number not sent yet, `shortest` the connection's minimum round-trip
    /// time.
    pub(crate) fn is_full(
        &mut self,
        now: Time,
        (acknowledged, fresh): (u64, u64),
        trip: Span,
        shortest: Span,
        window: f64,
    ) -> bool {
        if acknowledged > self.end {
            *self = Self {
                end: fresh,
                begun: now,
                train: now,
                shortest: None,
                samples: 0,
            };
        }
        if window < LEAST_WINDOW {
            return false;
        }
        // A train as long as the one-way delay fills the path.
        if now.since(self.train) <= Some(SPACING) {
            self.train = now;
            let longest = Span::from_picos((shortest + HOLD).as_picos() / 2);
            if now.since(self.begun) > Some(longest) {
                return true;
            }
        }
        let least = self.shortest.map_or(trip, |least| least.min(trip));
        self.shortest = Some(least);
        if self.samples < SAMPLES {
            self.samples += 1;
            return false;
        }
        let eighth = Span::from_picos(shortest.as_picos() / 8);
        least > shortest + eighth.clamp(DELAYS.0, DELAYS.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORTEST: Span = Span::from_millis(40);

    /// The end of slow start for acknowledgements with round trips of `trip`, one every
    /// `gap`, in milliseconds from the first one.
    fn ends(trip: Span, gap: Span, window: f64) -> Option<u64> {
        let mut hybrid = Hybrid::default();
        (0u64..60).find_map(|number| {
            let now = Time::ZERO + gap * number;
            let place = (1 + number, 1_000);
            let full = hybrid.is_full(now, place, trip, SHORTEST, window);
            full.then(|| (gap * number).as_nanos() / 1_000_000)
        })
    }

    #[test]
    fn a_train_as_long_as_one_way_ends_slow_start() {
        let ends = |gap, window| ends(SHORTEST, Span::from_micros(gap), window);
        assert_eq!(ends(1_000, 20.0), Some(21));
        assert_eq!(ends(2_100, 20.0), None);
        assert_eq!(ends(1_000, 15.0), None);
    }

    #[test]
    fn eight_round_trips_that_are_an_eighth_too_long_end_slow_start() {
        let apart = Span::from_millis(3);
        assert_eq!(ends(Span::from_millis(44), apart, 20.0), None);
        assert_eq!(ends(Span::from_millis(46), apart, 20.0), Some(24));
    }
}
