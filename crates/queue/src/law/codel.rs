//! CoDel: controlled delay [RFC8289 s5].

use units::{Bytes, Span, Time};

/// How many intervals ago dropping may have ended for it to go on where it was
/// [RFC8289 s5.6].
const RECENT: u64 = 16;

/// CoDel without a queue: when a packet that leaves is one too many.
#[derive(Clone, Debug)]
pub struct Codel {
    target: Span,
    interval: Span,
    /// While no more than this waits, nothing is dropped: the largest packet.
    least: Bytes,
    /// From when on, the sojourn being above the target all the time, packets
    /// may be dropped.
    ripe_from: Option<Time>,
    dropping: bool,
    next: Time,
    count: u32,
    last_count: u32,
}

impl Codel {
    /// Nothing has passed yet. Packets may wait for `target`, and for longer
    /// during one `interval`; `least` bytes always may.
    pub const fn new(target: Span, interval: Span, least: Bytes) -> Self {
        Self {
            target,
            interval,
            least,
            ripe_from: None,
            dropping: false,
            next: Time::ZERO,
            count: 0,
            last_count: 0,
        }
    }

    /// Whether it is dropping at the moment.
    pub const fn is_dropping(&self) -> bool {
        self.dropping
    }

    /// When it drops next, while it is dropping.
    pub const fn next(&self) -> Time {
        self.next
    }

    /// A packet is taken at `now` after `sojourn`, and leaves `left` behind:
    /// whether it may be dropped. `None`: there was none.
    pub fn is_ripe(&mut self, now: Time, sojourn: Option<Span>, left: Bytes) -> bool {
        if sojourn.is_none_or(|sojourn| sojourn < self.target) || left <= self.least {
            self.ripe_from = None;
            return false;
        }
        now >= *self.ripe_from.get_or_insert(now + self.interval)
    }

    /// Begins to drop at `now`, with one packet.
    pub fn begin(&mut self, now: Time) {
        self.dropping = true;
        let since = now.since(self.next).unwrap_or_default();
        let more = self.count.saturating_sub(self.last_count);
        self.count = if more > 1 && since < self.interval * RECENT {
            more
        } else {
            1
        };
        self.last_count = self.count;
        self.next = self.after(now);
    }

    /// Stops dropping.
    pub const fn end(&mut self) {
        self.dropping = false;
    }

    /// Whether a packet that is taken at `now` is to be dropped.
    pub fn is_due(&self, now: Time) -> bool {
        self.dropping && now >= self.next
    }

    /// One more was dropped.
    pub const fn count(&mut self) {
        self.count = self.count.saturating_add(1);
    }

    /// The queue is as it was: says when to drop next.
    pub fn schedule(&mut self) {
        self.next = self.after(self.next);
    }

    /// t + interval / sqrt(n) [RFC8289 s5.4], to a picosecond.
    fn after(&self, time: Time) -> Time {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a part of a span, to f64's 53 bits"
        )]
        let picos =
            libm::round(self.interval.as_picos() as f64 / libm::sqrt(f64::from(self.count.max(1))))
                as u64;
        time + Span::from_picos(picos)
    }
}
