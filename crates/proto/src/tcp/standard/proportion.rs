//! A window that comes down in proportion to what is delivered [RFC6937].

/// What a recovery has sent and what was delivered in it, octets [RFC6937 s3].
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Proportion {
    delivered: u64,
    sent: u64,
    /// What was outstanding when it began.
    outstanding: u64,
    /// What was delivered with the acknowledgement that is worked on.
    now: u64,
    /// Whether that one acknowledged something new.
    pub(super) safe: bool,
}

impl Proportion {
    /// A recovery begins with so many octets outstanding.
    pub(super) fn new(outstanding: u64) -> Self {
        Self {
            outstanding,
            ..Self::default()
        }
    }

    /// So many octets were sent.
    pub(super) const fn send(&mut self, octets: u64) {
        self.sent += octets;
    }

    /// Takes in what an acknowledgement has delivered.
    pub(super) const fn deliver(&mut self, octets: u64) {
        self.delivered += octets;
        self.now = octets;
    }

    /// Octets that the acknowledgement which is worked on has delivered.
    pub(super) const fn now(&self) -> u64 {
        self.now
    }

    /// How much may be sent with this acknowledgement, where `pipe` octets are
    /// in flight and `threshold` should be in the end. `segment` more than was
    /// delivered may leave as long as acknowledgements say that all goes well
    /// [RFC6937 s3].
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
        // Whole segments, as a window counts them.
        allowed.div_ceil(segment) * segment
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Octets of a segment.
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
        // A quarter: a segment for the first of four.
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
