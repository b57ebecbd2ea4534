//! Acknowledgement processing of the agents Reno and Newreno [Ns2].

use units::Time;

use super::{Agent, DUPLICATES, Reduced};

/// The most segments that Newreno sends per acknowledgement in recovery.
const BURST: u32 = 2;

impl Agent {
    pub(super) fn receive_reno(&mut self, now: Time, number: i64) {
        if number > self.last {
            if self.reduced == Reduced::Duplicates {
                self.reduced = Reduced::Left;
            }
            self.swollen = 0;
            self.advance_and_open(now, number);
        } else if number == self.last {
            let allowed = self.may_retransmit() || self.reduced == Reduced::Duplicates;
            self.receive_duplicate(now, allowed);
        }
        if self.duplicates == 0 || self.duplicates >= DUPLICATES {
            self.send_much(now, None);
        }
    }

    pub(super) fn receive_newreno(&mut self, now: Time, number: i64) {
        if number > self.last {
            if number >= self.recover || self.reduced != Reduced::Duplicates {
                if self.swollen > 0 {
                    self.swollen = 0;
                    if self.reduced == Reduced::Duplicates {
                        self.reduced = Reduced::Left;
                    }
                }
                self.partial = false;
                self.advance_and_open(now, number);
            } else {
                self.receive_partial(now, number);
            }
        } else if number == self.last {
            let allowed = self.may_retransmit();
            self.receive_duplicate(now, allowed);
        }
        if self.duplicates == 0 {
            self.send_much(now, None);
        } else if self.duplicates >= DUPLICATES {
            self.send_much(now, Some(BURST));
        }
    }

    fn receive_duplicate(&mut self, now: Time, allowed: bool) {
        self.duplicates += 1;
        if self.duplicates == DUPLICATES {
            if allowed {
                self.retransmit_first(now);
                self.swollen = DUPLICATES.into();
            }
        } else if self.duplicates > DUPLICATES {
            if self.reduced == Reduced::Duplicates {
                self.swollen += 1;
            }
        } else if self.limited_transmit {
            self.send_one(now);
        }
    }

    /// Handles a partial acknowledgement: new data, but not all that was outstanding
    /// when recovery began. The window shrinks by the acknowledged segments and grows
    /// by one. Only the first partial acknowledgement restarts the timer.
    fn receive_partial(&mut self, now: Time, number: i64) {
        if !self.partial {
            self.partial = true;
            self.renew_timer(now, number);
        }
        let left = number - self.last;
        if self.swollen > left {
            self.swollen -= left - 1;
        } else {
            self.cwnd -= super::float(left - self.swollen);
            self.swollen = 1;
        }
        self.cwnd = self.cwnd.max(1.0);
        self.last = number;
        self.highest = number;
        self.next = self.next.max(number + 1);
        if self.timing && number >= self.timed.0 {
            self.timing = false;
            self.ticks.forgive();
        }
        self.output(now, number + 1);
    }
}
