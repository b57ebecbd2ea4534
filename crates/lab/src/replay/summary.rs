//! A summary of the fates of many packets.

use proto::link::Fate;
use queue::Reason;
use units::{Span, Time};

use crate::recording::Decision;

/// The fates of the packets of one direction.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Summary {
    /// Packets by fate, in the order of [`Fate::ALL`].
    pub fates: [u64; 6],
    /// Packets dropped by the queue, by reason, in the order of
    /// [`Reason::ALL`].
    pub dropped: [u64; 4],
    /// Packets marked by the queue and delivered.
    pub marked: u64,
    /// The waiting times of transmitted packets.
    pub waits: Waits,
}

/// Waiting times in seconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Waits {
    /// The mean.
    pub mean: f64,
    /// The median.
    pub median: f64,
    /// The 99th percentile.
    pub p99: f64,
    /// The maximum.
    pub longest: f64,
}

impl Summary {
    /// Summarises packets with their instants of arrival.
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

    /// The number of packets with `fate`.
    pub const fn of_fate(&self, fate: Fate) -> u64 {
        self.fates[fate as usize]
    }

    /// The number of packets that the queue dropped for `reason`.
    pub const fn dropped_for(&self, reason: Reason) -> u64 {
        self.dropped[reason as usize]
    }
}

impl Waits {
    fn of(mut waits: Vec<Span>) -> Self {
        waits.sort_unstable();
        // Nearest rank: at least `percent` of all values are not larger.
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
