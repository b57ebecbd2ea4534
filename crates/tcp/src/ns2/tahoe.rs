//! Acknowledgement processing of the agent Tahoe [Ns2].

use units::Time;

use super::{Agent, DUPLICATES};

impl Agent {
    pub(super) fn receive_tahoe(&mut self, now: Time, number: i64) {
        if number < self.last {
            return;
        }
        if number > self.last {
            self.advance_and_open(now, number);
        } else {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES && self.may_retransmit() {
                self.begin_again(now);
            } else if self.duplicates < DUPLICATES && self.limited_transmit {
                self.send_one(now);
            }
        }
        self.send_much(now, None);
    }

    /// Takes all outstanding segments for lost: the window becomes one segment, and
    /// slow start begins at the first missing one.
    fn begin_again(&mut self, now: Time) {
        self.halve_threshold(now);
        self.cwnd = 1.0;
        self.next = self.highest + 1;
    }
}
