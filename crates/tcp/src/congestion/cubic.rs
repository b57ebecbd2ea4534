//! CUBIC [RFC9438].

use units::Time;

use super::Trips;

/// Segments per cubic second [RFC9438 s5.1].
const SCALE: f64 = 0.4;
/// The factor that reduces the window at a loss [RFC9438 s4.6].
const DECREASE: f64 = 0.7;

/// The minimum relative growth per round trip before the first loss in Linux [Linux].
const LEAST: f64 = 0.05;

/// The state of CUBIC; windows are in segments.
#[derive(Clone, Debug)]
pub(crate) struct Cubic {
    /// Whether to behave as Linux where it differs from the standard.
    linux: bool,
    /// The window at the last loss, or less with fast convergence.
    plateau: f64,
    /// The window just before the last loss.
    before: f64,
    /// The start of the current cubic function.
    epoch: Option<Time>,
    /// Seconds until the cubic is back at the plateau.
    until_plateau: f64,
    /// The window of a Reno flow at this time [RFC9438 s4.3].
    reno: f64,
}

impl Cubic {
    pub(crate) const fn new(linux: bool) -> Self {
        Self {
            linux,
            plateau: 0.0,
            before: 0.0,
            epoch: None,
            until_plateau: 0.0,
            reno: 0.0,
        }
    }

    /// The growth of the window per segment, for `acked` segments acknowledged in
    /// congestion avoidance.
    pub(crate) fn grow(&mut self, now: Time, trips: Trips, window: f64, acked: f64) -> f64 {
        let epoch = *self.epoch.get_or_insert_with(|| {
            // [RFC9438 eq 2]; beyond the plateau the cubic function starts at once.
            self.plateau = self.plateau.max(window);
            self.until_plateau = libm::cbrt((self.plateau - window) / SCALE);
            self.reno = window;
            now
        });
        let elapsed = now.since(epoch).unwrap_or_default().as_secs_f64();
        // The growth per segment that is fair to Reno, which halves its window
        // [RFC9438 s4.3].
        let alpha = match self.linux || self.reno < self.before {
            true => 3.0 * (1.0 - DECREASE) / (1.0 + DECREASE),
            false => 1.0,
        };
        self.reno += alpha * acked / window;
        if self.at(elapsed) < self.reno && !self.linux {
            return (self.reno - window).max(0.0) / acked;
        }
        let ahead = match self.linux {
            true => trips.shortest.unwrap_or(trips.smooth),
            false => trips.smooth,
        };
        // [RFC9438 s4.4]
        let mut target = self.at(elapsed + ahead.as_secs_f64());
        if self.linux {
            target = target.max(self.reno);
            if self.before <= 0.0 {
                target = target.max(window * (1.0 + LEAST));
            }
        }
        let target = target.clamp(window, 1.5 * window);
        (target - window) / window
    }

    /// The threshold after a loss at a window of `flight` segments, with fast
    /// convergence [RFC9438 s4.6] [RFC9438 s4.7].
    pub(crate) fn reduce(&mut self, flight: f64) -> f64 {
        self.plateau = match flight < self.plateau {
            true => flight * (1.0 + DECREASE) / 2.0,
            false => flight,
        };
        self.before = flight;
        self.epoch = None;
        flight * DECREASE
    }

    /// The cubic window at `seconds` into the epoch [RFC9438 eq 1].
    fn at(&self, seconds: f64) -> f64 {
        SCALE * (seconds - self.until_plateau).powi(3) + self.plateau
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    #[test]
    fn the_window_is_back_at_the_plateau_after_the_cube_root() {
        let mut cubic = Cubic::new(false);
        let mut window = cubic.reduce(1_000.0);
        assert!((window - 700.0).abs() < 1e-9);
        // K = cbrt(1000 (1 - 0.7) / 0.4) = 9.0856 s.
        let trip = Span::from_millis(100);
        let trips = Trips {
            smooth: trip,
            shortest: None,
        };
        for round in 0..91u64 {
            let now = Time::ZERO + trip * round;
            for _ in 0..10 {
                let acked = window / 10.0;
                window += cubic.grow(now, trips, window, acked) * acked;
            }
        }
        assert!((window - 1_000.0).abs() < 1.0, "{window}");
    }

    #[test]
    fn a_second_loss_below_the_plateau_lowers_it_further() {
        let mut cubic = Cubic::new(false);
        cubic.reduce(100.0);
        cubic.reduce(80.0);
        assert!((cubic.plateau - 68.0).abs() < 1e-9);
    }

    #[test]
    fn a_small_window_grows_as_that_of_a_reno_flow_which_loses_as_often() {
        // alpha = 3 (1 - 0.7) / (1 + 0.7) = 9/17 a round trip [RFC9438 s4.3].
        let mut cubic = Cubic::new(false);
        let window = cubic.reduce(10.0);
        let trips = Trips {
            smooth: Span::from_millis(1),
            shortest: None,
        };
        let grown = cubic.grow(Time::ZERO, trips, window, 2.0);
        assert!((grown - 9.0 / 17.0 / 7.0).abs() < 1e-12, "{grown}");
    }
}
