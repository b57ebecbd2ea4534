//! Precision of this machine's clock and of paced waiting.

use hdrhistogram::Histogram;
use units::{Span, Time};

use crate::clock;
use crate::error::Result;
use crate::pacing::Pacer;

/// Ways to wait for a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// An ordinary sleep for the remaining time.
    Sleep,
    /// A sleep until the time, without timer slack.
    Timer,
    /// As [`Pacer::new`]: sleeps until shortly before the time, then polls the
    /// clock.
    Pacer,
}

/// Timing error of waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimingError {
    /// Median timing error.
    pub median: Span,
    /// 99th percentile of the timing error.
    pub p99: Span,
    /// Maximum timing error.
    pub max: Span,
}

/// Cost and resolution of a reading of the clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reading {
    /// Time of a reading: the mean of a thousand in the least disturbed batch.
    pub cost: Span,
    /// The smallest non-zero difference between two readings.
    pub step: Span,
}

/// Measures the timing error of waits for `count` times, `interval` apart on a fixed
/// grid. It takes `interval` times `count`. A wait that ends after the next time
/// makes that one late, too, as it would delay a packet.
///
/// # Errors
/// As [`Pacer::new`].
pub fn measure(wait: Wait, interval: Span, count: u64) -> Result<TimingError> {
    let pacer = match wait {
        Wait::Sleep => None,
        Wait::Timer => Some(Pacer::sleeping()?),
        Wait::Pacer => Some(Pacer::new()?),
    };
    let start = clock::monotonic();
    let mut late = Vec::new();
    for number in 1..=count {
        let deadline = start + interval * number;
        let woken = match &pacer {
            Some(pacer) => pacer.wait_until(deadline),
            None => sleep_for_the_rest(deadline),
        };
        late.push(woken.since(deadline).unwrap_or_default());
    }
    Ok(TimingError::of(&late))
}

impl TimingError {
    /// The percentiles, to three digits [HdrHistogram].
    pub(super) fn of(spans: &[Span]) -> Self {
        let mut histogram =
            Histogram::<u64>::new(3).expect("three is a number of digits that histograms have");
        for span in spans {
            let recorded = histogram.record(span.as_nanos());
            recorded.expect("213 days of nanoseconds to three digits are half a megabyte");
        }
        let max = spans.iter().max().copied().unwrap_or_default();
        let quantile = |quantile| Span::from_nanos(histogram.value_at_quantile(quantile)).min(max);
        Self {
            median: quantile(0.50),
            p99: quantile(0.99),
            max,
        }
    }
}

/// Reads the monotonic clock about ten thousand times; takes a millisecond, or ten if
/// reading is slow.
pub fn reading() -> Reading {
    // Other processes disturb some of the batches, which would falsify the cost.
    let batches = [(); 10].map(|()| batch());
    let steps = batches.iter().filter_map(|(_, step)| *step);
    Reading {
        cost: batches
            .iter()
            .map(|(cost, _)| *cost)
            .min()
            .unwrap_or_default(),
        // All readings are equal: the clock is coarser than the batch is long.
        step: steps.min().unwrap_or_else(next_step),
    }
}

/// The mean cost of a thousand readings, and the smallest difference between two
/// consecutive ones.
fn batch() -> (Span, Option<Span>) {
    const READINGS: u64 = 1_000;
    let start = clock::monotonic();
    let (mut before, mut step) = (start, None::<Span>);
    for _ in 0..READINGS {
        let now = clock::monotonic();
        let difference = now.since(before).filter(|span| *span > Span::ZERO);
        step = [step, difference].into_iter().flatten().min();
        before = now;
    }
    let elapsed = before.since(start).unwrap_or_default();
    (Span::from_picos(elapsed.as_picos() / READINGS), step)
}

/// Waits for the clock to change.
fn next_step() -> Span {
    let before = clock::monotonic();
    loop {
        match clock::monotonic().since(before) {
            Some(span) if span > Span::ZERO => return span,
            _ => {}
        }
    }
}

fn sleep_for_the_rest(deadline: Time) -> Time {
    if let Some(left) = deadline.since(clock::monotonic()) {
        clock::sleep(left);
    }
    clock::monotonic()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_those_of_the_waits_and_never_above_the_latest() {
        let spans: Vec<Span> = (1..=200).map(Span::from_micros).collect();
        let late = TimingError::of(&spans);
        let near = |span: Span, micros: f64| (span.as_secs_f64() * 1e6 / micros - 1.0).abs() < 0.01;
        assert!(
            near(late.median, 100.0) && near(late.p99, 198.0),
            "{late:?}"
        );
        assert_eq!(late.max, Span::from_micros(200));
        let alike = TimingError::of(&[Span::from_nanos(123_456); 3]);
        assert!(alike.median <= alike.p99 && alike.p99 <= alike.max);
    }

    #[test]
    fn every_way_of_waiting_ends_after_its_instants_in_order_of_timing_error() {
        for wait in [Wait::Sleep, Wait::Timer, Wait::Pacer] {
            let begun = clock::monotonic();
            let late = measure(wait, Span::from_micros(500), 20).unwrap();
            let elapsed = clock::monotonic().since(begun).unwrap();
            assert!(elapsed >= Span::from_millis(10), "{wait:?} took {elapsed}");
            assert!(late.median <= late.p99 && late.p99 <= late.max, "{late:?}");
        }
    }

    #[test]
    fn a_clock_that_runs_shows_steps_and_has_a_cost() {
        let reading = reading();
        assert!(reading.cost > Span::ZERO && reading.step > Span::ZERO);
    }
}
