//! The retransmission timer of the standard [RFC6298].

mod ticks;

use units::{Span, Time};

use super::Settings;
pub(crate) use ticks::Ticks;

/// Estimator of the round-trip time, and the timeout derived from it.
#[derive(Clone, Debug)]
pub(crate) struct Estimator {
    grain: f64,
    shortest: Span,
    longest: Span,
    /// Smoothed round-trip time and its deviation, in seconds.
    seen: Option<(f64, f64)>,
    timeout: Span,
}

impl Estimator {
    pub(crate) fn new(settings: &Settings) -> Self {
        Self {
            grain: settings.tick.as_secs_f64(),
            shortest: settings.min_rto,
            longest: settings.max_rto,
            seen: None,
            timeout: settings.initial_rto,
        }
    }

    /// Adds a round-trip sample [RFC6298 s2], which also ends the back-off.
    pub(crate) fn measure(&mut self, sent: Time, now: Time) {
        let trip = now.since(sent).unwrap_or_default().as_secs_f64();
        let (smooth, deviation) = match self.seen {
            None => (trip, trip / 2.0),
            Some((smooth, deviation)) => (
                0.875 * smooth + 0.125 * trip,
                0.75 * deviation + 0.25 * (smooth - trip).abs(),
            ),
        };
        self.seen = Some((smooth, deviation));
        let timeout = span(smooth + self.grain.max(4.0 * deviation));
        self.timeout = timeout.clamp(self.shortest, self.longest.max(self.shortest));
    }

    /// The current timeout.
    pub(crate) const fn timeout(&self) -> Span {
        self.timeout
    }

    /// Doubles the timeout [RFC6298 s5.5].
    pub(crate) fn back_off(&mut self) {
        self.timeout = (self.timeout * 2).min(self.longest);
    }

    /// The smoothed round-trip time, once measured.
    pub(crate) fn round_trip(&self) -> Option<Span> {
        self.seen.map(|(smooth, _)| span(smooth))
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and saturates"
)]
fn span(seconds: f64) -> Span {
    Span::from_picos((seconds * 1e12) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(millis: &[u64], settings: &Settings) -> Span {
        let mut estimator = Estimator::new(settings);
        let start = Time::from_nanos(0);
        for trip in millis {
            estimator.measure(start, start + Span::from_millis(*trip));
        }
        estimator.timeout()
    }

    #[test]
    fn a_time_out_is_the_smoothed_trip_and_four_deviations_within_its_bounds() {
        let short = Settings {
            min_rto: Span::from_millis(1),
            ..Settings::new(1_000)
        };
        assert_eq!(after(&[], &short), Span::from_secs(1));
        assert_eq!(after(&[100], &short), Span::from_millis(300));
        let near = after(&[100, 200], &short).as_secs_f64();
        assert!((near - (0.1125 + 4.0 * 0.0625)).abs() < 1e-9, "{near}");
        assert_eq!(after(&[100], &Settings::new(1_000)), Span::from_secs(1));
    }

    #[test]
    fn each_time_out_doubles_the_next_up_to_the_longest() {
        let mut estimator = Estimator::new(&Settings::new(1_000));
        for seconds in [1, 2, 4, 8, 16, 32, 60, 60] {
            assert_eq!(estimator.timeout(), Span::from_secs(seconds));
            estimator.back_off();
        }
    }

    #[test]
    fn ns2s_timer_counts_whole_ticks() {
        let settings = Settings::ns2(super::super::Recovery::Reno, 1_460, 20);
        let mut ticks = Ticks::new(&settings);
        assert_eq!(ticks.timeout(), Span::from_secs(3));
        ticks.measure(Time::from_nanos(0), Time::from_nanos(105_000_000));
        assert_eq!(ticks.round_trip(), Some(Span::from_millis(100)));
        assert_eq!(ticks.timeout(), Span::from_millis(300));
        ticks.back_off();
        assert_eq!(ticks.timeout(), Span::from_millis(600));
        ticks.forgive();
        assert_eq!(ticks.timeout(), Span::from_millis(300));
        // An eighth of the error of 10 ticks, and a quarter of what it exceeds
        // the deviation of 5 ticks by: 11.25 ticks, and 4 times 6.25 of deviation.
        ticks.measure(Time::from_nanos(0), Time::from_nanos(200_000_000));
        assert_eq!(ticks.round_trip(), Some(Span::from_millis(110)));
        assert_eq!(ticks.timeout(), Span::from_millis(360));
    }
}
