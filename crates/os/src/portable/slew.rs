//! Slews of the wall clock: a time service lets it run faster or slower for a while.

use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use units::Span;

use crate::clock::rate_nanos;
use crate::error::{Error, OperationContext, Result};
use crate::portable::mapping::wall_ahead_of;

/// The first interval between two readings.
const INTERVAL: Duration = Duration::from_millis(20);

/// The most readings that are kept. After that every second one is, at twice the interval.
const MOST: usize = 1 << 14;

/// One reading of the wall clock and of the clock whose rate no time service changes. In
/// nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Reading {
    raw: u64,
    /// The wall clock minus the raw one.
    ahead: i128,
}

/// A thread that watches the rate of the wall clock.
pub struct SlewWatch {
    /// Dropping it ends the thread.
    stop: Sender<()>,
    thread: JoinHandle<Vec<Reading>>,
}

impl SlewWatch {
    /// Begins to watch.
    ///
    /// # Errors
    /// If no thread can be started.
    pub fn start() -> Result<Self> {
        let (stop, stopped) = mpsc::channel();
        let watch = move || {
            let (mut readings, mut interval) = (vec![Reading::now()], INTERVAL);
            while let Err(RecvTimeoutError::Timeout) = stopped.recv_timeout(interval) {
                readings.push(Reading::now());
                if readings.len() > MOST {
                    let mut number = 0;
                    readings.retain(|_| {
                        number += 1;
                        number % 2 == 1
                    });
                    interval *= 2;
                }
            }
            readings.push(Reading::now());
            readings
        };
        let thread = thread::Builder::new().spawn(watch);
        let thread = thread.during(|| "starting a thread that watches the wall clock")?;
        Ok(Self { stop, thread })
    }

    /// Ends the watch. Returns the largest difference between the wall clock and one that
    /// ran at an even rate from the first reading to the last one.
    ///
    /// # Errors
    /// If the thread has panicked.
    pub fn end(self) -> Result<Span> {
        drop(self.stop);
        let readings = self.thread.join();
        let readings = readings
            .map_err(|_| Error::new("watching the wall clock", "its thread has panicked"))?;
        Ok(unevenness(&readings))
    }
}

impl Reading {
    fn now() -> Self {
        Self {
            raw: rate_nanos(),
            ahead: wall_ahead_of(rate_nanos),
        }
    }
}

/// The largest difference of a reading from the line through the first and the last one.
fn unevenness(readings: &[Reading]) -> Span {
    let (Some(first), Some(last)) = (readings.first(), readings.last()) else {
        return Span::ZERO;
    };
    let whole = i128::from(last.raw) - i128::from(first.raw);
    let change = last.ahead.saturating_sub(first.ahead);
    let off = readings.iter().map(|reading| {
        let part = i128::from(reading.raw) - i128::from(first.raw);
        let even = match whole {
            1.. => (first.ahead).saturating_add(change.saturating_mul(part) / whole),
            _ => first.ahead,
        };
        reading.ahead.abs_diff(even)
    });
    let most = off.max().unwrap_or_default();
    Span::from_nanos(
        u64::try_from(most)
            .unwrap_or(u64::MAX / 1_000)
            .min(u64::MAX / 1_000),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Readings every 20 ms: the wall clock gains `first` parts per million, and after
    /// `half` readings `second`.
    fn readings(first: i128, second: i128, half: u64) -> Vec<Reading> {
        let gained = |number: u64| {
            let (early, late) = (number.min(half), number.saturating_sub(half));
            20 * (first * i128::from(early) + second * i128::from(late))
        };
        (0..=2 * half)
            .map(|number| Reading {
                raw: 5_000_000_000 + number * 20_000_000,
                ahead: 1_700_000_000_000_000_000 + gained(number),
            })
            .collect()
    }

    #[test]
    fn a_slew_in_the_second_half_bends_the_clock_by_a_quarter_of_what_it_gains() {
        // 500 ppm for one of two seconds gain 500 us.
        let bent = unevenness(&readings(0, 500, 50));
        assert_eq!(bent, Span::from_micros(250));
        assert_eq!(unevenness(&readings(0, -500, 50)), bent);
    }

    proptest! {
        #[test]
        fn a_clock_of_an_even_rate_is_even_however_fast_it_runs(
            rate in -100_000_i128..100_000, half in 1_u64..200,
        ) {
            prop_assert!(unevenness(&readings(rate, rate, half)) <= Span::from_nanos(1));
        }

        #[test]
        fn no_readings_make_it_panic(readings: Vec<(u64, i128)>) {
            let readings: Vec<Reading> = readings.into_iter().map(|(raw, ahead)| {
                Reading { raw, ahead: ahead / 4 }
            }).collect();
            let _ = unevenness(&readings);
        }
    }

    #[test]
    fn a_watch_of_this_clock_ends() {
        let watch = SlewWatch::start().unwrap();
        assert!(watch.end().unwrap() < Span::from_secs(1));
    }
}
