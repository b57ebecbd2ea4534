//! That the choice of passes biases nothing: intervals hold the true change, and equal
//! cells differ no more often than by chance. The decision on results on any machine has
//! the figures (docs/decisions/0067-a-result-on-any-machine.md).

use plan::synthetic::Normal;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

use super::*;
use crate::statistics::Change;

/// Runs of each design.
const RUNS: usize = 1_000;

/// The true change of a larger MTU, in per cent, and the goodput without it.
const CHANGE: f64 = 6.4;
const BASE: f64 = 930.0;

/// The spread of undisturbed values, relative to their mean.
const SPREAD: f64 = 0.02;

/// How other work changes the value of a pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Harm {
    /// Not at all: the machine was busy, and the value is independent of that.
    None,
    /// It takes any share up to half of the goodput.
    Slower,
    /// It halves goodput: values are in two heaps.
    Half,
}

/// A machine on which other work disturbs a pass with the probability `busy`.
struct Machine {
    noise: Normal,
    chance: ChaCha8Rng,
    busy: f64,
    harm: Harm,
}

impl Machine {
    fn new(seed: u64, busy: f64, harm: Harm) -> Self {
        Self {
            noise: Normal::new(seed),
            chance: ChaCha8Rng::seed_from_u64(seed ^ 0x5eed),
            busy,
            harm,
        }
    }

    fn uniform(&mut self) -> f64 {
        self.chance.random_range(0.0..1.0)
    }

    /// A trial of a cell with this mean.
    fn trial(&mut self, mtu: i64, repeat: u32, mean: f64) -> Trial {
        let value = self.noise.sample(1, mean, SPREAD * mean)[0];
        let is_disturbed = self.uniform() < self.busy;
        let lost = 0.5 * self.uniform();
        let value = match (is_disturbed, self.harm) {
            (false, _) | (true, Harm::None) => value,
            (true, Harm::Slower) => value * (1.0 - lost),
            (true, Harm::Half) => value / 2.0,
        };
        measured(mtu, repeat, value, is_disturbed)
    }

    /// A run of two cells with `n` trials each that differ by `percent`.
    fn run(&mut self, n: u32, percent: f64) -> Comparison {
        let plan = plan_of(&[1500, 9000], n);
        let mut trials = Vec::new();
        for repeat in 1..=n {
            trials.push(self.trial(1500, repeat, BASE));
            trials.push(self.trial(9000, repeat, BASE * (1.0 + percent / 100.0)));
        }
        compared(&plan, trials).remove(1)
    }
}

/// Of [`RUNS`] runs of `n` trials a cell whose result is approximate or not: the share in
/// per cent that fits `is_so`.
fn share(
    machine: &mut Machine,
    (n, is_approximate): (u32, bool),
    percent: f64,
    is_so: impl Fn(&Change) -> bool,
) -> f64 {
    let runs = std::iter::repeat_with(|| machine.run(n, percent));
    let runs = runs.filter(|row| row.is_approximate() == is_approximate);
    let fits = runs.take(RUNS).filter(|row| is_so(&row.change.unwrap()));
    100.0 * fits.count() as f64 / RUNS as f64
}

/// The shares in per cent of runs whose interval holds a true change, and of runs of equal
/// cells that find a difference.
fn shares(busy: f64, harm: Harm, kind: (u32, bool)) -> [f64; 2] {
    let mut machine = Machine::new(u64::from(kind.0), busy, harm);
    let holds = share(&mut machine, kind, CHANGE, |change| {
        change.ci95.is_some_and(|interval| interval.holds(CHANGE))
    });
    let differs = share(&mut machine, kind, 0.0, |change| {
        change.p.is_some_and(|p| p < 0.05)
    });
    [holds, differs]
}

/// Three standard errors of a share of 5 % of [`RUNS`], in per cent.
const ERROR: f64 = 2.1;

#[test]
fn intervals_of_undisturbed_trials_hold_the_change_in_95_of_100_runs() {
    // About 5, 10 and 20 undisturbed trials of each cell.
    for n in [10, 20, 40] {
        let harm = if n == 10 { Harm::None } else { Harm::Half };
        let [holds, differs] = shares(0.5, harm, (n, false));
        assert!((holds - 95.0).abs() < ERROR, "{n}: {holds}");
        assert!((differs - 5.0).abs() < ERROR, "{n}: {differs}");
    }
}

#[test]
fn approximate_intervals_hold_the_change_in_at_least_92_of_100_runs() {
    for harm in [Harm::Slower, Harm::Half] {
        for (n, busy) in [(5, 0.7), (10, 0.7), (20, 0.8)] {
            let [holds, differs] = shares(busy, harm, (n, true));
            let name = format!("{harm:?}, {n} trials, {busy}: {holds} {differs}");
            assert!(holds > 92.0, "{name}");
            assert!(differs < 5.0 + ERROR, "{name}");
        }
    }
}
