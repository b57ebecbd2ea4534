//! Twenty-three flows through one bottleneck, compared with ns-2.35 drop by drop [Ns2].
//!
//! The recordings were made with the script beside the peer test: `seed 1 half 5
//! bottleneck 1.50137Mb access 10.0313Mb delay 20.023ms ends "2.017 3.041 4.007 5.059"`
//! and the words of each test below. The first lines are flows: start, and phase of the
//! clock within a tick at time zero, both in picoseconds; the phase is computed from
//! ns-2's random number generator. The other lines are packets that the bottleneck
//! dropped: microseconds, bytes, flow, number. Rates and delays are odd, so few
//! times coincide: ns-2 orders coinciding events by rounding.

use jumbolab_sim::{Location, Loss, Seen, Tracer};
use link::QueueState;
use queue::Spec;
use tcp::Recovery;
use units::{Seed, Span, Time};

use crate::dumbbell::{BOTTLENECK, Dumbbell};

/// Flows per recording.
const FLOWS: usize = 23;

/// The arrivals at the bottleneck, and its drops: time in microseconds, bytes, flow
/// and number.
#[derive(Default)]
struct Bottleneck {
    arrivals: u64,
    drops: Vec<[u64; 4]>,
}

impl Tracer for Bottleneck {
    fn queued(&mut self, _: Time, link: (usize, usize), _: Seen, _: QueueState) {
        self.arrivals += u64::from(link == BOTTLENECK);
    }

    fn lost(&mut self, at: Time, location: Location, packet: Seen, _: Loss) {
        if location == Location::Direction(BOTTLENECK.0, BOTTLENECK.1) {
            let micros = (at.as_nanos() + 500) / 1_000;
            // ns-2 acknowledges the last number received, not the next one expected.
            let number = packet.sequence - u64::from(packet.is_ack());
            let flow = u64::try_from(packet.flow).unwrap();
            self.drops.push([micros, packet.size.get(), flow, number]);
        }
    }
}

/// Repeats the run of `recorded`, in which `arrivals` packets arrived at the
/// bottleneck.
#[track_caller]
fn agrees(recorded: &str, arrivals: u64, dumbbell: Dumbbell) {
    let lines = || recorded.lines().map(|line| line.split(','));
    let numbers = |line: std::str::Split<'_, char>| -> Vec<u64> {
        line.map(|word| word.parse().unwrap()).collect()
    };
    let flows = lines().take(FLOWS).map(numbers);
    let flows = flows.map(|flow| (Time::from_picos(flow[0]), Span::from_picos(flow[1])));
    let dumbbell = Dumbbell {
        flows: flows.collect(),
        ..dumbbell
    };
    let mut ours = Bottleneck::default();
    let scenario = dumbbell.scenario();
    scenario.check().expect("it is sound").run_traced(&mut ours);
    let theirs: Vec<Vec<u64>> = lines().skip(FLOWS).map(numbers).collect();
    assert!(theirs.len() > 150);
    for (place, (one, other)) in theirs.iter().zip(&ours.drops).enumerate() {
        assert_eq!(one[1..], other[1..], "drop {place} at {} us", one[0]);
        assert!(one[0].abs_diff(other[0]) <= 1, "drop {place}: {other:?}");
    }
    assert_eq!(ours.drops.len(), theirs.len());
    // The last arrival may fall just within or beyond the last microsecond.
    assert!(ours.arrivals.abs_diff(arrivals) <= 1, "{}", ours.arrivals);
}

fn dumbbell(queue: Spec, recovery: Recovery) -> Dumbbell {
    Dumbbell {
        queue,
        recovery,
        size: 1_500,
        decrease: false,
        half: 5,
        rates: [1_501_370, 10_031_300],
        delays: [20_023, 2_017, 3_041, 4_007, 5_059],
        flows: Vec::new(),
        seed: Seed::new(1),
    }
}

/// `agent Sack1 queue tail`
#[test]
fn congestion_that_increases_drops_of_sack_what_it_drops_in_ns2() {
    let recorded = include_str!("ns2/dumbbell_Sack1_increase.csv");
    let queue = Spec::ns2_drop_tail(35);
    agrees(recorded, 1_853, dumbbell(queue, Recovery::Sack));
}

/// `agent Tahoe queue tail`
#[test]
fn congestion_that_increases_drops_of_tahoe_what_it_drops_in_ns2() {
    let recorded = include_str!("ns2/dumbbell_Tahoe_increase.csv");
    let queue = Spec::ns2_drop_tail(35);
    agrees(recorded, 2_013, dumbbell(queue, Recovery::Tahoe));
}

/// `agent Reno queue tail limit 20`
#[test]
fn congestion_that_increases_drops_of_reno_what_it_drops_in_ns2() {
    let recorded = include_str!("ns2/dumbbell_Reno_increase.csv");
    let queue = Spec::ns2_drop_tail(20);
    agrees(recorded, 2_025, dumbbell(queue, Recovery::Reno));
}

/// `agent Newreno queue front scenario decrease size 3000 limit 20`
#[test]
fn congestion_that_decreases_drops_of_newreno_what_it_drops_in_ns2() {
    let recorded = include_str!("ns2/dumbbell_Newreno_decrease.csv");
    let dumbbell = Dumbbell {
        size: 3_000,
        decrease: true,
        ..dumbbell(Spec::ns2_drop_front(20), Recovery::NewReno)
    };
    agrees(recorded, 1_191, dumbbell);
}
