//! The bytes of a flow over time, by interval and in bounded memory.

use units::{Bytes, Span, Time};

/// The intervals with which a series of unknown length begins, and the most of them: with
/// twice as many, lines of a plot were no better to read.
const SHORTEST: Span = Span::from_millis(10);
const MOST: usize = 128;

/// Bytes and times of a flow by interval. All intervals are equally long; the first
/// begins at time zero.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(try_from = "Stated"))]
pub struct TimeSeries {
    interval: Span,
    most: usize,
    intervals: Vec<Interval>,
}

/// A series as another process states it.
#[cfg(feature = "serde")]
#[derive(serde::Deserialize)]
struct Stated {
    interval: Span,
    most: usize,
    intervals: Vec<Interval>,
}

#[cfg(feature = "serde")]
impl TryFrom<Stated> for TimeSeries {
    type Error = &'static str;

    fn try_from(stated: Stated) -> Result<Self, Self::Error> {
        let Stated {
            interval,
            most,
            intervals,
        } = stated;
        if interval == Span::ZERO || most < 2 || intervals.len() > most {
            return Err("a series has intervals of some length, and at most as many as it states");
        }
        Ok(Self {
            interval,
            most,
            intervals,
        })
    }
}

/// One interval of a [`TimeSeries`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Interval {
    /// Bytes of payload that arrived.
    pub bytes: u64,
    /// The number of times: delays or round trips.
    pub times: u64,
    /// Their sum in nanoseconds.
    pub sum: u64,
    /// The longest of them in nanoseconds.
    pub longest: u64,
}

impl Default for TimeSeries {
    /// A series of a flow of unknown length: at first intervals of 10 ms, and at most 128
    /// of them.
    fn default() -> Self {
        Self::new(SHORTEST, MOST)
    }
}

impl TimeSeries {
    /// A series of intervals of length `interval`. With more than `most` of them, their
    /// length doubles.
    pub fn new(interval: Span, most: usize) -> Self {
        Self {
            interval: interval.max(Span::from_picos(1)),
            most: most.max(2),
            intervals: Vec::new(),
        }
    }

    /// Adds bytes that arrived at `at`.
    pub fn carried(&mut self, at: Time, bytes: Bytes) {
        let interval = self.at(at);
        interval.bytes = interval.bytes.saturating_add(bytes.get());
    }

    /// Adds a time that was known at `at`.
    pub fn took(&mut self, at: Time, time: Span) {
        let nanos = time.as_nanos();
        self.at(at).add(Interval {
            bytes: 0,
            times: 1,
            sum: nanos,
            longest: nanos,
        });
    }

    /// Adds another series. The result has the longer of both intervals, which has to be
    /// a power of two times the shorter one.
    pub fn add(&mut self, other: &Self) {
        while self.interval < other.interval {
            self.double();
        }
        let mut other = other.clone();
        while other.interval < self.interval {
            other.double();
        }
        let length = self.intervals.len().max(other.intervals.len());
        self.intervals.resize(length, Interval::default());
        for (interval, more) in self.intervals.iter_mut().zip(other.intervals) {
            interval.add(more);
        }
    }

    /// The length of an interval.
    pub fn interval(&self) -> Span {
        self.interval
    }

    /// The intervals up to the last one with an observation.
    pub fn intervals(&self) -> &[Interval] {
        &self.intervals
    }

    fn at(&mut self, at: Time) -> &mut Interval {
        let since = at.as_picos();
        // Ends: the interval grows to more than half of the largest time.
        while since / self.interval.as_picos() >= self.most as u64 {
            self.double();
        }
        let place = usize::try_from(since / self.interval.as_picos());
        let place = place.unwrap_or(self.most - 1);
        if place >= self.intervals.len() {
            self.intervals.resize(place + 1, Interval::default());
        }
        &mut self.intervals[place]
    }

    fn double(&mut self) {
        let picos = self.interval.as_picos().saturating_mul(2);
        self.interval = Span::from_picos(picos);
        let pairs = self.intervals.chunks(2).map(|pair| {
            let mut sum = pair[0];
            if let Some(second) = pair.get(1) {
                sum.add(*second);
            }
            sum
        });
        self.intervals = pairs.collect();
    }
}

impl Interval {
    /// The mean time in milliseconds, if there is one.
    pub fn mean_ms(&self) -> Option<f64> {
        (self.times > 0).then(|| self.sum as f64 / self.times as f64 / 1e6)
    }

    /// The longest time in milliseconds, if there is one.
    pub fn longest_ms(&self) -> Option<f64> {
        (self.times > 0).then(|| self.longest as f64 / 1e6)
    }

    fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.times = self.times.saturating_add(other.times);
        self.sum = self.sum.saturating_add(other.sum);
        self.longest = self.longest.max(other.longest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MILLI: u64 = 1_000_000_000;

    fn series(observed: &[(u64, u32, u32)], most: usize) -> TimeSeries {
        let mut series = TimeSeries::new(Span::from_millis(1), most);
        for &(at, bytes, nanos) in observed {
            let at = Time::from_picos(at);
            series.carried(at, Bytes::new(bytes.into()));
            series.took(at, Span::from_nanos(nanos.into()));
        }
        series
    }

    #[test]
    fn an_observation_counts_in_its_interval() {
        let observed = [(0, 100, 10), (MILLI - 1, 50, 30), (2 * MILLI, 7, 5)];
        let series = series(&observed, 8);
        let [first, second, third] = series.intervals() else {
            panic!("{series:?}");
        };
        assert_eq!((first.bytes, first.times), (150, 2));
        assert_eq!(first.mean_ms(), Some(20e-6));
        assert_eq!(first.longest_ms(), Some(30e-6));
        assert_eq!((second.bytes, second.mean_ms()), (0, None));
        assert_eq!((third.bytes, third.longest_ms()), (7, Some(5e-6)));
    }

    #[test]
    fn the_interval_doubles_until_the_bound_holds() {
        let series = series(&[(0, 1, 1), (3 * MILLI, 2, 1), (9 * MILLI, 4, 1)], 4);
        assert_eq!(series.interval(), Span::from_millis(4));
        let bytes: Vec<u64> = series.intervals().iter().map(|one| one.bytes).collect();
        assert_eq!(bytes, [3, 0, 4]);
    }

    proptest! {
        #[test]
        fn nothing_is_lost_and_the_bound_holds_whenever_it_arrives(
            observed in prop::collection::vec((any::<u64>(), any::<u32>(), any::<u32>()), 0..50),
            others in prop::collection::vec((any::<u64>(), any::<u32>(), any::<u32>()), 0..50),
            most in 2_usize..100,
        ) {
            let mut both = series(&observed, most);
            both.add(&series(&others, most));
            prop_assert!(both.intervals().len() <= most);
            let all = || observed.iter().chain(&others);
            let sum = |of: fn(&Interval) -> u64| both.intervals().iter().map(of).sum::<u64>();
            let bytes: u64 = all().map(|one| u64::from(one.1)).sum();
            let nanos: u64 = all().map(|one| u64::from(one.2)).sum();
            prop_assert_eq!(sum(|one| one.bytes), bytes);
            prop_assert_eq!(sum(|one| one.sum), nanos);
            prop_assert_eq!(sum(|one| one.times), all().count() as u64);
            let longest = both.intervals().iter().map(|one| one.longest).max();
            prop_assert_eq!(longest, all().map(|one| u64::from(one.2)).max());
        }
    }
}
