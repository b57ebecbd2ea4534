//! Timeout of a sender whose receiver accepts little or no data.

use std::fmt;

use units::{Span, Time};

/// The time in which the receiver must accept data before the flow fails, and the
/// longest time for the rest of a message after the end of the flow.
pub(super) const STALLED: Span = Span::from_secs(10);

/// The least bytes in that time. No link is slower, but a peer may read one byte per
/// second.
const ALMOST_NOTHING: usize = 1_000;

/// Why the sender of a stream gave up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stall {
    /// Segments of this many bytes are sent again and again.
    Segments(u64),
    /// The receiver accepted next to nothing for [`STALLED`].
    AlmostNothing,
    /// The receiver had not accepted the rest of a message [`STALLED`] after the end.
    Unfinished,
}

impl Stall {
    /// Its number in a report; 0 stands for none.
    pub(in super::super) fn to_wire(self) -> u64 {
        match self {
            Self::AlmostNothing => 1,
            Self::Unfinished => 2,
            Self::Segments(size) => size.max(3),
        }
    }

    /// The stall of this number.
    pub(in super::super) fn of_wire(number: u64) -> Option<Self> {
        match number {
            0 => None,
            1 => Some(Self::AlmostNothing),
            2 => Some(Self::Unfinished),
            size => Some(Self::Segments(size)),
        }
    }
}

impl fmt::Display for Stall {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Segments(size) => write!(f, "segments of {size} bytes are not delivered"),
            Self::AlmostNothing => write!(
                f,
                "the receiver took fewer than {ALMOST_NOTHING} bytes in {STALLED}"
            ),
            Self::Unfinished => write!(
                f,
                "the receiver had not taken the last message {STALLED} after the end of the flow"
            ),
        }
    }
}

/// The bytes of a message that a receiver has accepted, and since when.
pub(super) struct StallTimer {
    since: Time,
    taken: usize,
    /// The time at which the end of the flow was noticed.
    over: Option<Time>,
}

impl StallTimer {
    /// Starts waiting at `now`.
    pub(super) fn new(now: Time) -> Self {
        Self {
            since: now,
            taken: 0,
            over: None,
        }
    }

    /// Records accepted bytes.
    pub(super) fn took(&mut self, bytes: usize) {
        self.taken += bytes;
    }

    /// Checks at `now` whether to continue; `is_over` tells whether the flow is to end.
    /// Returns the reason to give up, if the wait has lasted too long.
    pub(super) fn look(&mut self, now: Time, is_over: bool) -> Option<Stall> {
        if is_over && lasts(now, *self.over.get_or_insert(now)) {
            return Some(Stall::Unfinished);
        }
        if !lasts(now, self.since) {
            return None;
        }
        if self.taken < ALMOST_NOTHING {
            return Some(Stall::AlmostNothing);
        }
        (self.since, self.taken) = (now, 0);
        None
    }
}

fn lasts(now: Time, since: Time) -> bool {
    now.since(since).unwrap_or_default() > STALLED
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The time after which a receiver is abandoned that accepts `bytes` per second of
    /// an endless message, in a flow that ends after `end`.
    fn borne(bytes: usize, end: u64) -> Option<u64> {
        let mut timer = StallTimer::new(Time::ZERO);
        (1..=1_000).find(|&second| {
            timer.took(bytes);
            let now = Time::ZERO + Span::from_secs(second);
            timer.look(now, second >= end).is_some()
        })
    }

    #[test]
    fn who_takes_next_to_nothing_is_borne_for_ten_seconds() {
        assert_eq!(borne(0, u64::MAX), Some(11));
        assert_eq!(borne(1, u64::MAX), Some(11));
        assert_eq!(borne(50, u64::MAX), Some(11));
    }

    #[test]
    fn who_takes_more_is_borne_until_ten_seconds_after_the_flows_end() {
        assert_eq!(borne(100, u64::MAX), None);
        assert_eq!(borne(100, 5), Some(16));
        assert_eq!(borne(1_000_000, 300), Some(311));
    }
}
