//! Runs the scenario in which congestion increases, as ns-2.35 ran it: three
//! long flows, and twenty more from 25 s on; RED and others at the bottleneck.
//!
//!     cargo run --release -p jumbolab-sim --example congestion -- 40
//!
//! The number is that of seeds. Prints means over them and standard deviations, beside those of ns-2.35.

#![expect(clippy::print_stdout, reason = "an example prints what it finds")]

use jumbolab_sim::{
    Flow, Host, Link, Loss, Node, Place, Role, Scenario, Seen, Tcp, Traffic, Watch,
};
use proto::link::{Found, Settings};
use proto::tcp::{self, Recovery};
use queue::{RedSettings, Spec, Victim};
use units::{Bytes, IpVersion, Rate, Seed, Span, Time};

/// Octets of a data packet, and packets that the queue holds.
const SIZE: u32 = 1_500;
const LIMIT: u32 = 35;
/// Seconds of one half, in which there are three flows, and then 23.
const HALF: f64 = 25.0;
/// Bits a second of the bottleneck.
const BITS: u64 = 1_500_000;
/// Queues and what ns-2.35 came to with them, means and standard deviations of
/// five seeds, in the order of [`FIGURES`] [Ns2].
const THEIRS: [(&str, [(f64, f64); 6]); 4] = [
    (
        "ared",
        [
            (2.48, 0.24),
            (19.39, 0.17),
            (86.9, 2.8),
            (98.0, 0.2),
            (10.9, 0.2),
            (16.1, 0.9),
        ],
    ),
    (
        "dt",
        [
            (2.18, 0.32),
            (16.02, 0.58),
            (89.9, 3.4),
            (100.0, 0.1),
            (16.5, 1.7),
            (30.0, 0.6),
        ],
    ),
    (
        "red",
        [
            (2.55, 0.18),
            (19.06, 0.50),
            (88.2, 3.3),
            (99.4, 0.3),
            (10.0, 0.5),
            (18.9, 0.1),
        ],
    ),
    (
        "reddf",
        [
            (1.87, 0.20),
            (19.39, 0.38),
            (89.9, 1.4),
            (98.8, 0.5),
            (10.1, 0.3),
            (18.9, 0.2),
        ],
    ),
];
/// How many seeds those are of.
const THEIR_SEEDS: f64 = 5.0;
/// What is compared, in the first half and in the second one.
const FIGURES: [&str; 6] = [
    "drop % 1", "drop % 2", "util % 1", "util % 2", "queue 1", "queue 2",
];

fn main() {
    let seeds = std::env::args().nth(1).and_then(|word| word.parse().ok());
    let seeds = seeds.unwrap_or(40);
    println!("queue  figure      ours          ns-2.35       apart  may be");
    for (name, theirs) in THEIRS {
        let spec = queue(name);
        let runs: Vec<[f64; 6]> = (1..=seeds)
            .map(|seed| run(&spec, Seed::new(seed)))
            .collect();
        for (column, (their_mean, their_deviation)) in theirs.into_iter().enumerate() {
            let (mean, deviation) = mean(runs.iter().map(|run| run[column]));
            let count: f64 = runs.iter().map(|_| 1.0).sum();
            // Half a deviation and two standard errors of the difference.
            let error = (deviation.powi(2) / count + their_deviation.powi(2) / THEIR_SEEDS).sqrt();
            let apart = (mean - their_mean).abs();
            let most = 0.5 * their_deviation + 2.0 * error;
            println!(
                "{name:6} {:9} {mean:6.2}+-{deviation:4.2}  {their_mean:6.2}+-{their_deviation:4.2}  {apart:6.2}  {most:5.2}  {}",
                FIGURES[column],
                if apart <= most { "" } else { "APART" }
            );
        }
    }
}

fn queue(name: &str) -> Spec {
    let red = RedSettings::ns2(LIMIT, Bytes::new(SIZE.into()));
    match name {
        "dt" => Spec::ns2_drop_tail(LIMIT),
        "ared" => Spec::Red(RedSettings {
            adaptive: true,
            ..red
        }),
        "reddf" => Spec::Red(RedSettings {
            victim: Victim::Front,
            ..red
        }),
        _ => Spec::Red(red),
    }
}

/// What happened at the bottleneck, by halves.
#[derive(Default)]
struct Bottleneck {
    arrivals: [f64; 2],
    drops: [f64; 2],
    bits: [f64; 2],
    /// Packets times seconds.
    waited: [f64; 2],
}

impl Bottleneck {
    /// One packet more waits from `at` on, or one less.
    /// Returns the half, if it is not over.
    fn step(&mut self, at: Time, by: f64) -> Option<usize> {
        let at = at.since(Time::ZERO).unwrap_or_default().as_secs_f64();
        self.waited[0] += by * (HALF - at).max(0.0);
        self.waited[1] += by * (2.0 * HALF - at.max(HALF)).max(0.0);
        (at < 2.0 * HALF).then(|| usize::from(at >= HALF))
    }
}

impl Watch for Bottleneck {
    fn queued(&mut self, at: Time, link: (usize, usize), _: Seen, _: Found) {
        if link == (2, 0)
            && let Some(half) = self.step(at, 1.0)
        {
            self.arrivals[half] += 1.0;
        }
    }

    fn sent(&mut self, begins: Time, _: Time, link: (usize, usize), packet: Seen, _: Span) {
        if link == (2, 0)
            && let Some(half) = self.step(begins, -1.0)
        {
            self.bits[half] += f64::from(u32::try_from(packet.size.bits()).unwrap_or(0));
        }
    }

    fn lost(&mut self, at: Time, place: Place, _: Seen, _: Loss) {
        if place == Place::Way(2, 0)
            && let Some(half) = self.step(at, -1.0)
        {
            self.drops[half] += 1.0;
        }
    }
}

fn run(spec: &Spec, seed: Seed) -> [f64; 6] {
    let mut seen = Bottleneck::default();
    let scenario = scenario(spec, seed);
    scenario
        .check()
        .expect("it is sound")
        .run_watched(&mut seen);
    let [drops, bits] = [
        [0, 1].map(|half| 100.0 * seen.drops[half] / seen.arrivals[half]),
        [0, 1].map(|half| 100.0 * seen.bits[half] / (1.5e6 * HALF)),
    ];
    let queue = seen.waited.map(|waited| waited / HALF);
    [drops[0], drops[1], bits[0], bits[1], queue[0], queue[1]]
}

fn scenario(spec: &Spec, seed: Seed) -> Scenario {
    let node = |name: &str, role| Node {
        name: name.to_owned(),
        role,
    };
    let host = Role::Host(Host::default());
    let link = |ends: [usize; 2], bits, millis, queue| {
        let way = Settings {
            ethernet: false,
            delay: Span::from_millis(millis),
            ..Settings::perfect(Rate::from_bits_per_second(bits), queue)
        };
        Link {
            name: format!("{}-{}", ends[0], ends[1]),
            ends,
            ways: [way.clone(), way],
        }
    };
    let access = |ends, millis| link(ends, 10_000_000, millis, Spec::ns2_drop_tail(1_000));
    let part = |name: &str, of: u64| Span::from_picos(seed.derive(name).get() % of);
    let flow = |number: u64, from, to, window, start| {
        let name = format!("{number:02}");
        let settings = tcp::Settings {
            phase: part(&format!("phase/{name}"), 10_000_000_000),
            ..tcp::Settings::ns2(Recovery::Sack, SIZE - 40, window)
        };
        Flow {
            name,
            from,
            to,
            ip: IpVersion::V4,
            start,
            stop: None,
            traffic: Traffic::Tcp(Tcp::new(settings)),
        }
    };
    let early = |number| Time::ZERO + part(&format!("start/{number}"), 1_000_000_000_000);
    let mut flows = vec![
        flow(0, 0, 4, 1_000, early(0)),
        flow(1, 1, 4, 1_000, early(1)),
        flow(2, 5, 1, 1_000, early(2)),
    ];
    let later = |number: u64| Time::ZERO + Span::from_millis(25_000 + 100 * number);
    flows.extend((0..20).map(|number| flow(3 + number, 0, 4, 20, later(number))));
    Scenario {
        nodes: vec![
            node("s1", host),
            node("s2", host),
            node("r1", Role::Router),
            node("r2", Role::Router),
            node("s3", host),
            node("s4", host),
        ],
        links: vec![
            access([0, 2], 2),
            access([1, 2], 3),
            link([2, 3], BITS, 20, spec.clone()),
            access([3, 4], 4),
            access([3, 5], 5),
        ],
        flows,
        end: Time::ZERO + Span::from_secs(50),
        seed,
        budget: Scenario::BUDGET,
        longest_tally: Scenario::LONGEST_TALLY,
    }
}

/// The mean and the standard deviation.
fn mean(values: impl Iterator<Item = f64> + Clone) -> (f64, f64) {
    let count: f64 = values.clone().map(|_| 1.0).sum();
    let mean = values.clone().sum::<f64>() / count;
    let squares: f64 = values.map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0)).sqrt())
}
