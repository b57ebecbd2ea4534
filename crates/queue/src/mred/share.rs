//! Which share of its packets a frame loses to the letter of the paper
//! [Mulahuwaish s3].

use super::{Bounds, Share, SizeOf, packets};
use crate::{Packet, law};

/// The shares of all frames at one arrival: linear in the weight of a frame, and
/// within bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    bounds: Bounds,
    base: f64,
    slope: f64,
}

impl Shares {
    /// The shares where frames of such weights are there.
    pub(super) fn new(
        share: Share,
        bounds: Bounds,
        law: &law::Red,
        weights: impl Iterator<Item = f64>,
    ) -> Self {
        let (base, slope) = match share {
            Share::Same => (law.probability(), 0.0),
            Share::Weighted => {
                let (count, sum) = weights.fold((0.0, 0.0), |(count, sum), weight| {
                    (count + 1.0, sum + weight)
                });
                (0.0, law.probability() * count / f64::max(sum, 1.0))
            }
            Share::Own => {
                let largest = weights.fold(1.0, f64::max);
                let width = bounds.high - bounds.low;
                (bounds.low, width * law.level() / largest)
            }
        };
        Self {
            bounds,
            base,
            slope,
        }
    }

    /// The share of a frame of this weight.
    pub(super) fn of(self, weight: f64) -> f64 {
        let share = self.base + self.slope * weight;
        share.clamp(self.bounds.low, self.bounds.high)
    }
}

/// What the share of `frame` goes by: its packets, or all that is in it by the
/// average length in its header.
pub(super) fn weight<P: Packet>(share: Share, size: SizeOf, frame: &P) -> f64 {
    let packets = f64::from(packets(frame, size));
    match share {
        Share::Same | Share::Weighted => packets,
        Share::Own => packets * frame.advertised().average.get() as f64,
    }
}
