//! The average length of a queue, as RED sees it.

use units::{Bytes, Rate, Time};

use super::Red;
use crate::{AverageQueue, Backlog};

/// Picoseconds in a second.
const PICOS: u128 = 1_000_000_000_000;

/// An exponentially weighted moving average over arrivals. While the link
/// rests it ages as if packets of the mean size had left an empty queue
/// [Floyd1993 s4].
#[derive(Clone, Debug)]
pub struct Average {
    value: f64,
    weight: f64,
    /// 1 - weight.
    keep: f64,
    rate: u128,
    /// Bits of a packet of the mean size, times the picoseconds of a second.
    packet: u128,
    idle_since: Option<Time>,
}

impl Average {
    /// An average of 0 in front of a link that has always rested: `weight`
    /// from 0 to 1 is what one arrival counts; the link carries packets of
    /// `mean_size` on average.
    pub fn new(weight: f64, rate: Rate, mean_size: Bytes) -> Self {
        Self {
            value: 0.0,
            weight,
            keep: 1.0 - weight,
            rate: u128::from(rate.bits_per_second()),
            packet: (u128::from(mean_size.get()) * 8 * PICOS).max(1),
            idle_since: Some(Time::ZERO),
        }
    }

    /// The average, in the unit in which it is fed.
    pub const fn value(&self) -> f64 {
        self.value
    }

    /// Goes on from `value`, for instance from what somebody else saw.
    pub const fn restart(&mut self, value: f64) {
        self.value = value;
    }

    /// Whether the link rests.
    pub const fn is_idle(&self) -> bool {
        self.idle_since.is_some()
    }

    /// The link rests since `since`; nothing changes where it did already.
    pub fn rest(&mut self, since: Time) {
        self.idle_since.get_or_insert(since);
    }

    /// The link has something to do at `now`. Each packet that could have left
    /// while it was idle counts as one sample of an empty queue:
    /// avg (1 - w)^m, m = floor(idle time x rate / (8 x mean size)). Returns
    /// (1 - w)^m.
    pub fn wake(&mut self, now: Time) -> f64 {
        let Some(since) = self.idle_since.take() else {
            return 1.0;
        };
        if self.value <= 0.0 {
            return 1.0;
        }
        let idle = now.since(since).unwrap_or_default();
        let departures = u128::from(idle.as_picos()) * self.rate / self.packet;
        if departures == 0 {
            return 1.0;
        }
        // Beyond 2^53 departures nothing is left of any average.
        let kept = libm::pow(self.keep, departures as f64);
        self.value *= kept;
        kept
    }

    /// The link has had something to do; an average of 0 stays as it is.
    pub(crate) const fn wake_at_zero(&mut self) {
        self.idle_since = None;
    }

    /// A packet came at `now` and found `queue`, which counts neither it nor
    /// the packet in transmission: avg (1 - w) + w q. Returns what
    /// [`Average::wake`] does.
    pub fn arrive(&mut self, now: Time, queue: f64) -> f64 {
        let kept = self.wake(now);
        self.value = self.value * self.keep + self.weight * queue;
        kept
    }
}

/// The same average of the frames that wait and of their bytes, in whatever
/// unit the discipline decides.
#[derive(Clone, Debug)]
pub(crate) struct AverageBacklog {
    frames: f64,
    bytes: f64,
    weight: f64,
}

impl AverageBacklog {
    pub(crate) const fn new(weight: f64) -> Self {
        Self {
            frames: 0.0,
            bytes: 0.0,
            weight,
        }
    }

    /// A packet came and found `backlog`, after `kept` of the average was left by
    /// the time for which the link rested.
    #[inline]
    pub(crate) fn arrive(&mut self, kept: f64, backlog: Backlog) {
        let keep = 1.0 - self.weight;
        let weigh = |average: f64, found: f64| average * kept * keep + self.weight * found;
        self.frames = weigh(self.frames, f64::from(backlog.packets));
        self.bytes = weigh(self.bytes, backlog.bytes.get() as f64);
    }

    /// The average, with how far that of `law` is from its upper threshold.
    pub(crate) fn of(&self, law: &Red) -> AverageQueue {
        AverageQueue {
            frames: self.frames,
            bytes: self.bytes,
            of_max: law.of_max(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    fn average(weight: f64) -> Average {
        let rate = Rate::from_bits_per_second(1_500_000).unwrap();
        Average::new(weight, rate, Bytes::new(1500))
    }

    #[test]
    fn a_burst_into_an_empty_queue_moves_it_as_far_as_the_closed_form_says() {
        // After arrivals that find 1 to L waiting: L + 1 + ((1-w)^(L+1) - 1)/w
        // [Floyd1993 s6.1].
        for (weight, length, printed) in [(0.001, 100u32, 4.887), (0.002, 50, 2.4687)] {
            let mut average = average(weight);
            for waiting in 1..=length {
                average.arrive(Time::ZERO, f64::from(waiting));
            }
            let more = f64::from(length) + 1.0;
            let closed = more + libm::expm1(more * libm::log1p(-weight)) / weight;
            assert!((average.value() / closed - 1.0).abs() < 1e-12, "{weight}");
            assert!((closed - printed).abs() < 6e-4, "{closed}");
        }
    }

    #[test]
    fn it_ages_by_the_packets_that_could_have_left() {
        for (micros, departures) in [(0, 0), (7_999, 0), (8_000, 1), (99_999, 12), (800_000, 100)] {
            let mut average = average(0.002);
            average.arrive(Time::ZERO, 20.0);
            let before = average.value();
            let since = Time::from_nanos(5);
            average.rest(since);
            average.rest(since + Span::from_secs(1));
            average.wake(since + Span::from_micros(micros));
            let expected = before * libm::exp(f64::from(departures) * libm::log1p(-0.002));
            assert!((average.value() / expected - 1.0).abs() < 1e-12);
            assert!(!average.is_idle());
        }
    }
}
