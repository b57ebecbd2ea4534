//! PIE: proportional integral controller enhanced [RFC8033].

use units::{Bytes, Rate, Span, Time};

/// Below which probability the controller's step is divided by how much
/// [RFC8033 s4.2].
const SCALES: [(f64, f64); 6] = [
    (0.000_001, 2048.0),
    (0.000_01, 512.0),
    (0.000_1, 128.0),
    (0.001, 32.0),
    (0.01, 8.0),
    (0.1, 2.0),
];
/// From this probability on it rises by no more than [`LARGEST_STEP`] at once
/// [RFC8033 s5.5].
const STEEP: f64 = 0.1;
const LARGEST_STEP: f64 = 0.02;
/// The factor of the probability after a step without any delay
/// [RFC8033 s4.2].
const DECAY: f64 = 0.98;
/// Below this probability a short queue is not touched [RFC8033 s4.1].
const SAFE: f64 = 0.2;
/// Sums of probabilities below which nothing is dropped, and from which on
/// the next packet is [RFC8033 s5.4].
const TOO_SOON: f64 = 0.85;
const TOO_LATE: f64 = 8.5;

/// The steps of one call that are made one by one: at 15 ms those of four hours.
const EXACT_STEPS: u32 = 1_000_000;

/// The parameters of the controller.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PieGains {
    /// The delay that it aims at (QDELAY_REF).
    pub target: Span,
    /// How often it moves (T_UPDATE); longer than none.
    pub update: Span,
    /// For how long a burst passes unharmed (MAX_BURST).
    pub burst: Span,
    /// The weight of the distance from the target, 1/s.
    pub alpha: f64,
    /// The weight of the trend, 1/s.
    pub beta: f64,
    /// Whether drops are kept from clustering [RFC8033 s5.4].
    pub derandomise: bool,
}

/// PIE without a queue: a probability that moves every [`PieGains::update`],
/// counted from the beginning of time. It has no timer: steps that are due are
/// made when it is next asked, each with the queue as it was.
#[derive(Clone, Debug)]
pub struct Pie {
    gains: PieGains,
    rate: Rate,
    /// When the next step is due.
    next: Time,
    probability: f64,
    /// Seconds, at the latest step.
    old_delay: f64,
    burst_left: Span,
    accumulated: f64,
}

impl Pie {
    /// A controller at rest, in front of a link of `rate`.
    pub fn new(gains: PieGains, rate: Rate) -> Self {
        Self {
            gains,
            rate,
            next: Time::ZERO + gains.update,
            probability: 0.0,
            old_delay: 0.0,
            burst_left: gains.burst,
            accumulated: 0.0,
        }
    }

    /// The probability of a drop, from 0 to 1.
    pub const fn probability(&self) -> f64 {
        self.probability
    }

    /// Makes the steps that are due at `now`; `backlog` has waited since the
    /// last call and still does. The first [`EXACT_STEPS`] are made one by one.
    /// After them the backlog has long been the same, so that every step changes
    /// the probability alike, and those of one scale are made at once.
    pub fn advance(&mut self, now: Time, backlog: Bytes) {
        let mut exact = 0;
        while self.next <= now {
            let (probability, delay) = (self.probability, self.old_delay);
            let burst_left = self.burst_left;
            self.step(backlog);
            self.next += self.gains.update;
            exact += 1;
            let change = self.probability - probability;
            if (change == 0.0 && delay == self.old_delay) || exact > EXACT_STEPS {
                // The step into another scale changed it as in the scale before.
                let others = match scale(probability) == scale(self.probability) {
                    true => self.alike(change, burst_left).min(self.missed(now)),
                    false => 0,
                };
                self.probability = (self.probability + others as f64 * change).clamp(0.0, 1.0);
                if self.burst_left != burst_left {
                    self.burst_left = self.burst_left - self.gains.update * others;
                }
                self.next += self.gains.update * others;
            }
            // Time ends here.
            if self.next.as_picos() == u64::MAX {
                return;
            }
        }
    }

    /// The steps that are due at `now` and not made.
    fn missed(&self, now: Time) -> u64 {
        let update = self.gains.update.as_picos().max(1);
        now.since(self.next)
            .map_or(0, |rest| rest.as_picos() / update + 1)
    }

    /// How many more steps change the probability by `change`, as the latest did
    /// that began with `burst_left`: until its scale is another, or it is 0 or 1.
    fn alike(&self, change: f64, burst_left: Span) -> u64 {
        if change == 0.0 {
            // An unchanged burst is over, or begins anew with every step.
            return match self.burst_left == burst_left {
                true => u64::MAX,
                false => burst_left.as_picos() / self.gains.update.as_picos().max(1),
            };
        }
        let scales = SCALES.iter().map(|&(below, _)| below);
        let distance = scales
            .chain([0.0, 1.0])
            .map(|bound| (bound - self.probability) / change)
            .filter(|distance| *distance > 0.0);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "positive; whole steps, and at most the largest number of them"
        )]
        let steps = distance.fold(f64::INFINITY, f64::min) as u64;
        steps
    }

    /// Whether the packet that comes now is to be dropped or marked, with
    /// `backlog` before it; `mean_size` is that of packets, `draw` uniform in
    /// [0, 1). [`Pie::advance`] comes first.
    pub fn picks(&mut self, backlog: Bytes, mean_size: Bytes, draw: impl FnOnce() -> f64) -> bool {
        if self.burst_left > Span::ZERO {
            return false;
        }
        let calm = self.old_delay < self.gains.target.as_secs_f64() / 2.0;
        if calm && self.probability < SAFE || backlog <= mean_size * 2 {
            return false;
        }
        if self.gains.derandomise {
            if self.probability <= 0.0 {
                self.accumulated = 0.0;
            }
            self.accumulated += self.probability;
            if self.accumulated < TOO_SOON {
                return false;
            }
            if self.accumulated >= TOO_LATE {
                self.accumulated = 0.0;
                return true;
            }
        }
        if draw() < self.probability {
            self.accumulated = 0.0;
            return true;
        }
        false
    }

    /// There was no room: a drop like any other to what is accumulated.
    pub const fn full(&mut self) {
        self.accumulated = 0.0;
    }

    /// One step of the controller [RFC8033 s4.2, s4.4].
    fn step(&mut self, backlog: Bytes) {
        let delay = backlog.bits() as f64 / self.rate.bits_per_second() as f64;
        let target = self.gains.target.as_secs_f64();
        let step = self.gains.alpha * (delay - target) + self.gains.beta * (delay - self.old_delay);
        let mut step = step / scale(self.probability);
        if self.probability >= STEEP && step > LARGEST_STEP {
            step = LARGEST_STEP;
        }
        self.probability += step;
        if delay <= 0.0 && self.old_delay <= 0.0 {
            self.probability *= DECAY;
        }
        self.probability = self.probability.clamp(0.0, 1.0);
        self.burst_left = self.burst_left - self.gains.update;
        let calm = delay < target / 2.0 && self.old_delay < target / 2.0;
        if self.probability <= 0.0 && calm {
            self.burst_left = self.gains.burst;
        }
        self.old_delay = delay;
    }
}

/// The divisor of a step from this probability.
fn scale(probability: f64) -> f64 {
    let scale = SCALES.iter().find(|(below, _)| probability < *below);
    scale.map_or(1.0, |&(_, scale)| scale)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A target of 10 ms in front of a link of 8 Mbit/s: 10 000 bytes.
    fn pie(alpha: f64, beta: f64) -> Pie {
        let gains = PieGains {
            target: Span::from_millis(10),
            update: Span::from_millis(10),
            burst: Span::from_millis(100),
            alpha,
            beta,
            derandomise: false,
        };
        Pie::new(gains, Rate::from_bits_per_second(8_000_000).unwrap())
    }

    #[test]
    fn a_burst_is_allowed_again_after_two_delays_below_half_of_the_target() {
        // Half of the target is not below half of it [RFC8033 s4.2, s4.4].
        for first in [5_000, 7_000] {
            let mut pie = pie(0.125, 1.25);
            let left = [first, 4_000, 4_000].map(|bytes| {
                pie.step(Bytes::new(bytes));
                pie.burst_left
            });
            assert_eq!(left, [90, 80, 100].map(Span::from_millis));
        }
    }

    #[test]
    fn steps_that_are_made_at_once_change_scale_as_those_made_one_by_one() {
        let (mut exact, mut fast) = (pie(1e-5, 0.0), pie(1e-5, 0.0));
        let steps = 5 * u64::from(EXACT_STEPS) / 2;
        let backlog = Bytes::new(20_000);
        let after = |steps: u64| Time::ZERO + Span::from_millis(10) * steps;
        for part in 1..=5 {
            exact.advance(after(steps / 5 * part), backlog);
        }
        fast.advance(after(steps), backlog);
        let (exact, fast) = (exact.probability(), fast.probability());
        assert!(
            exact > 0.05 && (fast / exact - 1.0).abs() < 1e-3,
            "{fast} {exact}"
        );
    }
}
