//! The order of the paths of a mesh, and those under way.

use std::collections::VecDeque;

use units::Time;

/// The most investigations at a time.
const MOST_AT_ONCE: usize = 8;

/// The paths that are still to be investigated, in the order of a round-robin tournament:
/// neighbours in the list have different hosts, so that many run side by side.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    left: VecDeque<(usize, usize)>,
    running: Vec<Running>,
}

/// A path under way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Running {
    pub(super) from: usize,
    pub(super) to: usize,
    /// The time after which its host is given up.
    pub(super) until: Time,
    /// The target has dropped out: the answer is for nobody, but comes before any other.
    is_void: bool,
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
        Self {
            left,
            running: Vec::new(),
        }
    }

    /// Begins the next path whose hosts are not busy. Its host is given up after `until`.
    pub(super) fn begin(&mut self, until: Time) -> Option<(usize, usize)> {
        if self.running.len() >= MOST_AT_ONCE {
            return None;
        }
        let busy = |host: usize| {
            let mut running = self.running.iter();
            running.any(|path| path.from == host || path.to == host)
        };
        let place = self
            .left
            .iter()
            .position(|(from, to)| !busy(*from) && !busy(*to))?;
        let (from, to) = self.left.remove(place)?;
        self.running.push(Running {
            from,
            to,
            until,
            is_void: false,
        });
        Some((from, to))
    }

    /// The path that a host investigates.
    pub(super) fn running(&self, host: usize) -> Option<Running> {
        self.running.iter().find(|path| path.from == host).copied()
    }

    /// A host has answered. Returns its path, unless the target has dropped out.
    pub(super) fn end(&mut self, host: usize) -> Option<(usize, usize)> {
        let place = self.running.iter().position(|path| path.from == host)?;
        let path = self.running.remove(place);
        (!path.is_void).then_some((path.from, path.to))
    }

    /// Gives up a host and its paths. A host that investigates the path to it is busy until
    /// it has answered.
    pub(super) fn forget(&mut self, host: usize) {
        self.left.retain(|(from, to)| *from != host && *to != host);
        self.running.retain(|path| path.from != host);
        for path in &mut self.running {
            path.is_void |= path.to == host;
        }
    }

    /// The paths that are not done, and those under way.
    pub(super) fn progress(&self) -> (usize, Vec<(usize, usize)>) {
        let running = self.running.iter().filter(|path| !path.is_void);
        let running: Vec<_> = running.map(|path| (path.from, path.to)).collect();
        (self.left.len() + running.len(), running)
    }

    /// Whether no path is left, and none under way that somebody waits for.
    pub(super) fn is_done(&self) -> bool {
        self.progress().0 == 0
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    const UNTIL: Time = Time::ZERO;

    proptest! {
        #[test]
        fn each_path_comes_once_and_hosts_are_never_in_two(hosts in 0_usize..12, targets in 0_usize..4) {
            let probes = |host: usize| host >= targets;
            let mut schedule = Schedule::new(hosts, probes);
            let mut seen = BTreeSet::new();
            let mut rounds = 0;
            while !schedule.is_done() {
                let mut busy = BTreeSet::new();
                let mut begun = Vec::new();
                while let Some((from, to)) = schedule.begin(UNTIL) {
                    prop_assert!(busy.insert(from) && busy.insert(to));
                    prop_assert!(seen.insert((from, to)) && from != to && probes(from));
                    begun.push((from, to));
                }
                for (from, to) in begun {
                    prop_assert_eq!(schedule.end(from), Some((from, to)));
                }
                rounds += 1;
            }
            let probers = hosts.saturating_sub(targets);
            prop_assert_eq!(seen.len(), probers * hosts.saturating_sub(1));
            // Each host is in at most 2 (hosts - 1) paths; a tournament needs hardly more.
            prop_assert!(rounds <= 2 * hosts, "{rounds} rounds of {hosts} hosts");
        }

        /// Hosts answer one request after the other, and say not to which.
        #[test]
        fn answers_belong_to_the_paths_that_were_asked_for(
            hosts in 3_usize..8,
            turns in prop::collection::vec((0_usize..8, 0_u8..10), 0..200),
        ) {
            let mut schedule = Schedule::new(hosts, |_| true);
            let mut asked = vec![None; hosts];
            let mut lost = BTreeSet::new();
            for (host, turn) in turns {
                let host = host % hosts;
                if turn == 0 {
                    schedule.forget(host);
                    lost.insert(host);
                    asked[host] = None;
                } else if let Some(to) = asked[host].take() {
                    let wanted = (!lost.contains(&to)).then_some((host, to));
                    prop_assert_eq!(schedule.end(host), wanted);
                }
                while let Some((from, to)) = schedule.begin(UNTIL) {
                    prop_assert!(!lost.contains(&from) && !lost.contains(&to));
                    prop_assert_eq!(asked[from].replace(to), None, "it has not answered yet");
                }
            }
        }
    }

    #[test]
    fn a_host_that_drops_out_costs_its_paths_only() {
        let mut schedule = Schedule::new(4, |_| true);
        assert_eq!(schedule.progress(), (12, Vec::new()));
        schedule.forget(2);
        assert_eq!(schedule.progress(), (6, Vec::new()));
        let (from, to) = schedule.begin(UNTIL).unwrap();
        schedule.forget(to);
        assert_eq!(
            schedule.progress(),
            (2, Vec::new()),
            "one is left beside it"
        );
        assert!(schedule.running(from).is_some());
        assert_eq!(schedule.end(from), None);
        assert!(schedule.begin(UNTIL).is_some());
    }
}
