//! Acknowledgement processing of the agent Sack1 [Ns2].

use units::Time;

use super::{Agent, DUPLICATES, whole};
use crate::segment::Ack;

impl Agent {
    pub(super) fn receive_sack(&mut self, now: Time, number: i64, ack: &Ack) {
        if self.recovering {
            self.receive_in_recovery(now, number, ack);
            self.send_with_pipe(now);
            return;
        }
        if number > self.last {
            self.partial = false;
            self.advance_and_open(now, number);
            self.timed_out = false;
            self.scoreboard.clear();
        } else if number == self.last
            && !self.timed_out
            && self.scoreboard.update(self.highest, ack)
        {
            self.duplicates += 1;
            if self.duplicates == DUPLICATES {
                self.begin_recovery(now);
            } else if self.duplicates < DUPLICATES && self.limited_transmit {
                self.send_one(now);
            }
        }
        if self.duplicates == 0 {
            self.send_with_pipe(now);
        }
    }

    fn receive_in_recovery(&mut self, now: Time, number: i64, ack: &Ack) {
        self.pipe -= 1;
        if number >= self.recover {
            self.recover = 0;
            self.recovering = false;
            self.advance(now, number);
            self.timed_out = false;
            self.scoreboard.clear();
        } else if number > self.highest {
            self.highest = number;
            self.scoreboard.update(number, ack);
            // Twice in total, so that recovery is never slower than slow start.
            self.pipe -= 1;
            self.renew_timer(now, number);
            self.ticks.forgive();
        } else if !self.timed_out && self.scoreboard.update(self.highest, ack) {
            self.duplicates += u32::from(self.duplicates > 0);
        }
    }

    fn begin_recovery(&mut self, now: Time) {
        if !self.may_retransmit() {
            return;
        }
        self.pipe = self.sent - self.highest - i64::from(DUPLICATES);
        self.recovering = true;
        self.scoreboard.mark_sent(self.highest + 1);
        self.retransmit_first(now);
    }

    /// Sends as much as the window or, in recovery, the pipe allows: missing segments
    /// first, then new ones.
    pub(super) fn send_with_pipe(&mut self, now: Time) {
        let (window, most_in_flight) = (self.window(), whole(self.cwnd));
        if self.last + 1 >= self.ready {
            return;
        }
        loop {
            let room = match self.recovering {
                false => self.next <= self.last + window,
                true => self.pipe < most_in_flight,
            };
            if !room {
                return;
            }
            let number = match self.scoreboard.next_missing() {
                Some(missing) if self.recover > 0 && missing <= self.highest + self.most => {
                    self.scoreboard.mark_sent(missing);
                    missing
                }
                Some(_) => return,
                None => {
                    let reach = if self.recovering { self.most } else { window };
                    if self.next > self.highest + reach || self.next >= self.ready {
                        return;
                    }
                    self.next
                }
            };
            self.output(now, number);
            self.next = self.next.max(number + 1);
            self.pipe += 1;
        }
    }
}
