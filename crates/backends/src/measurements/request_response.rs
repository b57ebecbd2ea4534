//! The metrics of request-response messages of many sizes.

use meter::request_response::OfSize;
use plan::evidence::{self, Sizes};
use plan::metric::{self, Metric};
use plan::setting as spec;

use super::Measurements;

/// The number of bytes for which times are stated, to make sizes comparable: a
/// megabyte.
const MEGABYTE: f64 = 1e6;

/// The metrics of the coarse clocks, in the order of [`COARSE`](meter::request_response::COARSE).
const COARSE: [&Metric; 3] = [
    &metric::MESSAGE_TIME_1MS,
    &metric::MESSAGE_TIME_10MS,
    &metric::MESSAGE_TIME_55MS,
];

impl Measurements {
    /// The times by size, in ascending order.
    pub(crate) fn take_sizes(
        &mut self,
        request_response: &spec::RequestResponse,
        sizes: &[OfSize],
    ) {
        if sizes.is_empty() {
            return;
        }
        let millis = |nanos: f64| nanos / 1e6;
        if let Some(at) = sizes
            .iter()
            .find(|one| one.size == request_response.sizes.at)
        {
            self.put(&metric::MESSAGE_TIME, Some(millis(at.mean)));
            if at.processor > 0.0 {
                self.put(&metric::MESSAGE_TIME_PROCESSOR, Some(millis(at.processor)));
            }
            for (metric, mean) in COARSE.into_iter().zip(at.coarse) {
                if at.processor > 0.0 {
                    self.put(metric, Some(millis(mean)));
                }
            }
        }
        let per_megabyte = MEGABYTE / whole(request_response.bytes.get());
        let wholes: f64 = sizes.iter().map(|one| whole(one.whole)).sum();
        let mean = wholes / count(sizes.len()) * per_megabyte;
        self.put(&metric::MEGABYTE_TIME, Some(millis(mean)));
        self.note(evidence::SIZES, by_size(sizes));
    }
}

/// The evidence by size: lists of numbers as text, which keep the journal small
/// with thousands of sizes. Times in microseconds.
fn by_size(sizes: &[OfSize]) -> Sizes {
    let words = |of: &dyn Fn(&OfSize) -> String| {
        let words: Vec<String> = sizes.iter().map(of).collect();
        words.join(" ")
    };
    let micros = |nanos: f64| format!("{:.3}", nanos / 1e3);
    // A simulated clock has no steps, and simulated CPUs have no time.
    let has_clocks = sizes.iter().any(|one| one.processor > 0.0);
    let clock = |of: fn(&OfSize) -> f64| has_clocks.then(|| words(&|one| micros(of(one))));
    Sizes {
        size: words(&|one| one.size.to_string()),
        messages: words(&|one| one.messages.to_string()),
        mean_us: words(&|one| micros(one.mean)),
        deviation_us: words(&|one| micros(one.deviation)),
        least_us: words(&|one| micros(whole(one.least))),
        whole_us: words(&|one| micros(whole(one.whole))),
        processor_us: clock(|one| one.processor),
        clock_1ms_us: clock(|one| one.coarse[0]),
        clock_10ms_us: clock(|one| one.coarse[1]),
        clock_55ms_us: clock(|one| one.coarse[2]),
    }
}

/// A number of things as a metric.
pub(crate) fn count(number: usize) -> f64 {
    whole(u64::try_from(number).unwrap_or(u64::MAX))
}

/// A count as a metric.
pub(crate) fn whole(number: u64) -> f64 {
    number as f64
}
