//! Requests in one segment, for systems that do not state what was acknowledged.

use super::{CONFIRMED, Facts, MOST_RESETS};
use crate::machine::tcp_mss::bracket::split;
use crate::machine::tcp_mss::connection::{Connection, Outcome};
use crate::machine::tcp_mss::{SMALL_MSS, number};

/// The most requests in one segment: a small and a large one, and those of which each leaves half
/// of the unknown sizes.
const MOST_WHOLE: u32 = 15;

impl Facts {
    /// Whether a further request in one segment shows more. A far end that says something by
    /// itself may not answer any, and one without an answer shows nothing.
    pub(super) fn needs_whole(&self) -> bool {
        let is_over = self.ladders >= MOST_WHOLE || self.resets >= MOST_RESETS;
        if is_over || self.speaks_first || self.answer.is_none() {
            return false;
        }
        match (self.forward.passes(), self.forward.fails()) {
            (Some(passes), Some(fails)) => {
                self.is_wide(passes, fails) || self.forward.failures() < CONFIRMED
            }
            (Some(passes), None) => passes < self.largest_whole(),
            (None, _) => true,
        }
    }

    /// Whether there are sizes between one that passes and one that fails, other than those that
    /// TCP's unstated options hide.
    pub(in crate::machine::tcp_mss) const fn is_wide(&self, passes: u32, fails: u32) -> bool {
        passes + 1 + self.unstated_options < fails
    }

    /// The packet that the next request in one segment fills. A small one shows that the far end
    /// answers a request of such a form.
    pub(in crate::machine::tcp_mss) fn whole_size(&self) -> u32 {
        let largest = self.largest_whole();
        match (self.forward.passes(), self.forward.fails()) {
            (None, _) => largest.min(self.settings.packet(SMALL_MSS)),
            (Some(_), None) => largest,
            (Some(passes), Some(fails)) => {
                let fails = fails.saturating_sub(self.unstated_options);
                split(passes, fails, 1).first().copied().unwrap_or(fails)
            }
        }
    }

    /// The largest packet of a request in one segment: one that is no larger than what was asked
    /// for with the options that the system may add, and that the interface sends.
    fn largest_whole(&self) -> u32 {
        let interface = number(self.settings.interface_mtu);
        match self.goal() {
            goal if goal < interface => goal.saturating_sub(self.unstated_options),
            _ => interface,
        }
    }

    /// The largest packet that a request of this size may have made.
    pub(in crate::machine::tcp_mss) fn with_options(&self, size: u32) -> u32 {
        let most = size.saturating_add(self.unstated_options);
        most.min(number(self.settings.interface_mtu))
    }

    /// Takes how a request in one segment ended.
    pub(super) fn asked_whole(&mut self, connection: &Connection, outcome: Outcome) {
        self.ladders += 1;
        let Some(&size) = connection.rungs.first() else {
            return;
        };
        match outcome {
            Outcome::Climbed { lost: None, .. } => self.forward.passed(size),
            // The far end does not answer such requests, or small ones are lost, too.
            Outcome::Climbed { .. } if self.forward.passes().is_none() => self.resets += 1,
            Outcome::Climbed {
                lost: Some(sent), ..
            } => {
                self.forward.failed(self.with_options(size), sent);
            }
            Outcome::Reset => self.resets += 1,
            Outcome::Silent | Outcome::Answered { .. } | Outcome::Hangs => {}
        }
    }

    /// Takes a path MTU that the system knows.
    pub(in crate::machine::tcp_mss) fn knows_mtu(&mut self, mtu: u32) {
        self.known_mtu = Some(self.known_mtu.map_or(mtu, |known| known.min(mtu)));
    }

    /// Whether the size of the packets that this end sends is unknown: the system does not state
    /// the MSS. A size that is lost, although a smaller one passes, was sent in one packet.
    pub(in crate::machine::tcp_mss) fn hides_sent(&self) -> bool {
        !self.states_sending && self.forward.fails().is_none()
    }
}
