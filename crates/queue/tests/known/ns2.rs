//! Runs of ns-2.35 [Ns2].

#[path = "../../examples/ns2_replay/replay.rs"]
mod replay;

use jumbolab_queue::law::Curve;
use jumbolab_queue::{Discipline as _, Red, RedSettings};
use units::{Bytes, Seed, Time};

use crate::server::{PacketOutcome, Server, Tiny, rate};
use crate::statistics::{Chance, moments};
use replay::{Loser, replay};

#[test]
fn the_queue_and_the_average_are_those_of_ns2_but_for_ties() {
    let text = include_str!("../fixtures/ns2_reddf_1500_35.csv");
    let lines = text.lines().map(String::from);
    let agreement = replay(lines, Loser::Second, Bytes::new(1500)).unwrap();
    assert_eq!(agreement.arrivals, 1_500);
    assert_eq!(agreement.queue_unexcused, 0, "{agreement:?}");
    assert_eq!(agreement.average_unexcused, 0, "{agreement:?}");
    // Ties are rare, so that they excuse little.
    assert!(
        agreement.queue <= 15 && agreement.average <= 15,
        "{agreement:?}"
    );
}

#[test]
fn another_queue_than_that_of_ns2_is_noticed() {
    let text = include_str!("../fixtures/ns2_reddf_1500_35.csv");
    let lines = || text.lines().map(String::from);
    let wrong = replay(lines(), Loser::Second, Bytes::new(3000)).unwrap();
    assert!(wrong.average_unexcused > 0, "{wrong:?}");
    let wrong = replay(lines(), Loser::Arriving, Bytes::new(1500)).unwrap();
    assert!(wrong.queue_unexcused > 5, "{wrong:?}");
}

/// The figures of one run between 100 s and 400 s: the share dropped in
/// per cent, the mean number found waiting, the mean average.
type Shown = [f64; 3];

/// Our queue under the same traffic: packets of a Poisson source at `load`
/// times 1.5 Mb/s that come through a link of 10 Mb/s, for 400 s.
fn poisson(settings: &RedSettings, size: u64, load: f64, seed: u64) -> Shown {
    let link = rate(1_500_000);
    let queue = Red::new(settings, link, Seed::new(seed)).unwrap();
    let mut server = Server::with(Box::new(queue), link);
    let mut chance = Chance::new(1_000 + seed);
    let spacing = size as f64 * 8.0 / 10e6;
    let mean = size as f64 * 8.0 / (1.5e6 * load);
    let (mut emitted, mut free) = (0.0, 0.0_f64);
    let (mut arrivals, mut found, mut averages, mut number) = (0.0, 0.0, 0.0, 0);
    loop {
        emitted += chance.exponential(mean);
        free = free.max(emitted) + spacing;
        if free >= 400.0 {
            break;
        }
        let now = Time::from_picos((free * 1e12) as u64);
        if free >= 100.0 {
            server.advance(now);
            arrivals += 1.0;
            found += f64::from(server.queue.backlog().packets);
        } else {
            server.outcomes.clear();
        }
        server.arrive(now, Tiny::new(number, size));
        if free >= 100.0 {
            averages += server.queue.law().average();
        }
        number += 1;
    }
    let dropped = |outcome: &&PacketOutcome| matches!(outcome, PacketOutcome::Dropped(..));
    let dropped = server.outcomes.iter().filter(dropped).count() as f64;
    [
        100.0 * dropped / arrivals,
        found / arrivals,
        averages / arrivals,
    ]
}

#[test]
fn poisson_traffic_is_dropped_as_often_and_waits_as_long_as_in_ns2() {
    for (name, size, arrivals, theirs) in RUNS {
        // Chance made the load a little more or less than what was asked for,
        // and the queue follows it closely: ours has the load of theirs.
        let load = f64::from(arrivals) * size as f64 * 8.0 / (3.0 * 300.0 * 1.5e6);
        let usual = RedSettings::ns2(35, Bytes::new(size));
        let settings = RedSettings {
            adaptive: name == "ared",
            curve: Curve {
                gentle: name != "rednog",
                ..usual.curve
            },
            ..usual
        };
        let ours: Vec<Shown> = (1..=6)
            .map(|seed| poisson(&settings, size, load, seed))
            .collect();
        for (place, what) in ["dropped", "found waiting", "average"].iter().enumerate() {
            let of =
                |shown: &[Shown]| moments(&shown.iter().map(|run| run[place]).collect::<Vec<_>>());
            let ((our_mean, ours), (their_mean, theirs)) = (of(&ours), of(&theirs));
            // Half a standard deviation and two standard errors, of both
            // together: six seeds and three have 5 and 2 degrees of freedom.
            let deviation = ((5.0 * ours.powi(2) + 2.0 * theirs.powi(2)) / 7.0).sqrt();
            let allowed = deviation * (0.5 + 2.0 * (1.0 / 6.0 + 1.0 / 3.0_f64).sqrt());
            assert!(
                (our_mean - their_mean).abs() <= allowed,
                "{name} {size} {load:.3} {what}: {our_mean} and {their_mean}, allowed {allowed}"
            );
        }
    }
}

/// ns-2.35's runs: the queue, the packets' size, the arrivals of three seeds
/// together (at 0.9, 1.02, 1.1 and 1.3 times the link), and what each showed.
const RUNS: [(&str, u64, u32, [Shown; 3]); 24] = [
    (
        "red",
        1500,
        101260,
        [
            [0.165, 4.235, 3.973],
            [0.092, 3.846, 3.639],
            [0.152, 4.086, 3.854],
        ],
    ),
    (
        "red",
        3000,
        50962,
        [
            [0.218, 4.366, 4.035],
            [0.265, 4.425, 4.098],
            [0.329, 4.645, 4.497],
        ],
    ),
    (
        "red",
        1500,
        115067,
        [
            [4.339, 11.244, 11.155],
            [4.406, 11.168, 11.021],
            [3.629, 10.493, 10.399],
        ],
    ),
    (
        "red",
        3000,
        57765,
        [
            [4.758, 11.681, 11.639],
            [4.706, 11.702, 11.636],
            [3.836, 10.799, 10.899],
        ],
    ),
    (
        "red",
        1500,
        124157,
        [
            [10.184, 15.162, 15.049],
            [10.230, 15.018, 14.949],
            [9.642, 14.822, 14.821],
        ],
    ),
    (
        "red",
        3000,
        61992,
        [
            [9.737, 15.064, 14.999],
            [10.894, 15.220, 15.233],
            [8.400, 14.234, 14.277],
        ],
    ),
    (
        "red",
        1500,
        146470,
        [
            [23.677, 18.908, 18.902],
            [23.398, 18.833, 18.822],
            [22.766, 18.725, 18.692],
        ],
    ),
    (
        "red",
        3000,
        73103,
        [
            [23.504, 18.871, 18.876],
            [23.320, 18.889, 18.824],
            [22.502, 18.681, 18.651],
        ],
    ),
    (
        "rednog",
        1500,
        101312,
        [
            [0.188, 4.385, 4.140],
            [0.092, 3.846, 3.639],
            [0.152, 4.086, 3.854],
        ],
    ),
    (
        "rednog",
        3000,
        51024,
        [
            [0.218, 4.366, 4.035],
            [0.312, 4.513, 4.210],
            [0.427, 4.609, 4.460],
        ],
    ),
    (
        "rednog",
        1500,
        115222,
        [
            [5.050, 10.938, 10.829],
            [4.494, 10.197, 10.074],
            [4.045, 9.968, 9.875],
        ],
    ),
    (
        "rednog",
        3000,
        57804,
        [
            [4.713, 10.549, 10.408],
            [5.124, 10.975, 10.852],
            [4.477, 10.153, 10.044],
        ],
    ),
    (
        "rednog",
        1500,
        123849,
        [
            [9.937, 12.708, 12.679],
            [10.182, 12.765, 12.722],
            [9.889, 12.835, 12.813],
        ],
    ),
    (
        "rednog",
        3000,
        61879,
        [
            [10.305, 12.699, 12.667],
            [9.903, 12.870, 12.781],
            [9.810, 12.586, 12.581],
        ],
    ),
    (
        "rednog",
        1500,
        146556,
        [
            [23.488, 14.493, 14.483],
            [23.366, 14.461, 14.441],
            [23.379, 14.481, 14.469],
        ],
    ),
    (
        "rednog",
        3000,
        73697,
        [
            [24.665, 14.496, 14.480],
            [23.691, 14.512, 14.475],
            [23.100, 14.485, 14.450],
        ],
    ),
    (
        "ared",
        1500,
        101103,
        [
            [0.006, 4.014, 3.704],
            [0.003, 3.941, 3.726],
            [0.012, 3.938, 3.755],
        ],
    ),
    (
        "ared",
        3000,
        51056,
        [
            [0.160, 4.533, 4.260],
            [0.076, 4.584, 4.218],
            [0.338, 5.409, 5.242],
        ],
    ),
    (
        "ared",
        1500,
        114742,
        [
            [4.509, 10.750, 10.642],
            [3.897, 10.594, 10.474],
            [3.936, 10.392, 10.294],
        ],
    ),
    (
        "ared",
        3000,
        57644,
        [
            [4.872, 10.432, 10.454],
            [5.334, 10.761, 10.736],
            [4.215, 10.785, 10.602],
        ],
    ),
    (
        "ared",
        1500,
        124195,
        [
            [10.564, 11.906, 11.846],
            [10.758, 12.156, 12.043],
            [10.234, 11.855, 11.778],
        ],
    ),
    (
        "ared",
        3000,
        61898,
        [
            [10.778, 12.661, 12.445],
            [10.568, 12.197, 12.197],
            [9.867, 11.738, 11.855],
        ],
    ),
    (
        "ared",
        1500,
        146653,
        [
            [23.641, 17.308, 17.211],
            [23.168, 17.873, 17.893],
            [23.423, 17.225, 17.201],
        ],
    ),
    (
        "ared",
        3000,
        73347,
        [
            [23.591, 16.447, 16.327],
            [23.798, 15.489, 15.363],
            [23.109, 17.104, 17.132],
        ],
    ),
];
