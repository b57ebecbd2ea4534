//! Which share of its packets a frame loses in the paper's reading
//! [Mulahuwaish s3].

use super::{Bounds, Share};
use crate::law;

/// The shares of all frames at one arrival: linear in the number of packets of
/// a frame, and within bounds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shares {
    bounds: Bounds,
    base: f64,
    per_packet: f64,
}

impl Shares {
    /// The shares where `frames` are there, each given by its number of packets.
    pub(super) fn new(
        share: Share,
        bounds: Bounds,
        law: &law::Red,
        frames: impl Iterator<Item = u32>,
    ) -> Self {
        let (base, per_packet) = match share {
            Share::Same => (law.probability(), 0.0),
            Share::Weighted => {
                let (count, packets) = frames.fold((0.0, 0.0), |(count, packets), frame| {
                    (count + 1.0, packets + f64::from(frame))
                });
                (0.0, law.probability() * count / f64::max(packets, 1.0))
            }
            Share::Own => {
                let largest = f64::from(frames.max().unwrap_or(1).max(1));
                let width = bounds.high - bounds.low;
                (bounds.low, width * law.level() / largest)
            }
        };
        Self {
            bounds,
            base,
            per_packet,
        }
    }

    /// The share of a frame of `packets`.
    pub(super) fn of(self, packets: u32) -> f64 {
        let share = self.base + self.per_packet * f64::from(packets);
        share.clamp(self.bounds.low, self.bounds.high)
    }
}
