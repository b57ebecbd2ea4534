//! The packets of an answer, for systems that state neither their sizes nor let a program choose
//! the MSS.

use super::Facts;
use crate::machine::tcp_mss::{Observation, SMALL_MSS, number};

impl Facts {
    /// The largest packet of an answer that arrived, without regard to its length. Where the
    /// system does not state it, an answer of one and a half full segments had one: what servers
    /// send in a segment of its own, such as the head of a page, is shorter than half a segment.
    pub(super) fn largest_arrived(&self, latest: Option<&Observation>) -> u32 {
        let small = self.settings.packet(SMALL_MSS);
        let full = self.full_answer();
        let received = latest.map_or(0, |latest| latest.received);
        match self.settings.states_arrivals {
            true => latest
                .and_then(|latest| latest.largest_received)
                .map_or(small, number),
            false if received >= u64::from(full + full / 2) => full,
            false => small,
        }
    }

    /// Takes that an answer in large segments did not arrive.
    pub(super) fn large_hangs(&mut self) {
        if self.settings.chooses_mss {
            return self.reverse.failed(self.goal_of_answer(), 1);
        }
        // These segments were as large as both ends allow.
        let full = self.full_answer().min(self.whole_answer());
        match self.settings.asked {
            Some(asked) if number(asked) < full => self.hangs_above = true,
            _ => self.reverse.failed(full, 1),
        }
    }

    /// The largest packet that the far end may send. Its MSS is a sign of its own limit.
    fn full_answer(&self) -> u32 {
        let by_mss = self.mss.map_or(u32::MAX, |mss| self.settings.packet(mss));
        let accepts = self.accepts.unwrap_or(u32::MAX);
        by_mss.min(accepts).min(number(self.settings.interface_mtu))
    }

    /// Whether the size of the packets that arrived is unknown.
    pub(in crate::machine::tcp_mss) fn hides_arrived(&self) -> bool {
        !self.settings.states_arrivals && self.reverse.fails().is_none()
    }
}
