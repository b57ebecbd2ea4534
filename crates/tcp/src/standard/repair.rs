//! Loss detection and recovery of the sender of the standards.

use units::Time;

use super::{DUPLICATES, Proportion, Standard};
use crate::segment::Ack;
use crate::{Range, Recovery, Reduction};

/// The data in flight according to SACK.
struct Pipe {
    bytes: u64,
    /// All unreported numbers below this one count as lost.
    lost_below: u64,
}

impl Standard {
    /// Adds the SACK blocks of an acknowledgement. Returns whether it may count as a
    /// duplicate: with SACK only if it reports new blocks [RFC6675 s2].
    pub(super) fn report(&mut self, ack: &Ack) -> bool {
        if self.recovery != Recovery::Sack {
            return true;
        }
        let before = self.sacked.total();
        for block in ack.ranges() {
            if block.from >= ack.next.max(self.una) && block.to <= self.fresh {
                self.sacked.add(block);
            }
        }
        let news = self.sacked.total() > before;
        self.sacked.forget_below(ack.next);
        news
    }

    /// Handles an acknowledgement without new data while data are outstanding.
    pub(super) fn duplicate(&mut self, now: Time) {
        self.duplicates = self.duplicates.saturating_add(1);
        if self.recovering.is_some() {
            if self.recovery != Recovery::Sack {
                // One segment has left the path [RFC5681 s3.2].
                self.window += 1.0;
            }
            return;
        }
        let lost = self.recovery == Recovery::Sack && self.pipe().lost_below > self.una;
        let allowed = match self.recovery {
            Recovery::Sack => self.una >= self.bar,
            Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => self.una > self.bar,
        };
        let notified = self.una < self.notified;
        if allowed && !notified && (self.duplicates >= DUPLICATES || lost) {
            self.enter(now);
        }
    }

    /// Ends recovery.
    pub(super) fn leave(&mut self) {
        self.recovering = None;
        self.duplicates = 0;
        self.window = match self.recovery {
            // Prevents a burst if little is outstanding [RFC6582 s3.2].
            Recovery::NewReno => {
                let flight = self.segments(self.fresh - self.una);
                self.threshold.min(flight.max(1.0) + 1.0)
            }
            Recovery::Tahoe | Recovery::Reno | Recovery::Sack => self.threshold,
        };
    }

    /// Handles a partial acknowledgement. Returns whether the timer restarts: without
    /// SACK only for the first one [RFC6582 s4].
    pub(super) fn acknowledge_part(&mut self, now: Time, acked: f64) -> bool {
        if self.recovery == Recovery::Sack {
            return true;
        }
        let first = !std::mem::replace(&mut self.partial, true);
        // [RFC6582 s3.2]
        self.window = (self.window - acked + if acked >= 1.0 { 1.0 } else { 0.0 }).max(1.0);
        let range = self.cut(self.una);
        self.output(now, range);
        first
    }

    /// Sends in recovery, as much as the pipe allows: lost data first, then new data,
    /// then unreported data that do not count as lost [RFC6675 s5].
    pub(super) fn repair(&mut self, now: Time) {
        let Pipe {
            mut bytes,
            lost_below,
        } = self.pipe();
        let room = match self.reduction {
            Reduction::AtOnce => self.bytes(self.window),
            Reduction::Proportional => {
                let threshold = self.bytes(self.threshold);
                bytes
                    + self
                        .proportion
                        .allowed(bytes, threshold, self.payload.into())
            }
        };
        self.proportion.safe = false;
        while bytes + u64::from(self.payload) <= room {
            let highest = self.sacked.last().map_or(self.una, |range| range.from);
            let new = self.cut(self.fresh);
            let range = match self.missing(lost_below) {
                Some(lost) => lost,
                None if new.from < new.to && new.to - self.una <= self.most() => new,
                None => match self.missing(highest) {
                    Some(missing) => missing,
                    None => return,
                },
            };
            if range.from < self.fresh {
                self.resent = range.to;
            }
            self.next = self.next.max(range.to);
            self.output(now, range);
            bytes += range.to - range.from;
            self.proportion.send(range.to - range.from);
        }
    }

    /// Begins recovery: sets the threshold from the data outstanding, and retransmits
    /// the first segment.
    fn enter(&mut self, now: Time) {
        let flight = self.flight();
        self.threshold = self.law.reduce(flight);
        self.window = match self.recovery {
            Recovery::Sack => self.threshold,
            // Adds the segments that have left the path [RFC5681 s3.2].
            Recovery::Tahoe | Recovery::Reno | Recovery::NewReno => {
                self.threshold + f64::from(DUPLICATES)
            }
        };
        self.recovering = Some(self.fresh);
        self.bar = self.fresh;
        self.partial = false;
        self.counts.recoveries += 1;
        let first = self.sacked.first().map_or(u64::MAX, |range| range.from);
        let mut range = self.cut(self.una);
        range.to = range.to.min(first);
        self.resent = range.to;
        self.proportion = Proportion::new(self.fresh - self.una);
        self.proportion.send(range.to - range.from);
        self.next = self.fresh;
        self.timer = None;
        self.output(now, range);
    }

    /// The first segment below `limit` that is neither reported nor retransmitted in
    /// this recovery.
    fn missing(&self, limit: u64) -> Option<Range> {
        let mut from = self.resent.max(self.una);
        while let Some(range) = self.sacked.containing(from) {
            from = range.to;
        }
        if from >= limit {
            return None;
        }
        let next = self.sacked.iter().find(|range| range.from > from);
        let limit = next.map_or(limit, |range| range.from);
        let to = self.cut(from).to.min(limit);
        (from < to).then_some(Range { from, to })
    }

    /// Estimates the data in flight. A gap is lost if three ranges, or more than two
    /// segments, are reported above it; all other gaps and the retransmissions are in
    /// flight [RFC6675 s4].
    fn pipe(&self) -> Pipe {
        let enough = u64::from(DUPLICATES - 1) * u64::from(self.payload);
        let (mut ranges, mut above) = (0, 0);
        let mut top = self.fresh;
        let mut pipe = Pipe {
            bytes: 0,
            lost_below: self.una,
        };
        let lowest = Range {
            from: 0,
            to: self.una,
        };
        for range in self.sacked.iter().rev().chain([lowest]) {
            if ranges >= DUPLICATES || above > enough {
                pipe.lost_below = pipe.lost_below.max(top);
            } else {
                pipe.bytes += top - range.to;
            }
            pipe.bytes += self.resent.min(top).saturating_sub(range.to);
            ranges += 1;
            above += range.to - range.from;
            top = range.from;
        }
        pipe
    }
}
