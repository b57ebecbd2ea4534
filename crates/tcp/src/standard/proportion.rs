//! Proportional rate reduction [RFC6937].

/// Bytes sent and delivered in a recovery [RFC6937 s3].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proportion {
    delivered: u64,
    sent: u64,
    /// Outstanding bytes at its start.
    outstanding: u64,
    /// Bytes delivered by the current acknowledgement.
    now: u64,
    /// Whether the current acknowledgement covers new data.
    pub(super) safe: bool,
}

impl Proportion {
    /// Begins a recovery with `outstanding` bytes in flight.
    pub(super) fn new(outstanding: u64) -> Self {
        Self {
            outstanding,
            ..Self::default()
        }
    }

    /// Records that `bytes` were sent.
    pub(super) const fn send(&mut self, bytes: u64) {
        self.sent += bytes;
    }

    /// Records that an acknowledgement delivered `bytes`.
    pub(super) const fn deliver(&mut self, bytes: u64) {
        self.delivered += bytes;
        self.now = bytes;
    }

    /// Bytes delivered by the current acknowledgement.
    pub(super) const fn now(&self) -> u64 {
        self.now
    }

    /// Bytes that may be sent for this acknowledgement, with `pipe` bytes in flight
    /// and `threshold` as the target. A `segment` more than delivered may be sent while
    /// acknowledgements cover new data [RFC6937 s3].
    pub(super) fn allowed(&self, pipe: u64, threshold: u64, segment: u64) -> u64 {
        let allowed = if pipe > threshold {
            let part = u128::from(self.delivered) * u128::from(threshold);
            let part = part.div_ceil(u128::from(self.outstanding.max(1)));
            u64::try_from(part)
                .unwrap_or(u64::MAX)
                .saturating_sub(self.sent)
        } else {
            let more = if self.safe { segment } else { 0 };
            let most = self.delivered.saturating_sub(self.sent).max(self.now) + more;
            most.min(threshold - pipe)
        };
        // Rounded to whole segments, as the window counts them.
        allowed.div_ceil(segment) * segment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes of a segment.
    const SEGMENT: u64 = 1_000;

    #[test]
    fn half_of_what_is_delivered_leaves_while_the_window_comes_down() {
        let mut proportion = Proportion::new(20 * SEGMENT);
        let (mut pipe, mut sent) = (20 * SEGMENT, Vec::new());
        for _ in 0..10 {
            pipe -= SEGMENT;
            proportion.deliver(SEGMENT);
            let allowed = proportion.allowed(pipe, 5 * SEGMENT, SEGMENT);
            proportion.send(allowed);
            pipe += allowed;
            sent.push(allowed / SEGMENT);
        }
        // A quarter: one segment for the first of four acknowledgements.
        assert_eq!(sent, [1, 0, 0, 0, 1, 0, 0, 0, 1, 0]);
    }

    #[test]
    fn a_pipe_that_ran_dry_fills_by_a_segment_more_than_what_was_delivered() {
        let mut proportion = Proportion::new(20 * SEGMENT);
        proportion.deliver(SEGMENT);
        assert_eq!(proportion.allowed(0, 10 * SEGMENT, SEGMENT), SEGMENT);
        proportion.safe = true;
        assert_eq!(proportion.allowed(0, 10 * SEGMENT, SEGMENT), 2 * SEGMENT);
        assert_eq!(
            proportion.allowed(9 * SEGMENT, 10 * SEGMENT, SEGMENT),
            SEGMENT
        );
    }
}
