//! The outcomes of many packets, in numbers and over time.

use link::{Arrival, PacketOutcome};
use plan::replayed_link::{OutcomeCounts, QueueOverTime, Waits};
use units::{Span, Time};

use crate::recording::Decision;

/// The intervals of a queue over time.
const INTERVALS: usize = 400;

/// The steps between two successive quantiles of all waiting times.
const QUANTILES: usize = 200;

/// The outcomes of decided packets, and how long those that were transmitted waited.
pub(super) fn summary<'a>(
    decided: impl Iterator<Item = (&'a Arrival, Option<Decision>)>,
) -> (OutcomeCounts, Waits) {
    let mut outcomes = OutcomeCounts::default();
    let mut waited = Vec::new();
    for (arrival, decision) in decided {
        let Some(decision) = decision else { continue };
        outcomes.of_outcome[decision.outcome as usize] += 1;
        outcomes.marked += u64::from(decision.marked && decision.reason.is_none());
        if let Some(reason) = decision.reason {
            outcomes.dropped[reason as usize] += 1;
        }
        if !matches!(
            decision.outcome,
            PacketOutcome::Dropped | PacketOutcome::TooBig
        ) {
            waited.push(decision.at.since(arrival.at).unwrap_or_default());
        }
    }
    (outcomes, waits(waited))
}

fn waits(mut waits: Vec<Span>) -> Waits {
    waits.sort_unstable();
    // Nearest rank: at least this share of all values are not larger.
    let quantile = |part: usize, of: usize| {
        let rank = (waits.len() * part).div_ceil(of).saturating_sub(1);
        waits.get(rank).map_or(0.0, |wait| wait.as_secs_f64())
    };
    let count = waits.len().max(1) as f64;
    let quantiles = match waits.is_empty() {
        true => Vec::new(),
        false => (0..=QUANTILES)
            .map(|part| quantile(part, QUANTILES))
            .collect(),
    };
    Waits {
        mean: waits.iter().map(|wait| wait.as_secs_f64()).sum::<f64>() / count,
        median: quantile(50, 100),
        p99: quantile(99, 100),
        longest: quantile(1, 1),
        quantiles,
    }
}

/// The queue over time, from the first arrival to the last. A packet is in it until
/// the decision about it, and an undecided one until the end.
pub(super) fn over_time<'a>(
    decided: impl Iterator<Item = (&'a Arrival, Option<Decision>)> + Clone,
) -> QueueOverTime {
    let mut ends = decided.clone().map(|(arrival, _)| arrival.at);
    let Some(begin) = ends.next() else {
        return QueueOverTime::default();
    };
    let end = ends.last().unwrap_or(begin);
    let length = end.since(begin).unwrap_or_default().as_picos();
    let interval = (length / INTERVALS as u64 + 1).max(1);
    let mut occupied = vec![0.0; INTERVALS];
    // Where whole intervals of a packet begin and end, to sum in one pass.
    let mut whole = vec![0_i64; INTERVALS + 1];
    let (mut arrivals, mut dropped) = (vec![0; INTERVALS], vec![0; INTERVALS]);
    let offset = |at: Time| at.since(begin).unwrap_or_default().as_picos().min(length);
    let place = |offset: u64| usize::try_from(offset / interval).unwrap_or(INTERVALS - 1);
    for (arrival, decision) in decided {
        let from = offset(arrival.at);
        let until = decision.map_or(length, |decision| offset(decision.at).max(from));
        let (first, last) = (place(from), place(until));
        arrivals[first] += 1;
        dropped[first] +=
            u64::from(decision.is_some_and(|own| own.outcome == PacketOutcome::Dropped));
        if first == last {
            occupied[first] += (until - from) as f64;
        } else {
            occupied[first] += (interval - from % interval) as f64;
            occupied[last] += (until % interval) as f64;
            whole[first + 1] += 1;
            whole[last] -= 1;
        }
    }
    let mut through = 0;
    let packets = occupied.iter().zip(&whole).map(|(part, change)| {
        through += change;
        part / interval as f64 + through as f64
    });
    QueueOverTime {
        begin,
        interval: Span::from_picos(interval),
        packets: packets.collect(),
        arrivals,
        dropped,
    }
}

#[cfg(test)]
mod tests {
    use link::Header;
    use queue::Reason;

    use super::*;

    /// Packets by arrival and decision in microseconds; those that leave at once are
    /// dropped.
    fn decided(packets: &[(u64, Option<u64>)]) -> Vec<(Arrival, Option<Decision>)> {
        let time = |micros: u64| Time::from_picos(micros * 1_000_000);
        let one = |&(at, left): &(u64, Option<u64>)| {
            let arrival = Arrival {
                at: time(at),
                size: 1500,
                flow: 1,
                header: Header::default(),
            };
            let decision = left.map(|left| Decision {
                at: time(left),
                outcome: if left == at {
                    PacketOutcome::Dropped
                } else {
                    PacketOutcome::Delivered
                },
                reason: (left == at).then_some(Reason::Full),
                marked: false,
            });
            (arrival, decision)
        };
        packets.iter().map(one).collect()
    }

    fn pairs(
        decided: &[(Arrival, Option<Decision>)],
    ) -> impl Iterator<Item = (&Arrival, Option<Decision>)> + Clone {
        decided
            .iter()
            .map(|(arrival, decision)| (arrival, *decision))
    }

    #[test]
    fn the_area_under_the_queue_is_the_time_that_all_packets_waited() {
        // The last one arrives at 4000 us, so that 400 intervals have 10 us each.
        let all = decided(&[
            (0, Some(1_003)),
            (500, Some(1_503)),
            (700, Some(700)),
            (2_001, Some(2_004)),
            (3_000, None),
            (4_000, Some(4_000)),
        ]);
        let queue = over_time(pairs(&all));
        let area: f64 = queue.packets.iter().sum::<f64>() * queue.interval.as_secs_f64();
        let waited = (1_003.0 + 1_003.0 + 3.0 + 1_000.0) * 1e-6;
        assert!((area - waited).abs() < 1e-9, "{area} {waited}");
        // Two packets wait from 500 to 1003 us.
        assert!((queue.packets[60] - 2.0).abs() < 1e-9, "{queue:?}");
        assert!((queue.packets[120] - 1.0).abs() < 1e-9);
        assert_eq!(queue.arrivals.iter().sum::<u64>(), 6);
        assert_eq!(queue.dropped.iter().sum::<u64>(), 2);
        assert_eq!(queue.dropped[69], 1, "{:?}", queue.dropped);
    }

    #[test]
    fn packets_at_one_instant_and_no_packets_have_a_queue_over_time() {
        let one = decided(&[(5, Some(5)), (5, None)]);
        let queue = over_time(pairs(&one));
        assert_eq!((queue.arrivals[0], queue.dropped[0]), (2, 1));
        assert_eq!(over_time(pairs(&[])), QueueOverTime::default());
    }

    #[test]
    fn waits_have_quantiles_by_nearest_rank() {
        let packets: Vec<(u64, Option<u64>)> = (1..=100)
            .map(|wait| (wait * 1_000, Some(wait * 1_001)))
            .collect();
        let (outcomes, waits) = summary(pairs(&decided(&packets)));
        assert_eq!(outcomes.of(PacketOutcome::Delivered), 100);
        assert_eq!((waits.median, waits.p99), (50e-6, 99e-6));
        assert_eq!(waits.quantiles.first(), Some(&1e-6));
        assert_eq!(waits.quantiles[100], 50e-6);
        assert_eq!(waits.quantiles.last(), Some(&waits.longest));
        assert_eq!(waits.longest, 100e-6);
    }
}
