//! Textbook queues on a simulated link. Other services and short queues are known answers of
//! the crate `queue`.
//!
//! Every check runs ten seeds and demands that the 99.9 % interval of their mean, by
//! Student's t with nine degrees of freedom, covers the answer. The seeds are fixed, so
//! results are repeatable.

use jumbolab_sim::{Datagrams, Outcome};
use link::Settings;
use meter::departures::Distribution;
use units::{IpVersion, Seed};

use crate::network::{SECOND, at, bare, pair, run};

/// Student's t at 99.9 %, two-sided, nine degrees of freedom.
const T: f64 = 4.781;

/// The service time of a packet: 1000 bytes at 8 Mb/s.
const SERVICE: f64 = 1e-3;

/// Poisson arrivals of load `load` at a queue without a limit, with constant service times.
fn run_seed(load: f64, packets: u64, seed: u64) -> Outcome {
    // A packet on IPv6 without framing has 48 bytes of headers.
    let datagrams = Datagrams {
        limit: Some(packets),
        ..Datagrams::new(
            Distribution::Exponential(SERVICE / load * SECOND),
            Distribution::Constant(952.0),
        )
    };
    let direction: Settings = bare(8_000_000, 1_000_000);
    let mut scenario = pair(&direction, datagrams);
    scenario.flows[0].ip = IpVersion::V6;
    scenario.seed = Seed::new(seed);
    scenario.end = at(packets as f64 * SERVICE / load);
    scenario.max_recorded_messages = 0;
    run(scenario)
}

/// Compares the results of ten seeds with the answer.
#[track_caller]
fn covers(what: &str, answer: f64, figure: impl Fn(u64) -> f64) {
    let values: Vec<f64> = (1..=10).map(figure).collect();
    let mean = values.iter().sum::<f64>() / 10.0;
    let variance = values.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 9.0;
    let half = T * (variance / 10.0).sqrt();
    assert!(
        (mean - answer).abs() <= half,
        "{what}: {mean} +- {half}, not {answer}"
    );
    assert!(half < 0.3 * answer, "{what}: {mean} +- {half} says little");
}

#[test]
fn the_mean_wait_in_front_of_equal_services_is_that_of_md1() {
    // Mean delay minus service time, in service times: rho / (2 (1 - rho)).
    for (load, answer, packets) in [(0.5, 0.5, 4_000), (0.8, 2.0, 10_000), (0.9, 4.5, 30_000)] {
        covers(&format!("M/D/1 at {load}"), answer, |seed| {
            let ran = run_seed(load, packets, seed);
            (ran.flows[0].delays.unwrap().mean - SERVICE) / SERVICE
        });
    }
}

#[test]
fn the_mean_queue_is_the_rate_of_arrivals_times_the_mean_wait() {
    // Little's law holds for every run, not only on average, once the queue has
    // emptied: both sides count the same waiting times.
    for seed in 1..=5 {
        let mut scenario = pair(
            &bare(8_000_000, 1_000_000),
            Datagrams {
                limit: Some(2_000),
                ..Datagrams::new(
                    Distribution::Exponential(SERVICE / 0.9 * SECOND),
                    Distribution::Constant(972.0),
                )
            },
        );
        scenario.seed = Seed::new(seed);
        let ran = run(scenario.clone());
        // Average over the time until the last packet has left.
        scenario.end = ran.end;
        let again = run(scenario);
        let direction = again.links[0].directions[0];
        let seconds = ran.end.as_picos() as f64 / SECOND;
        let wait = again.flows[0].delays.unwrap().mean - SERVICE;
        let little = again.flows[0].sent as f64 / seconds * wait;
        assert!(
            (direction.mean_queue / little - 1.0).abs() < 1e-9,
            "{direction:?} {little}"
        );
        assert!((direction.mean_queue_bytes / (1_000.0 * little) - 1.0).abs() < 1e-9);
        assert!((direction.utilisation - 2_000.0 * SERVICE / seconds).abs() < 1e-9);
    }
}
