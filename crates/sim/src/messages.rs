//! Messages in the byte stream of a connection: the times of their departure and
//! arrival.

use std::collections::VecDeque;

use meter::GoodputWindow;
use units::{Bytes, Rate, Time};

use crate::sink::Sink;

/// The messages of a connection, between its ends.
pub(crate) struct Messages {
    size: u64,
    /// Bytes before the first message.
    warmup: u64,
    /// Total bytes; `None`: messages are added when they are released.
    all: Option<u64>,
    /// Departures of the messages that have not arrived.
    in_flight: VecDeque<Time>,
    sent: u64,
    arrived: u64,
    sink: Sink,
    goodput_window: GoodputWindow,
}

impl Messages {
    /// Messages of `size` bytes behind a warm-up of `warmup` bytes, of a connection
    /// of `all` bytes; `exact`: every arrival is kept.
    pub(crate) fn new(size: u64, warmup: u64, all: Option<u64>, exact: bool) -> Self {
        let counted = Bytes::new(all.unwrap_or(u64::MAX).saturating_sub(warmup));
        Self {
            size: size.max(1),
            warmup,
            all,
            in_flight: VecDeque::new(),
            sent: 0,
            arrived: 0,
            sink: Sink::new(false, exact),
            // A simulated link holds no tokens, so the window starts right behind the
            // warm-up.
            goodput_window: GoodputWindow::new(Bytes::new(warmup), counted, None),
        }
    }

    /// Records that bytes up to number `to` were sent for the first time by `now`.
    pub(crate) fn send(&mut self, now: Time, to: u64) {
        // Released messages were recorded at their release.
        let all = self.all.unwrap_or(0);
        while self.begins(self.sent) < to.min(all) {
            self.release(now);
        }
    }

    /// Records that a message was handed to the connection at `now`.
    pub(crate) fn release(&mut self, now: Time) {
        self.in_flight.push_back(now);
        self.sent += 1;
    }

    /// Records that `bytes` bytes have arrived without a gap, and `arrived` in all: those
    /// behind a missing segment have arrived, too, although nobody can read them yet.
    /// Returns the number of messages that are complete by them.
    pub(crate) fn receive(&mut self, now: Time, bytes: u64, arrived: u64) -> u64 {
        let all = self.all.unwrap_or(u64::MAX);
        let bytes = bytes.min(all);
        let arrived = Bytes::new(arrived.min(all));
        self.goodput_window.record(arrived, now, true);
        let before = self.arrived;
        while let Some(&sent) = self.in_flight.front() {
            let begins = self.begins(self.arrived);
            let ends = (begins + self.size).min(self.all.unwrap_or(u64::MAX));
            if bytes < ends {
                break;
            }
            self.in_flight.pop_front();
            let payload = Bytes::new(ends - begins);
            self.sink.take(now, self.arrived, sent, payload);
            self.arrived += 1;
        }
        self.arrived - before
    }

    /// Bytes of `messages` messages.
    pub(crate) const fn bytes(&self, messages: u64) -> u64 {
        messages.saturating_mul(self.size)
    }

    /// Messages sent, and messages that arrived.
    pub(crate) const fn counts(&self) -> (u64, u64) {
        (self.sent, self.arrived)
    }

    /// Goodput of the bytes behind the warm-up, from its end on.
    pub(crate) fn goodput(&self) -> Option<Rate> {
        let goodput = self.goodput_window.goodput()?;
        let bits = u128::from(goodput.bytes.get()) * 8;
        let rate = (bits * 1_000_000_000_000).checked_div(goodput.span.as_picos().into())?;
        Rate::from_bits_per_second(u64::try_from(rate).ok()?)
    }

    /// Start and end of the goodput window.
    pub(crate) fn counted(&self) -> Option<(Time, Time)> {
        let goodput = self.goodput_window.goodput()?;
        Some((goodput.first, goodput.last))
    }

    /// The recorder of their delays.
    pub(crate) fn into_sink(self) -> Sink {
        self.sink
    }

    const fn begins(&self, message: u64) -> u64 {
        self.warmup
            .saturating_add(message.saturating_mul(self.size))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> Time {
        Time::from_nanos(nanos)
    }

    #[test]
    fn a_message_is_there_with_its_last_byte_and_the_pre_roll_is_none() {
        let mut messages = Messages::new(100, 50, Some(320), true);
        messages.send(at(1), 50);
        assert_eq!(messages.counts(), (0, 0));
        messages.send(at(2), 151);
        assert_eq!(messages.counts(), (2, 0), "the second has begun");
        assert_eq!(messages.receive(at(5), 149, 149), 0);
        assert_eq!(messages.receive(at(6), 151, 151), 1);
        messages.send(at(7), 320);
        assert_eq!(
            messages.receive(at(9), 320, 320),
            2,
            "the last one is shorter"
        );
        assert_eq!(messages.counts(), (3, 3));
        let (delays, summary) = messages.into_sink().delays_and_summary(3);
        let delays = delays.expect("three arrived");
        assert!((delays.max - 7e-9).abs() < 1e-15 && (delays.min - 2e-9).abs() < 1e-15);
        assert_eq!(summary.expect("kept").bytes, Bytes::new(270));
    }

    #[test]
    fn bytes_behind_a_missing_segment_count_when_they_arrive() {
        let mut messages = Messages::new(100, 100, Some(500), true);
        messages.send(at(1), 500);
        // The first segment of the warm-up is lost, and repaired last but one.
        assert_eq!(messages.receive(at(10), 0, 100), 0);
        assert_eq!(messages.receive(at(20), 0, 200), 0);
        assert_eq!(messages.receive(at(30), 0, 300), 0);
        assert_eq!(messages.receive(at(40), 400, 400), 3);
        assert_eq!(messages.receive(at(50), 500, 500), 1);
        assert_eq!(messages.counted(), Some((at(10), at(50))));
        // 400 bytes in 40 ns, as they arrived.
        assert_eq!(
            messages.goodput().unwrap().bits_per_second(),
            80_000_000_000
        );
    }

    #[test]
    fn what_is_released_counts_from_then_on() {
        let mut messages = Messages::new(28, 0, None, true);
        messages.release(at(1));
        messages.release(at(3));
        messages.send(at(4), 56);
        assert_eq!(messages.bytes(2), 56);
        assert_eq!(messages.receive(at(5), 56, 56), 2);
        assert_eq!(messages.counts(), (2, 2));
    }
}
