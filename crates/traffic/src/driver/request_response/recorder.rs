//! Statistics of the times of messages of one size.

use meter::request_response::{COARSE, OfSize};
use os::kernel_clock;

/// Records the times of messages of one size.
pub(super) struct SizeRecorder {
    size: u32,
    began: u64,
    processor: u64,
    messages: u64,
    sum: u64,
    /// Sum of squares about the first value, which is near the mean.
    first: u64,
    offset: f64,
    squares: f64,
    least: u64,
    /// Ticks of each coarse clock within messages.
    steps: [u64; 3],
}

impl SizeRecorder {
    pub(super) fn open(size: u32) -> Self {
        Self {
            size,
            processor: kernel_clock::process_nanos(),
            messages: 0,
            sum: 0,
            first: 0,
            offset: 0.0,
            squares: 0.0,
            least: u64::MAX,
            steps: [0; 3],
            began: kernel_clock::monotonic_nanos(),
        }
    }

    /// Records a message sent at `from` and answered at `to`.
    pub(super) fn record(&mut self, from: u64, to: u64) {
        let took = to.saturating_sub(from);
        if self.messages == 0 {
            self.first = took;
        }
        let about = float(took) - float(self.first);
        self.messages += 1;
        self.sum += took;
        self.offset += about;
        self.squares += about * about;
        self.least = self.least.min(took);
        for (steps, millis) in self.steps.iter_mut().zip(COARSE) {
            let step = millis * 1_000_000;
            *steps += to / step - from / step;
        }
    }

    /// The statistics, after all `bytes` were answered.
    pub(super) fn close(self, bytes: u64) -> OfSize {
        let whole = kernel_clock::monotonic_nanos().saturating_sub(self.began);
        let processor = kernel_clock::process_nanos().saturating_sub(self.processor);
        let messages = float(self.messages).max(1.0);
        let variance = (self.squares - self.offset * self.offset / messages)
            / (float(self.messages) - 1.0).max(1.0);
        let mut coarse = [0.0; 3];
        for ((mean, steps), millis) in coarse.iter_mut().zip(self.steps).zip(COARSE) {
            *mean = float(steps * millis * 1_000_000) / messages;
        }
        OfSize {
            size: self.size,
            messages: self.messages,
            mean: float(self.sum) / messages,
            deviation: variance.max(0.0).sqrt(),
            least: if self.messages == 0 { 0 } else { self.least },
            whole,
            processor: float(processor) * f64::from(self.size) / float(bytes).max(1.0),
            coarse,
        }
    }
}

fn float(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_coarse_clock_is_right_on_average_and_wrong_each_time() {
        let mut recorder = SizeRecorder::open(1_000);
        // Four consecutive messages of 0.3 ms: the clock of 1 ms ticks once.
        for number in 0..4 {
            let from = 500_000 + number * 300_000;
            recorder.record(from, from + 300_000);
        }
        let measured = recorder.close(4_000);
        assert_eq!((measured.messages, measured.least), (4, 300_000));
        assert!((measured.mean - 3e5).abs() < 1e-6 && measured.deviation < 1e-6);
        assert!(
            (measured.coarse[0] - 2.5e5).abs() < 1e-6,
            "{:?}",
            measured.coarse
        );
        assert_eq!(measured.coarse[1..], [0.0, 0.0]);
    }

    #[test]
    fn the_deviation_is_that_of_the_sample() {
        let mut recorder = SizeRecorder::open(1_000);
        for took in [2_000_000_004, 2_000_000_007, 2_000_000_013, 2_000_000_016] {
            recorder.record(0, took);
        }
        let measured = recorder.close(4_000);
        assert!((measured.deviation - 30f64.sqrt()).abs() < 1e-6);
        assert!((measured.mean - 2_000_000_010.0).abs() < 1e-6);
    }
}
