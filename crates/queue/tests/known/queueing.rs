//! One queue, one server, chance: what queueing theory says of it
//! [Kleinrock1975].

use jumbolab_queue::{Limit, Spec};
use units::Time;

use crate::server::{PacketOutcome, Server, Tiny, rate};
use crate::statistics::{Chance, covers};

/// Bytes that take a millisecond on average.
const MEAN: f64 = 1_000_000.0;
/// Picoseconds of that.
const SERVICE: f64 = 1e9;

/// The figures of twenty independent runs, in order.
struct Seen {
    /// The mean wait before service, in service times.
    wait: [f64; 20],
    /// The mean number that waits, over time.
    waiting: [f64; 20],
    /// The share that found no room.
    loss: [f64; 20],
}

/// Twenty runs with this load, `room` for those that wait, `count` arrivals
/// after a tenth of that to begin with.
fn simulate(load: f64, exponential: bool, room: u32, count: u64) -> Seen {
    let mut seen = Seen {
        wait: [0.0; 20],
        waiting: [0.0; 20],
        loss: [0.0; 20],
    };
    for run in 0..20 {
        let limit = Limit::Packets(room);
        let mut server = Server::new(&Spec::DropTail { limit }, rate(8_000_000_000), 1);
        let mut chance = Chance::new(run as u64);
        let (begin, mut now, mut begun) = (count / 10, 0.0, 0.0);
        let mut arrivals = Vec::new();
        for number in 0..begin + count {
            now += chance.exponential(SERVICE / load);
            if number == begin {
                server.advance(Time::from_picos(now as u64));
                server.outcomes.clear();
                begun = now;
            }
            let size = if exponential {
                chance.exponential(MEAN)
            } else {
                MEAN
            };
            arrivals.push(now as u64);
            let packet = Tiny::new(number, (size as u64).max(1));
            server.arrive(Time::from_picos(now as u64), packet);
        }
        let (mut waits, mut sent) = (0.0, 0.0);
        let mut dropped = 0.0;
        for outcome in &server.outcomes {
            match outcome {
                PacketOutcome::Sent(at, packet) => {
                    sent += 1.0;
                    waits += (at.as_picos() - arrivals[packet.number as usize]) as f64;
                }
                PacketOutcome::Dropped(..) => dropped += 1.0,
            }
        }
        seen.wait[run] = waits / sent / SERVICE;
        seen.loss[run] = dropped / count as f64;
        // The area under the number that waits, but for the edges, is the sum
        // of all waits; the integral is taken for itself below.
        seen.waiting[run] = area(&server.outcomes, &arrivals, begin as usize) / (now - begun);
    }
    seen
}

/// The number that waits, integrated over time from the arrival of `begin`
/// on, event by event: up at an arrival that found room, down where service
/// begins.
fn area(outcomes: &[PacketOutcome], arrivals: &[u64], begin: usize) -> f64 {
    let mut events = Vec::new();
    let last = arrivals[arrivals.len() - 1];
    for outcome in outcomes {
        if let PacketOutcome::Sent(at, packet) = outcome
            && packet.number as usize >= begin
        {
            events.push((arrivals[packet.number as usize], 1.0));
            events.push((at.as_picos().min(last), -1.0));
        }
    }
    events.sort_by_key(|event| event.0);
    let (mut waiting, mut area, mut since) = (0.0, 0.0, 0);
    for (at, change) in events {
        area += waiting * (at - since) as f64;
        waiting += change;
        since = at;
    }
    area
}

#[test]
fn the_wait_for_equal_services_is_half_of_that_for_exponential_ones() {
    // rho / (2 (1 - rho)) for M/D/1, rho^2 / (1 - rho) waiting for M/M/1.
    for (load, wait, count) in [
        (0.5, 0.5, 2_000),
        (0.8, 2.0, 4_000),
        (0.9, 4.5, 10_000),
        (0.95, 9.5, 25_000),
    ] {
        covers(&simulate(load, false, u32::MAX, count).wait, wait, "M/D/1");
    }
    for (load, waiting, count) in [(0.8, 3.2, 4_000), (0.9, 8.1, 12_000), (0.95, 18.05, 40_000)] {
        let seen = simulate(load, true, u32::MAX, count);
        covers(&seen.waiting, waiting, "M/M/1");
    }
}

#[test]
fn a_short_queue_loses_what_theory_says() {
    // K counts the one in service too.
    for (load, places, loss) in [
        (0.8, 10, 0.023493),
        (0.95, 20, 0.027181),
        (1.2, 20, 0.17037),
    ] {
        let seen = simulate(load, true, places - 1, 8_000);
        covers(&seen.loss, loss, "M/M/1/K");
    }
    for (load, places, loss, count) in [
        (0.8, 5, 0.03529, 5_000),
        (0.8, 10, 0.003639, 20_000),
        (0.95, 20, 0.008069, 20_000),
        (1.0, 20, 0.02521, 12_000),
        (1.2, 20, 0.166763, 5_000),
    ] {
        let seen = simulate(load, false, places - 1, count);
        covers(&seen.loss, loss, "M/D/1/K");
    }
}

#[test]
fn the_number_that_waits_is_the_rate_times_the_wait() {
    // Little's law, whatever the queue: with loss, of those that were let in.
    for (load, exponential, room) in [(0.7, true, u32::MAX), (0.9, false, 8), (1.3, true, 12)] {
        let seen = simulate(load, exponential, room, 5_000);
        let expected: f64 = (0..20)
            .map(|run| load * (1.0 - seen.loss[run]) * seen.wait[run])
            .sum::<f64>()
            / 20.0;
        covers(&seen.waiting, expected, "L = lambda W");
    }
}
