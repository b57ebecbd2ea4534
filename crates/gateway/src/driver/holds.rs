//! The times that packets waited in bundles, as the bundles state them.

use hdrhistogram::Histogram;
use units::Span;
use wire::bundle;

/// Bundles of which one is read: percentiles of a sample are as good.
const ONE_OF: u64 = 8;

/// The times that packets waited in bundles.
#[derive(Clone, Debug)]
pub struct Holds {
    micros: Histogram<u64>,
    /// Packets of the bundles seen.
    bundles: u64,
}

impl Default for Holds {
    fn default() -> Self {
        Self {
            micros: Histogram::new_with_bounds(1, 1_000_000, 2).expect("these bounds are valid"),
            bundles: 0,
        }
    }
}

impl Holds {
    /// Takes the bundle behind the first `payload` bytes, if it can be read: of labels
    /// and sealed bundles it cannot.
    pub(super) fn record(&mut self, bytes: &[u8], payload: usize) {
        self.bundles += 1;
        if payload == 0 || !self.bundles.is_multiple_of(ONE_OF) {
            return;
        }
        for waited in bundle::waits(bytes.get(payload..).unwrap_or_default()) {
            // Beyond the bounds of the histogram, the highest one counts.
            self.micros.saturating_record(waited.as_nanos() / 1_000);
        }
    }

    /// The time that this share of the packets waited at most; `None` if none was seen.
    pub fn quantile(&self, share: f64) -> Option<Span> {
        let micros = self.micros.value_at_quantile(share);
        (!self.micros.is_empty()).then(|| Span::from_micros(micros))
    }
}
