//! Rate limit of the notifications about oversized packets.

use units::{Span, Time};

/// The largest burst of notifications.
const BURST: u64 = 10;

/// Interval between notifications: 100 per second. The standard demands a limit, and
/// names 10 per second in bursts of 10 as an example for a small device [RFC4443 s2.4].
const EVERY: Span = Span::from_millis(10);

/// A token bucket for notifications, full at first, which keeps a flood of oversized packets from
/// causing a flood of answers.
#[derive(Debug, Default)]
pub struct Answers {
    /// The time at which the bucket is full again.
    full_at: Time,
}

impl Answers {
    /// Takes a token at `now`, if there is one.
    pub fn take(&mut self, now: Time) -> bool {
        let full_at = self.full_at.max(now) + EVERY;
        let granted = full_at <= now + EVERY * BURST;
        if granted {
            self.full_at = full_at;
        }
        granted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_gets_a_burst_and_then_a_hundred_a_second() {
        let mut answers = Answers::default();
        let begin = Time::from_nanos(5_000_000_000);
        let at = |micros| begin + Span::from_micros(micros);
        assert_eq!((0..100).filter(|_| answers.take(begin)).count(), 10);
        // A packet every 100 us for 2 s.
        let granted = (1..=20_000).filter(|n| answers.take(at(n * 100))).count();
        assert_eq!(granted, 200);
        // After a pause the bucket holds one burst.
        let later = at(60_000_000);
        assert_eq!((0..100).filter(|_| answers.take(later)).count(), 10);
    }
}
