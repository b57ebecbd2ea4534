//! The reaction of a sender to a notification of a drop, which replaces its own loss
//! detection.

use units::Time;

use super::Standard;
use crate::Range;

impl Standard {
    /// See [`Sender::notified`](crate::Sender::notified).
    pub(crate) fn notified(&mut self, now: Time, lost: Range, reduce: bool) {
        let Range { from, to } = lost;
        let from = from.max(self.una);
        if to <= from || to > self.fresh || self.sacked.containing(from).is_some() {
            return;
        }
        if reduce && self.una >= self.marked && self.recovering.is_none() {
            let flight = self.flight();
            self.threshold = self.law.reduce(flight);
            self.window = self.threshold;
            self.marked = self.fresh.max(1);
        }
        self.notified = self.fresh;
        self.output(now, Range { from, to });
    }
}
