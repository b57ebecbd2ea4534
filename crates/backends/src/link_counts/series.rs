//! A time series of a link's queue, by interval.

use std::fmt::Write as _;

use plan::UNKNOWN;
use plan::evidence::LinkSeries;
use queue::AverageQueue;
use units::Span;

/// Counters by interval. Times and times are in picoseconds.
pub(crate) struct Series {
    interval: u64,
    /// The end of the last interval, which may be shorter.
    end: u64,
    slots: Vec<Slot>,
}

/// One interval.
#[derive(Clone, Default)]
struct Slot {
    arrivals: u32,
    drops: u32,
    /// The sum of the averages at arrivals, in frames, if the queue has an average.
    averages: f64,
    averaged: u32,
    /// The change of the queue length over the interval.
    more: i64,
    /// The integral of these changes within the interval.
    waited: i128,
}

impl Series {
    pub(crate) fn new(interval: Span, duration: Span) -> Self {
        let (interval, end) = (interval.as_picos().max(1), duration.as_picos());
        let slots = usize::try_from(end.div_ceil(interval)).unwrap_or(0);
        Self {
            interval,
            end,
            slots: vec![Slot::default(); slots],
        }
    }

    /// Records a packet that arrived at `at` and found this average.
    pub(crate) fn queued(&mut self, at: u64, average: Option<AverageQueue>) {
        let Some(slot) = self.step(at, 1) else {
            return;
        };
        slot.arrivals += 1;
        if let Some(average) = average {
            slot.averages += average.frames;
            slot.averaged += 1;
        }
    }

    /// Records that one packet less waits from `at` on.
    pub(crate) fn gone(&mut self, at: u64) {
        self.step(at, -1);
    }

    /// Records a packet dropped by the queue at `at`.
    pub(crate) fn dropped(&mut self, at: u64) {
        if let Some(slot) = self.slot(at) {
            slot.drops += 1;
        }
    }

    /// The series as text of numbers separated by spaces: a run may hold
    /// thousands of trials, all of which are in memory at its end.
    pub(crate) fn finish(self) -> LinkSeries {
        let (mut queue, mut average) = (String::new(), String::new());
        let (mut arrivals, mut drops) = (String::new(), String::new());
        let mut waiting = 0;
        for (number, slot) in (0_u64..).zip(&self.slots) {
            let begin = number * self.interval;
            let length = self.interval.min(self.end - begin);
            let waited = i128::from(waiting) * i128::from(length) + slot.waited;
            waiting += slot.more;
            put(&mut queue, Some(waited as f64 / length as f64));
            let mean = slot.averages / f64::from(slot.averaged);
            put(&mut average, (slot.averaged > 0).then_some(mean));
            // Writing to a `String` cannot fail.
            let _ = write!(arrivals, "{} ", slot.arrivals);
            let _ = write!(drops, "{} ", slot.drops);
        }
        let has_average = self.slots.iter().any(|slot| slot.averaged > 0);
        let trimmed = |text: &str| Some(text.trim_end().to_owned());
        LinkSeries {
            interval_s: Span::from_picos(self.interval).as_secs_f64(),
            queue: trimmed(&queue),
            arrivals: trimmed(&arrivals),
            drops: trimmed(&drops),
            average: has_average.then(|| trimmed(&average)).flatten(),
        }
    }

    fn slot(&mut self, at: u64) -> Option<&mut Slot> {
        let number = usize::try_from(at / self.interval).ok()?;
        self.slots.get_mut(number)
    }

    /// Changes the queue length by `by` from `at` on.
    fn step(&mut self, at: u64, by: i64) -> Option<&mut Slot> {
        let end = (at - at % self.interval + self.interval).min(self.end);
        let slot = self.slot(at)?;
        slot.more += by;
        slot.waited += i128::from(by) * i128::from(end.saturating_sub(at));
        Some(slot)
    }
}

/// Appends a number with at most two decimals, and a space.
fn put(text: &mut String, value: Option<f64>) {
    match value {
        None => text.push_str(UNKNOWN),
        Some(value) => {
            let written = format!("{value:.2}");
            text.push_str(written.trim_end_matches('0').trim_end_matches('.'));
        }
    }
    text.push(' ');
}
