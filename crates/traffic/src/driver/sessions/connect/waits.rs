//! How long a sender waits for its receiver at the end of a session: for reports, and for the
//! end of flows that the receiver sends.

use units::{Span, Time};

/// The longest wait for a report after a flow: data of a stream may still be
/// retransmitted. After a signal of the user it is shorter.
pub(super) const REPORT: Span = Span::from_secs(30);
const REPORT_AFTER_SIGNAL: Span = Span::from_secs(5);

/// The waits of a session.
#[derive(Debug)]
pub(super) struct Waits {
    /// The time at which the flows end that the receiver sends, if there are any.
    reversed_end: Option<Time>,
    /// Whether they were stopped because the receiver did not end them.
    given_up: bool,
    /// The latest time at which a flow ended, or was to end.
    ended: Option<Time>,
    /// The time at which the user's signal was seen.
    interrupted: Option<Time>,
}

impl Waits {
    pub(super) fn new(reversed_end: Option<Time>) -> Self {
        Self {
            reversed_end,
            given_up: false,
            ended: None,
            interrupted: None,
        }
    }

    /// Notes the end of a flow that this end sends, or of a reversed one. The wait for reports
    /// begins there, unless this end has waited before.
    pub(super) fn end(&mut self, now: Time, is_reversed: bool) {
        if !(is_reversed && self.given_up) {
            self.ended = Some(now);
        }
    }

    /// Notes a signal of the user. Returns whether it is the first.
    pub(super) fn interrupt(&mut self, now: Time) -> bool {
        self.interrupted
            .replace(self.interrupted.unwrap_or(now))
            .is_none()
    }

    pub(super) fn timeout(&self) -> Span {
        match self.interrupted {
            Some(_) => REPORT_AFTER_SIGNAL,
            None => REPORT,
        }
    }

    /// Whether the receiver should have ended its flows: they are to be stopped.
    pub(super) fn gives_up(&mut self, now: Time) -> bool {
        let Some(end) = self.reversed_end.filter(|_| !self.given_up) else {
            return false;
        };
        let end = self.interrupted.map_or(end, |signal| signal.min(end));
        self.given_up = now > end + self.timeout();
        if self.given_up {
            self.ended = self.ended.max(Some(end));
        }
        self.given_up
    }

    /// Whether reports should have come of flows that have all ended.
    pub(super) fn are_reports_late(&self, now: Time) -> bool {
        self.ended.is_some_and(|ended| now > ended + self.timeout())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn a_receiver_that_never_ends_its_flow_is_waited_for_once() {
        // A flow of 3 s, without a signal and with one after a second.
        for (signal, late) in [(None, 33_000), (Some(1_000), 6_000), (Some(20_000), 20_000)] {
            let mut waits = Waits::new(Some(at(3_000)));
            if let Some(signal) = signal {
                assert!(!waits.gives_up(at(signal)));
                assert!(waits.interrupt(at(signal)));
                assert!(!waits.interrupt(at(signal + 1)));
            }
            if late > signal.unwrap_or(0) {
                assert!(!waits.gives_up(at(late)));
            }
            assert!(waits.gives_up(at(late + 1)));
            assert!(!waits.gives_up(at(late + 2)), "once");
            waits.end(at(late + 50), true);
            assert!(waits.are_reports_late(at(late + 51)), "{late}");
        }
    }

    #[test]
    fn the_report_of_a_flow_that_lasts_longer_has_its_own_wait() {
        let mut waits = Waits::new(Some(at(1_000)));
        assert!(waits.gives_up(at(31_001)));
        waits.end(at(31_050), true);
        // A flow that this end sends for a minute.
        waits.end(at(60_000), false);
        assert!(!waits.are_reports_late(at(90_000)));
        assert!(waits.are_reports_late(at(90_001)));
        // A reversed flow that has ended by itself.
        let mut waits = Waits::new(Some(at(1_000)));
        waits.end(at(1_100), true);
        assert!(!waits.are_reports_late(at(31_100)));
        assert!(waits.are_reports_late(at(31_101)));
    }
}
