//! The closed loop compared with ns-2.35 itself [Ns2], in settings without recordings:
//! Debian's package `ns2` runs the script beside this file.
//!
//! Both sides run forty seeds with the same starts of flows. The test compares means
//! over seeds of the packets that the bottleneck dropped, carried and held in each
//! half. They may differ by half a standard deviation and two standard errors of the
//! difference.

#[path = "../tcp/dumbbell.rs"]
mod dumbbell;

use std::process::Command;
use std::time::Duration;

use jumbolab_sim::{Location, Loss, Seen, Tracer};
use link::QueueState;
use queue::{Limit, RedSettings, Spec, Unit, Victim};
use tcp::Recovery;
use units::{Bytes, Seed, Span, Time};

use dumbbell::{BOTTLENECK, Dumbbell};

const SEEDS: u64 = 40;
/// Seconds per half, and bits per second of the bottleneck.
const HALF: f64 = 25.0;
const RATE: u64 = 1_500_000;
/// The statistics of each half.
const STATISTICS: [&str; 3] = ["dropped, %", "carried, bit/s", "waiting"];

/// The statistics of both halves of a run.
type Statistics = [[f64; 3]; 2];

/// The events at the bottleneck, by halves.
#[derive(Default)]
struct Bottleneck {
    arrivals: [f64; 2],
    drops: [f64; 2],
    bits: [f64; 2],
    /// Packets times seconds.
    waited: [f64; 2],
}

impl Bottleneck {
    /// One packet more, or one less, waits from `at` on. Returns the half, unless the
    /// run is over.
    fn step(&mut self, at: Time, by: f64) -> Option<usize> {
        let at = at.since(Time::ZERO).unwrap_or_default().as_secs_f64();
        self.waited[0] += by * (HALF - at).max(0.0);
        self.waited[1] += by * (2.0 * HALF - at.max(HALF)).max(0.0);
        (at < 2.0 * HALF).then(|| usize::from(at >= HALF))
    }

    fn statistics(&self) -> Statistics {
        [0, 1].map(|half| {
            [
                100.0 * self.drops[half] / self.arrivals[half],
                self.bits[half] / HALF,
                self.waited[half] / HALF,
            ]
        })
    }
}

impl Tracer for Bottleneck {
    fn queued(&mut self, at: Time, link: (usize, usize), _: Seen, _: QueueState) {
        if link == BOTTLENECK
            && let Some(half) = self.step(at, 1.0)
        {
            self.arrivals[half] += 1.0;
        }
    }

    fn sent(&mut self, begins: Time, _: Time, link: (usize, usize), packet: Seen, _: Span) {
        if link == BOTTLENECK
            && let Some(half) = self.step(begins, -1.0)
        {
            self.bits[half] += packet.size.bits() as f64;
        }
    }

    fn lost(&mut self, at: Time, location: Location, _: Seen, _: Loss) {
        if location == Location::Direction(BOTTLENECK.0, BOTTLENECK.1)
            && let Some(half) = self.step(at, -1.0)
        {
            self.drops[half] += 1.0;
        }
    }
}

/// Runs ns-2 with `words`. Returns the starts of flows in seconds, and the statistics.
fn theirs(seed: u64, words: &str) -> (Vec<f64>, Statistics) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers/dumbbell.tcl");
    let output = Command::new("ns")
        .args([script, "seed", &seed.to_string()])
        .args(words.split_whitespace())
        .output()
        .expect("ns-2 runs; if it is missing, type: apt-get install ns2");
    let text = String::from_utf8(output.stdout).unwrap();
    let line = |line: &str| -> Vec<f64> {
        let words = line.split_whitespace();
        words.map(|word| word.parse().unwrap()).collect()
    };
    let lines: Vec<Vec<f64>> = text.lines().map(line).collect();
    assert_eq!(
        lines.len(),
        3,
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let half = |half: &[f64]| half.try_into().unwrap();
    (lines[0].clone(), [half(&lines[1]), half(&lines[2])])
}

/// Runs this engine with the same starts of flows.
fn ours(seed: u64, starts: &[f64], dumbbell: &Dumbbell) -> Statistics {
    let seed = Seed::new(seed);
    let flow = |(number, start): (u32, &f64)| {
        let phase = seed.derive(&format!("phase/{number}")).get() % 10_000_000_000;
        let start = Duration::from_secs_f64(*start).as_nanos();
        let start = Span::from_nanos(start.try_into().unwrap());
        (Time::ZERO + start, Span::from_picos(phase))
    };
    let dumbbell = Dumbbell {
        flows: (0..).zip(starts).map(flow).collect(),
        seed,
        ..dumbbell.clone()
    };
    let mut seen = Bottleneck::default();
    let scenario = dumbbell.scenario();
    scenario.check().expect("it is sound").run_traced(&mut seen);
    seen.statistics()
}

/// The mean and the standard deviation.
fn mean(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count = SEEDS as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}

/// Compares forty runs of ns-2 with `words` with forty runs of `dumbbell`.
#[track_caller]
fn agrees(words: &str, dumbbell: &Dumbbell) {
    let runs: Vec<[Statistics; 2]> = (1..=SEEDS)
        .map(|seed| {
            let (starts, theirs) = theirs(seed, words);
            [theirs, ours(seed, &starts, dumbbell)]
        })
        .collect();
    let mut apart = Vec::new();
    for half in 0..2 {
        for (figure, name) in STATISTICS.into_iter().enumerate() {
            let of = |side: usize| mean(runs.iter().map(move |run| run[side][half][figure]));
            let ((theirs, spread), (ours, our_spread)) = (of(0), of(1));
            let error = ((spread.powi(2) + our_spread.powi(2)) / SEEDS as f64).sqrt();
            if (ours - theirs).abs() > 0.5 * spread + 2.0 * error {
                apart.push(format!(
                    "{name}, half {half}: {ours} and {theirs}+-{spread}"
                ));
            }
        }
    }
    assert!(apart.is_empty(), "{words}: {apart:?}");
}

fn red(limit: u32, size: u32) -> RedSettings {
    RedSettings::ns2(limit, Bytes::new(size.into()))
}

fn dumbbell(queue: Spec) -> Dumbbell {
    Dumbbell {
        queue,
        recovery: Recovery::Sack,
        size: 1_500,
        decrease: false,
        half: 25,
        rates: [RATE, 10_000_000],
        delays: [20_000, 2_000, 3_000, 4_000, 5_000],
        flows: Vec::new(),
        seed: Seed::new(1),
    }
}

#[test]
fn red_with_packets_of_3000_bytes() {
    let mut dumbbell = dumbbell(Spec::Red(red(35, 3_000)));
    dumbbell.size = 3_000;
    agrees("size 3000", &dumbbell);
}

#[test]
fn red_where_congestion_decreases() {
    let mut dumbbell = dumbbell(Spec::Red(red(60, 1_500)));
    dumbbell.decrease = true;
    agrees("scenario decrease limit 60", &dumbbell);
}

#[test]
fn red_under_newreno() {
    let mut dumbbell = dumbbell(Spec::Red(red(35, 1_500)));
    dumbbell.recovery = Recovery::NewReno;
    agrees("agent Newreno", &dumbbell);
}

#[test]
fn adaptive_red_in_bytes() {
    let mut red = red(35, 1_500);
    red.adaptive = true;
    red.unit = Unit::Bytes;
    red.limit = Limit::Bytes(Bytes::new(35 * 1_500));
    red.curve.min *= 1_500.0;
    red.curve.max *= 1_500.0;
    agrees("bytes true adaptive 1", &dumbbell(Spec::Red(red)));
}

#[test]
fn red_that_is_not_gentle_with_other_thresholds() {
    let mut red = red(35, 1_500);
    red.curve.gentle = false;
    red.curve.min = 3.0;
    red.curve.max = 20.0;
    red.curve.max_probability = 0.05;
    red.weight = 0.002;
    let words = "gentle false min 3 max 20 inverse 20 weight 0.002";
    agrees(words, &dumbbell(Spec::Red(red)));
}

#[test]
fn red_that_drops_from_the_front_of_a_small_buffer() {
    let mut red = red(20, 1_500);
    red.victim = Victim::Front;
    agrees("queue red-front limit 20", &dumbbell(Spec::Red(red)));
}

#[test]
fn drop_tail_over_a_longer_path() {
    let mut dumbbell = dumbbell(Spec::ns2_drop_tail(60));
    dumbbell.delays[0] = 40_000;
    agrees("queue tail limit 60 delay 40ms", &dumbbell);
}

#[test]
fn drop_from_front_under_reno_where_congestion_decreases() {
    let mut dumbbell = dumbbell(Spec::ns2_drop_front(35));
    dumbbell.recovery = Recovery::Reno;
    dumbbell.decrease = true;
    agrees("queue front agent Reno scenario decrease", &dumbbell);
}

/// Settings of a study that does not name its TCP: ns-2's default agent is Tahoe.
#[test]
fn adaptive_red_under_tahoe_with_packets_of_3000_bytes() {
    let mut red = red(20, 3_000);
    red.adaptive = true;
    let mut dumbbell = dumbbell(Spec::Red(red));
    dumbbell.size = 3_000;
    dumbbell.recovery = Recovery::Tahoe;
    agrees("agent Tahoe adaptive 1 limit 20 size 3000", &dumbbell);
}

#[test]
fn red_under_tahoe_at_twice_the_rate_where_few_join() {
    let mut dumbbell = dumbbell(Spec::Red(red(50, 1_000)));
    dumbbell.size = 1_000;
    dumbbell.recovery = Recovery::Tahoe;
    dumbbell.rates[0] = 3_000_000;
    dumbbell.delays[0] = 30_000;
    let words = "agent Tahoe size 1000 limit 50 bottleneck 3Mb delay 30ms many 10";
    agrees(words, &dumbbell);
}

#[test]
fn drop_tail_under_tahoe_over_a_slow_path_where_congestion_decreases() {
    let mut dumbbell = dumbbell(Spec::ns2_drop_tail(25));
    dumbbell.recovery = Recovery::Tahoe;
    dumbbell.decrease = true;
    dumbbell.rates[0] = 800_000;
    dumbbell.delays[0] = 60_000;
    let words = "agent Tahoe queue tail scenario decrease limit 25 bottleneck 0.8Mb delay 60ms";
    agrees(words, &dumbbell);
}

#[test]
fn adaptive_red_under_reno_with_packets_of_3000_bytes() {
    let mut red = red(20, 3_000);
    red.adaptive = true;
    let mut dumbbell = dumbbell(Spec::Red(red));
    dumbbell.size = 3_000;
    dumbbell.recovery = Recovery::Reno;
    agrees("agent Reno adaptive 1 limit 20 size 3000", &dumbbell);
}

#[test]
fn drop_tail_under_reno_at_twice_the_rate_where_few_join() {
    let mut dumbbell = dumbbell(Spec::ns2_drop_tail(50));
    dumbbell.size = 1_000;
    dumbbell.recovery = Recovery::Reno;
    dumbbell.rates[0] = 3_000_000;
    dumbbell.delays[0] = 30_000;
    let words = "agent Reno queue tail size 1000 limit 50 bottleneck 3Mb delay 30ms many 10";
    agrees(words, &dumbbell);
}
