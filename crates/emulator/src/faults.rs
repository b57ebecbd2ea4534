//! The faults of an emulated link: what happens to the packets in its frames before they
//! enter the queue of their direction.

use link::Direction;
use link::middlebox::{Middlebox, Outcome, Rule};
use units::{Seed, Time};

use os::frames::Frame;

/// The faults of a link, for both of its directions.
pub(super) struct Faults {
    /// `None` without rules, so that no frame is looked at.
    middlebox: Option<Middlebox>,
}

impl Faults {
    /// The faults that `rules` are. All links of an emulator take the same `seed`: a flow
    /// then meets the rules of one branch on each of them.
    pub(super) fn new(rules: &[Rule], seed: Seed) -> Self {
        let middlebox = || Middlebox::new(rules.iter().copied(), branches(seed), Time::ZERO);
        Self {
            middlebox: (!rules.is_empty()).then(middlebox),
        }
    }

    /// Starts again, as if new with `seed`.
    pub(super) fn restart(&mut self, seed: Seed) {
        if let Some(middlebox) = &mut self.middlebox {
            middlebox.restart(Time::ZERO, branches(seed));
        }
    }

    /// Applies the rules to the packet in a frame that arrived at `at`. Their times count
    /// from the first frame to a single host, which `first` keeps for all links: groups
    /// get frames from idle hosts, too. Bundles go on.
    pub(super) fn pass(
        &mut self,
        at: Time,
        first: &mut Option<Time>,
        frame: &mut Frame,
        direction: Direction,
    ) -> Outcome {
        let is_to_group = frame.ethernet().first().is_none_or(|byte| byte & 1 != 0);
        if first.is_none() && !is_to_group {
            *first = Some(at);
        }
        let Some(middlebox) = &mut self.middlebox else {
            return Outcome::Forward;
        };
        middlebox.begin(first.unwrap_or(at));
        match frame.ethernet_mut() {
            Some(bytes) => middlebox.pass_frame(at, bytes, direction),
            None => Outcome::Forward,
        }
    }
}

/// The seed by which flows choose among branches, as in the simulator.
fn branches(seed: Seed) -> Seed {
    seed.derive("branches")
}

#[cfg(test)]
mod tests;
