//! Changes of the window without a loss, and its limits.

use units::{Span, Time};

use super::Standard;
use super::departures::Departures;
use crate::congestion::Trips;

impl Standard {
    /// Measures the round trip of the latest acknowledged segment, if all are timed.
    pub(super) fn time(&mut self, now: Time) {
        let Some(departures) = &mut self.departures else {
            return;
        };
        let trip = departures.acknowledge(self.una, now);
        let (Some(hybrid), Some((trip, shortest)), None) =
            (&mut self.hybrid, trip, self.recovering)
        else {
            return;
        };
        if self.window < self.threshold
            && hybrid.is_full(now, (self.una, self.fresh), trip, shortest, self.window)
        {
            self.threshold = self.window;
        }
    }

    pub(super) fn grow(&mut self, now: Time, acked: f64) {
        // A window limited by the receiver's does not grow.
        if self.bytes(self.window) >= self.most {
            return;
        }
        let trips = Trips {
            smooth: self.estimator.round_trip().unwrap_or(Span::ZERO),
            shortest: self.departures.as_ref().and_then(Departures::shortest),
        };
        self.window = self
            .law
            .grow(now, trips, self.window, self.threshold, acked);
    }

    /// Handles a congestion mark: as a loss, once per window, but without a
    /// retransmission [RFC3168 s6.1.2].
    pub(super) fn answer_mark(&mut self) {
        if !self.capable || self.una < self.marked || self.recovering.is_some() {
            return;
        }
        let flight = self.flight();
        self.threshold = self.law.reduce(flight);
        self.window = self.threshold;
        self.marked = self.fresh.max(1);
        self.tell = true;
        self.counts.marks += 1;
    }

    /// Bytes in flight that the receiver's window allows.
    pub(super) fn most(&self) -> u64 {
        let opened = |first| 2 * self.una + first;
        self.most.min(self.first_room.map_or(u64::MAX, opened))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Ack;
    use crate::{Control, Settings};

    #[test]
    fn a_window_that_opens_by_and_by_lets_seven_jumbo_segments_go_first() {
        let settings = Settings::linux(Control::Reno, 8_948);
        let mut sender = Standard::new(&settings, 10_000_000);
        sender.start(Time::ZERO);
        assert!(sender.poll_transmit().is_some_and(|syn| syn.payload == 0));
        let mut flight = |number: u64| {
            let mut ack = Ack::of(number);
            ack.header = 32;
            sender.receive(Time::ZERO, &ack);
            std::iter::from_fn(|| sender.poll_transmit()).count()
        };
        assert_eq!(flight(1), 7);
        // 65 535 bytes plus twice the arrived data: 14 segments and more.
        assert_eq!(flight(1 + 7 * 8_948), 17);
    }
}
