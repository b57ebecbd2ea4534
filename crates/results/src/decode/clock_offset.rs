//! The offset between the clocks of sender and receiver.

use wire::log::Estimate;

/// The receiver's clock minus the sender's: a line through the estimates.
#[derive(Clone, Copy, Default)]
pub(super) struct ClockOffset {
    at: u64,
    offset: i64,
    /// The relative drift, in nanoseconds per nanosecond.
    slope: f64,
    pub(super) bound: Option<u64>,
}

impl ClockOffset {
    pub(super) fn of(estimates: &[Estimate]) -> Self {
        let (Some(first), Some(last)) = (estimates.first(), estimates.last()) else {
            return Self::default();
        };
        let time = last.at.saturating_sub(first.at);
        let drift = last.offset.saturating_sub(first.offset);
        Self {
            at: first.at,
            offset: first.offset,
            slope: if time == 0 {
                0.0
            } else {
                drift as f64 / time as f64
            },
            bound: Some(first.bound.max(last.bound)),
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        reason = "a float that is too large becomes the largest number there is"
    )]
    pub(super) fn when(&self, at: u64) -> i64 {
        if self.slope == 0.0 {
            return self.offset;
        }
        let since = at.wrapping_sub(self.at).cast_signed() as f64;
        self.offset.saturating_add((since * self.slope) as i64)
    }
}
