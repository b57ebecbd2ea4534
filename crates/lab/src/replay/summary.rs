//! What became of many packets, in a few metrics.

use proto::link::Fate;
use queue::Reason;
use units::{Span, Time};

use crate::recording::Decision;

/// What became of the packets of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Packets by fate, in the order of [`Fate::ALL`].
    pub fates: [u64; 6],
    /// Those that the queue dropped, by reason, in the order of [`Reason::ALL`].
    pub dropped: [u64; 4],
    /// Those that the queue marked and let go.
    pub marked: u64,
    /// How long those that went on the wire waited for it.
    pub waits: Waits,
}

/// Times in a queue, seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waits {
    /// Their mean.
    pub mean: f64,
    /// The time that half of them do not exceed.
    pub median: f64,
    /// The time that 99 of 100 do not exceed.
    pub p99: f64,
    /// The longest.
    pub longest: f64,
}

impl Summary {
    /// Of packets with the instants of their arrival.
    pub(super) fn of(packets: impl Iterator<Item = (Time, Decision)>) -> Self {
        let mut summary = Self::default();
        let mut waits = Vec::new();
        for (arrival, decision) in packets {
            summary.fates[decision.fate as usize] += 1;
            summary.marked += u64::from(decision.marked && decision.reason.is_none());
            if let Some(reason) = decision.reason {
                summary.dropped[reason as usize] += 1;
            }
            if !matches!(decision.fate, Fate::Dropped | Fate::TooBig) {
                waits.push(decision.at.since(arrival).unwrap_or_default());
            }
        }
        summary.waits = Waits::of(waits);
        summary
    }

    /// How many met `fate`.
    pub const fn of_fate(&self, fate: Fate) -> u64 {
        self.fates[fate as usize]
    }

    /// How many the queue dropped for `reason`.
    pub const fn dropped_for(&self, reason: Reason) -> u64 {
        self.dropped[reason as usize]
    }
}

impl Waits {
    fn of(mut waits: Vec<Span>) -> Self {
        waits.sort_unstable();
        // The nearest rank: at least `percent` of all are not longer.
        let rank = |percent: usize| (waits.len() * percent).div_ceil(100).saturating_sub(1);
        let at = |rank: usize| waits.get(rank).map_or(0.0, |wait| wait.as_secs_f64());
        let count = waits.len().max(1) as f64;
        Self {
            mean: waits.iter().map(|wait| wait.as_secs_f64()).sum::<f64>() / count,
            median: at(rank(50)),
            p99: at(rank(99)),
            longest: at(waits.len().saturating_sub(1)),
        }
    }
}
