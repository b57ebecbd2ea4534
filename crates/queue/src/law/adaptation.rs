//! RED's largest probability, adapted to keep the average half-way between the
//! thresholds.

use units::{Span, Time};

use super::{Curve, Profile};

/// The shortest time between two adaptations [Floyd2001 Fig 2].
const INTERVAL: Span = Span::from_millis(500);
/// The factor of a decrease [Floyd2001 Fig 2].
const DECREASE: f64 = 0.9;
/// The step of an increase, or a quarter of the probability if that is less
/// [Floyd2001 Fig 2].
const INCREASE: f64 = 0.01;
/// Its bounds [Floyd2001 Fig 2].
const BOTTOM: f64 = 0.01;
const TOP: f64 = 0.5;
/// The share of the way from min to max below and above which it moves: the
/// target is from 0.4 to 0.6 [Floyd2001 s4].
const MARGIN: f64 = 0.4;

/// Adaptive RED's rule [Floyd2001 s4].
#[derive(Clone, Debug, Default)]
pub struct Adaptation {
    /// The time of the latest adaptation or check.
    last: Time,
}

impl Adaptation {
    /// The largest probability of `curve` after the step at `now`, given the
    /// average queue `average`.
    ///
    /// The profile of ns-2 waits 0.5 s from the last change only, excludes that
    /// time, and may step a little over the bounds.
    pub fn adapt(&mut self, now: Time, average: f64, curve: &Curve, profile: Profile) -> f64 {
        let old = curve.max_probability;
        let next = self.last + INTERVAL;
        let early = match profile {
            Profile::Clean => now < next,
            Profile::Ns2 => now <= next,
        };
        if early {
            return old;
        }
        let margin = MARGIN * (curve.max - curve.min);
        let new = if average < curve.min + margin && old > BOTTOM {
            old * DECREASE
        } else if average > curve.max - margin && old < TOP {
            old + INCREASE.min(old / 4.0)
        } else {
            old
        };
        match profile {
            Profile::Clean => {
                self.last = now;
                // A probability that was set outside the bounds is not pulled in.
                new.clamp(BOTTOM.min(old), TOP.max(old))
            }
            Profile::Ns2 => {
                if new.to_bits() != old.to_bits() {
                    self.last = now;
                }
                new
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CURVE: Curve = Curve {
        min: 5.0,
        max: 15.0,
        max_probability: 0.1,
        gentle: true,
    };

    /// The largest probability after asking every 100 ms for 0.5 s each.
    fn after(moves: u64, average: f64, profile: Profile) -> f64 {
        let mut adaptation = Adaptation::default();
        let mut curve = CURVE;
        for tenth in 1..=5 * moves {
            // ns-2 looks after 0.5 s only, so its times lie a little late.
            let now = Time::ZERO + Span::from_millis(100) * tenth + Span::from_picos(tenth);
            curve.max_probability = adaptation.adapt(now, average, &curve, profile);
        }
        curve.max_probability
    }

    #[test]
    fn it_moves_once_in_half_a_second_by_the_published_steps() {
        for profile in [Profile::Clean, Profile::Ns2] {
            let mut low = 0.1;
            let mut high: f64 = 0.1;
            for moves in 1..=15 {
                low *= 0.9;
                high += 0.01_f64.min(high / 4.0);
                assert!((after(moves, 8.9, profile) / low - 1.0).abs() < 1e-12);
                assert!((after(moves, 11.1, profile) / high - 1.0).abs() < 1e-12);
                assert!((after(moves, 10.0, profile) - 0.1).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn it_stays_in_its_bounds() {
        assert!((after(200, 0.0, Profile::Clean) - 0.01).abs() < 1e-12);
        assert!((after(200, 30.0, Profile::Clean) - 0.5).abs() < 1e-12);
        let ns2 = after(200, 0.0, Profile::Ns2);
        assert!((0.009..0.01).contains(&ns2), "the last step goes below");
    }
}
