//! What was acknowledged, by the counts of systems other than Linux.

use os::socket::SegmentState;

/// What was acknowledged of a connection so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Acknowledged {
    bytes: u64,
    /// The system's count of what was sent again, and how often it has grown.
    sent_again: u64,
    retransmissions: u32,
    /// Whether nothing waited for an acknowledgement at the latest look.
    nothing_waited: bool,
}

impl Acknowledged {
    /// What was acknowledged of the bytes `written`, after a look. After a timeout some systems
    /// count what they have sent again alone. Then nothing more counts as acknowledged until two
    /// looks in a row find that nothing waits.
    pub(super) fn after(&mut self, seen: &SegmentState, written: u64) -> u64 {
        if seen.sent_again > self.sent_again {
            self.retransmissions += 1;
            self.sent_again = seen.sent_again;
        }
        let nothing_waits = seen.unacknowledged == 0;
        if self.retransmissions == 0 || nothing_waits && self.nothing_waited {
            let acknowledged = written.saturating_sub(seen.unacknowledged);
            self.bytes = self.bytes.max(acknowledged);
        }
        self.nothing_waited = nothing_waits;
        self.bytes
    }

    /// How often something was sent again.
    pub(super) const fn retransmissions(&self) -> u32 {
        self.retransmissions
    }
}

#[cfg(test)]
mod tests {
    use units::Bytes;

    use super::*;

    fn seen(unacknowledged: u64, sent_again: u64) -> SegmentState {
        SegmentState {
            segment: Bytes::new(1460),
            has_timestamps: false,
            round_trip: None,
            window: Bytes::new(64_000),
            unacknowledged,
            sent_again,
        }
    }

    #[test]
    fn bytes_that_wait_are_not_acknowledged() {
        let mut acknowledged = Acknowledged::default();
        assert_eq!(acknowledged.after(&seen(0, 0), 0), 0);
        assert_eq!(acknowledged.after(&seen(5_000, 0), 5_000), 0);
        assert_eq!(acknowledged.after(&seen(1_200, 0), 5_000), 3_800);
        // A later look that counts other segments takes nothing back.
        assert_eq!(acknowledged.after(&seen(1_400, 0), 5_000), 3_800);
        assert_eq!(acknowledged.retransmissions(), 0);
    }

    #[test]
    fn after_a_timeout_only_what_leaves_nothing_waiting_counts() {
        let mut acknowledged = Acknowledged::default();
        acknowledged.after(&seen(3_000, 0), 9_000);
        // One segment is on its way again, and the system counts it alone.
        assert_eq!(acknowledged.after(&seen(1_460, 1_460), 9_000), 6_000);
        assert_eq!(acknowledged.after(&seen(0, 2_920), 9_000), 6_000);
        assert_eq!(acknowledged.after(&seen(1_460, 2_920), 9_000), 6_000);
        assert_eq!(acknowledged.retransmissions(), 2);
        assert_eq!(acknowledged.after(&seen(0, 2_920), 9_000), 6_000);
        assert_eq!(acknowledged.after(&seen(0, 2_920), 9_000), 9_000);
    }
}
