//! The order of the paths of a mesh.

use std::collections::VecDeque;

/// The paths that are still to be investigated, in the order of a round-robin tournament:
/// neighbours in the list have different hosts, so that many run side by side.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    left: VecDeque<(usize, usize)>,
}

impl Schedule {
    /// All paths from hosts that probe to others.
    pub(super) fn new(hosts: usize, probes: impl Fn(usize) -> bool) -> Self {
        // The circle method: one host stays, the others move on by a place each round. An
        // odd number of hosts gets an empty place.
        let places = hosts + hosts % 2;
        let mut circle: VecDeque<usize> = (0..places).collect();
        let mut left = VecDeque::new();
        for _ in 1..places {
            for place in 0..places / 2 {
                let (one, other) = (circle[place], circle[places - 1 - place]);
                let both = [(one, other), (other, one)];
                let is_path = |(from, to): &(usize, usize)| *from < hosts && *to < hosts;
                left.extend(both.into_iter().filter(is_path));
            }
            if let Some(last) = circle.pop_back() {
                circle.insert(1, last);
            }
        }
        left.retain(|(from, _)| probes(*from));
        Self { left }
    }

    /// The next path whose hosts are not busy.
    pub(super) fn next(&mut self, busy: impl Fn(usize) -> bool) -> Option<(usize, usize)> {
        let place = self
            .left
            .iter()
            .position(|(from, to)| !busy(*from) && !busy(*to))?;
        self.left.remove(place)
    }

    /// Removes the paths of a host.
    pub(super) fn forget(&mut self, host: usize) {
        self.left.retain(|(from, to)| *from != host && *to != host);
    }

    pub(super) fn len(&self) -> usize {
        self.left.len()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_path_comes_once_and_hosts_are_never_in_two(hosts in 0_usize..12, targets in 0_usize..4) {
            let probes = |host: usize| host >= targets;
            let mut schedule = Schedule::new(hosts, probes);
            let mut seen = BTreeSet::new();
            let mut rounds = 0;
            while !schedule.is_empty() {
                let mut busy = BTreeSet::new();
                while let Some((from, to)) = schedule.next(|host| busy.contains(&host)) {
                    prop_assert!(busy.insert(from) && busy.insert(to));
                    prop_assert!(seen.insert((from, to)) && from != to && probes(from));
                }
                rounds += 1;
            }
            let probers = hosts.saturating_sub(targets);
            prop_assert_eq!(seen.len(), probers * hosts.saturating_sub(1));
            // Each host is in at most 2 (hosts - 1) paths; a tournament needs hardly more.
            prop_assert!(rounds <= 2 * hosts, "{rounds} rounds of {hosts} hosts");
        }
    }

    #[test]
    fn a_host_that_drops_out_costs_its_paths_only() {
        let mut schedule = Schedule::new(4, |_| true);
        assert_eq!(schedule.len(), 12);
        schedule.forget(2);
        assert_eq!(schedule.len(), 6);
    }
}
