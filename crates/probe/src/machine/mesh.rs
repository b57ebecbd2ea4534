//! The place of faults in a mesh: which host, direction, group or pair carries less than
//! the others do.
//!
//! A fault is named only if the paths decide it. The largest packet of a path is the
//! least of what its sender, its receiver and the links between them carry. So a host
//! whose paths all carry little is at fault if the hosts at their other ends carry more
//! between themselves.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::vec::Vec;

use units::Bytes;

use super::{DirectionResult, Limit, PathReport};

/// The largest packets between hosts, which have numbers from 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mesh {
    asked: Bytes,
    hosts: usize,
    /// By sender, then by receiver; `None`: not known.
    entries: Vec<Option<MeshEntry>>,
}

/// The result from one host to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MeshEntry {
    /// The largest packet that arrives, at most the size asked for; zero: none.
    pub carried: Bytes,
    /// Why it is no larger.
    pub limit: Limit,
}

/// The places of faults that the paths of a mesh show.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MeshFindings {
    /// The faults, those of most paths first.
    pub faults: Vec<MeshFault>,
    /// Paths that carry less than was asked, for which the pattern names no place.
    pub unexplained: Vec<(usize, usize)>,
}

/// A fault and the largest packets that still pass; zero: none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MeshFault {
    pub place: MeshPlace,
    /// The largest packets that pass there.
    pub carries: Bytes,
}

/// The place of a fault.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MeshPlace {
    /// All paths carry the same.
    Everywhere,
    /// All paths of a host: its interface, or its port of the switch.
    Host(usize, HostWay),
    /// All paths between hosts of different groups, and none within one: a link between
    /// switches.
    Groups(Vec<Vec<usize>>),
    /// All paths from hosts of the first group to those of the second, but not back.
    OneWay(Vec<usize>, Vec<usize>),
    /// The paths between two hosts, whose other paths carry more.
    Pair(usize, usize),
    /// The path from one host to another, but not back.
    Path(usize, usize),
}

/// The paths of a host that a fault affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HostWay {
    /// From it and to it.
    Both,
    /// From it; those to it carry more.
    From,
    /// To it; those from it carry more.
    To,
    /// From it or to it or both: the other ones were not seen.
    Either,
}

/// The least number of hosts at the other ends that must be shown to carry more before a
/// host is named.
const WITNESSES: usize = 2;

impl Mesh {
    /// A mesh of `hosts` that should carry packets of `asked`, of which nothing is known.
    pub fn new(asked: Bytes, hosts: usize) -> Self {
        Self {
            asked,
            hosts,
            entries: std::vec![None; hosts * hosts],
        }
    }

    /// Notes the result from one host to another.
    pub fn set(&mut self, from: usize, to: usize, entry: MeshEntry) {
        if from != to && from < self.hosts && to < self.hosts {
            let carried = entry.carried.min(self.asked);
            self.entries[from * self.hosts + to] = Some(MeshEntry { carried, ..entry });
        }
    }

    /// Notes what `from` found out about the path to `to`. Of the direction back, the
    /// other host's own result counts, if there is one.
    pub fn note(&mut self, from: usize, to: usize, report: &PathReport) {
        let nothing = MeshEntry {
            carried: Bytes::ZERO,
            limit: Limit::Vanish,
        };
        let forward = match seen(report.forward) {
            None if report.is_unanswered() => Some(nothing),
            entry => entry,
        };
        if let Some(entry) = forward {
            self.set(from, to, entry);
        }
        if let Some(entry) = seen(report.reverse)
            && self.entry(to, from).is_none()
        {
            self.set(to, from, entry);
        }
    }

    /// Forgets the paths of a host.
    pub fn forget(&mut self, host: usize) {
        for (from, to) in self.pairs().collect::<Vec<_>>() {
            if from == host || to == host {
                self.entries[from * self.hosts + to] = None;
            }
        }
    }

    /// The result from one host to another; `None`: not known.
    pub fn entry(&self, from: usize, to: usize) -> Option<MeshEntry> {
        let is_path = from < self.hosts && to < self.hosts;
        is_path.then(|| self.entries[from * self.hosts + to])?
    }

    /// The largest packet; `None`: not known.
    fn get(&self, from: usize, to: usize) -> Option<Bytes> {
        Some(self.entry(from, to)?.carried)
    }

    /// The faults that the paths decide.
    pub fn findings(&self) -> MeshFindings {
        let bad = self.below(|_, _| self.asked);
        if bad.is_empty() {
            return MeshFindings::default();
        }
        if let Some(carries) = self.common_size() {
            let place = MeshPlace::Everywhere;
            return MeshFindings {
                faults: std::vec![MeshFault { place, carries }],
                unexplained: Vec::new(),
            };
        }
        let ends = Ends::of(self);
        let mut faults: Vec<MeshFault> = (0..self.hosts)
            .filter_map(|host| ends.fault(self, host))
            .collect();
        let rest = self.below(|from, to| ends.expected(self, from, to));
        let unexplained = match self.groups(&ends, &rest).or_else(|| self.one_way(&rest)) {
            Some(fault) => {
                faults.push(fault);
                BTreeSet::new()
            }
            None => {
                let (pairs, unexplained) = self.single_pairs(&rest);
                faults.extend(pairs);
                unexplained
            }
        };
        MeshFindings {
            faults,
            unexplained: unexplained.into_iter().collect(),
        }
    }

    /// All pairs of a sender and a receiver.
    fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let hosts = self.hosts;
        let all = (0..hosts).flat_map(move |from| (0..hosts).map(move |to| (from, to)));
        all.filter(|(from, to)| from != to)
    }

    /// The known paths with what they carry.
    fn known(&self) -> impl Iterator<Item = (usize, usize, Bytes)> + '_ {
        self.pairs()
            .filter_map(|(from, to)| Some((from, to, self.get(from, to)?)))
    }

    /// The paths that carry less than `expected`.
    fn below(&self, expected: impl Fn(usize, usize) -> Bytes) -> BTreeSet<(usize, usize)> {
        let below = self
            .known()
            .filter(|(from, to, carried)| *carried < expected(*from, *to));
        below.map(|(from, to, _)| (from, to)).collect()
    }

    /// The size that all paths carry, if it is the same.
    fn common_size(&self) -> Option<Bytes> {
        let (_, _, first) = self.known().next()?;
        self.known()
            .all(|(_, _, carried)| carried == first)
            .then_some(first)
    }

    /// The most that any of these paths carries.
    fn most(&self, paths: &BTreeSet<(usize, usize)>) -> Bytes {
        let carried = paths.iter().filter_map(|(from, to)| self.get(*from, *to));
        carried.max().unwrap_or(Bytes::ZERO)
    }

    /// Groups of two hosts and more, if the paths of `rest` are those between different
    /// groups. Hosts with a fault of their own are in none.
    fn groups(&self, ends: &Ends, rest: &BTreeSet<(usize, usize)>) -> Option<MeshFault> {
        let is_in = |from: usize, to: usize| rest.contains(&(from, to));
        let members: Vec<usize> = (0..self.hosts)
            .filter(|host| !ends.is_at_fault(*host))
            .filter(|host| {
                self.known()
                    .any(|(from, to, _)| from == *host || to == *host)
            })
            .collect();
        let mut groups: Vec<Vec<usize>> = Vec::new();
        for &host in &members {
            let is_linked = |other: &usize| {
                let ways = [(host, *other), (*other, host)];
                let mut known = ways.iter().filter(|(a, b)| self.get(*a, *b).is_some());
                let is_known = known.clone().next().is_some();
                is_known && known.all(|(a, b)| !is_in(*a, *b))
            };
            let (linked, others): (Vec<_>, Vec<_>) = groups
                .into_iter()
                .partition(|group| group.iter().any(is_linked));
            let mut joined: Vec<usize> = linked.into_iter().flatten().collect();
            joined.push(host);
            joined.sort_unstable();
            groups = others;
            groups.push(joined);
        }
        groups.sort();
        let group_of = |host: usize| groups.iter().position(|group| group.contains(&host));
        let is_between = |from: usize, to: usize| match (group_of(from), group_of(to)) {
            (Some(one), Some(other)) => one != other,
            _ => false,
        };
        let is_whole = self
            .known()
            .all(|(from, to, _)| is_in(from, to) == is_between(from, to));
        let is_known = members
            .iter()
            .flat_map(|from| members.iter().map(move |to| (*from, *to)))
            .all(|(from, to)| !is_between(from, to) || self.get(from, to).is_some());
        let are_groups = groups.len() > 1 && groups.iter().all(|group| group.len() > 1);
        (are_groups && is_whole && is_known && !rest.is_empty()).then(|| MeshFault {
            place: MeshPlace::Groups(groups),
            carries: self.most(rest),
        })
    }

    /// Two groups of two hosts and more, if the paths of `rest` are those from the first
    /// to the second.
    fn one_way(&self, rest: &BTreeSet<(usize, usize)>) -> Option<MeshFault> {
        let from: BTreeSet<usize> = rest.iter().map(|(from, _)| *from).collect();
        let to: BTreeSet<usize> = rest.iter().map(|(_, to)| *to).collect();
        let are_apart = from.is_disjoint(&to) && from.len() > 1 && to.len() > 1;
        let is_whole = from
            .iter()
            .flat_map(|from| to.iter().map(move |to| (*from, *to)))
            .all(|path| rest.contains(&path));
        (are_apart && is_whole).then(|| MeshFault {
            place: MeshPlace::OneWay(from.into_iter().collect(), to.into_iter().collect()),
            carries: self.most(rest),
        })
    }

    /// Pairs of hosts whose other paths all carry more, and the paths that are left.
    fn single_pairs(
        &self,
        rest: &BTreeSet<(usize, usize)>,
    ) -> (Vec<MeshFault>, BTreeSet<(usize, usize)>) {
        let unordered = |(from, to): (usize, usize)| (from.min(to), from.max(to));
        let pairs: BTreeSet<(usize, usize)> = rest.iter().copied().map(unordered).collect();
        let mut faults = Vec::new();
        let mut unexplained = BTreeSet::new();
        for &(one, other) in &pairs {
            let both = [(one, other), (other, one)];
            let paths: BTreeSet<_> = both
                .into_iter()
                .filter(|path| rest.contains(path))
                .collect();
            let is_alone = |host| {
                let mut of_host = pairs.iter().filter(|(a, b)| *a == host || *b == host);
                of_host.nth(1).is_none()
            };
            let carries = self.most(&paths);
            let more = |(from, to): &(usize, usize)| {
                let known = || self.known();
                known().any(|(a, b, size)| a == *from && b != *to && size > carries)
                    && known().any(|(a, b, size)| b == *to && a != *from && size > carries)
            };
            if is_alone(one) && is_alone(other) && paths.iter().all(more) {
                let mut paths = paths.into_iter();
                let place = match (paths.next(), paths.next()) {
                    (Some((from, to)), None) => MeshPlace::Path(from, to),
                    _ => MeshPlace::Pair(one, other),
                };
                faults.push(MeshFault { place, carries });
            } else {
                unexplained.extend(paths);
            }
        }
        (faults, unexplained)
    }
}

/// The result for a direction, if it was seen.
fn seen(direction: DirectionResult) -> Option<MeshEntry> {
    let DirectionResult { mtu, limit, .. } = direction;
    let carried = mtu.filter(|_| limit != Limit::NotSeen)?;
    Some(MeshEntry { carried, limit })
}

/// The sizes that hosts with a fault of their own send and receive at most.
struct Ends {
    sends: Vec<Option<Bytes>>,
    receives: Vec<Option<Bytes>>,
}

impl Ends {
    fn of(mesh: &Mesh) -> Self {
        let hosts = 0..mesh.hosts;
        Self {
            sends: hosts
                .clone()
                .map(|host| limit(mesh, host, |host, other| (host, other)))
                .collect(),
            receives: hosts
                .map(|host| limit(mesh, host, |host, other| (other, host)))
                .collect(),
        }
    }

    fn is_at_fault(&self, host: usize) -> bool {
        self.sends[host].is_some() || self.receives[host].is_some()
    }

    fn fault(&self, mesh: &Mesh, host: usize) -> Option<MeshFault> {
        let is_seen = |from: bool| {
            mesh.known()
                .any(|(a, b, _)| if from { a == host } else { b == host })
        };
        let (way, carries) = match (self.sends[host], self.receives[host]) {
            (Some(sends), Some(receives)) => (HostWay::Both, sends.max(receives)),
            (Some(sends), None) if is_seen(false) => (HostWay::From, sends),
            (None, Some(receives)) if is_seen(true) => (HostWay::To, receives),
            (Some(limit), None) | (None, Some(limit)) => (HostWay::Either, limit),
            (None, None) => return None,
        };
        Some(MeshFault {
            place: MeshPlace::Host(host, way),
            carries,
        })
    }

    /// The size that a path should carry if only these hosts are at fault.
    fn expected(&self, mesh: &Mesh, from: usize, to: usize) -> Bytes {
        let limits = [self.sends[from], self.receives[to]];
        limits.into_iter().flatten().fold(mesh.asked, Bytes::min)
    }
}

/// The most that a host sends or receives, if that is less than asked and the hosts at the
/// other ends are shown to carry more without it. `path` orders the host and another one.
fn limit(mesh: &Mesh, host: usize, path: fn(usize, usize) -> (usize, usize)) -> Option<Bytes> {
    let carried = |host: usize, other: usize| {
        let (from, to) = path(host, other);
        mesh.get(from, to)
    };
    let others = || (0..mesh.hosts).filter(move |other| *other != host);
    let elsewhere = |other: usize| {
        let rest = (0..mesh.hosts).filter(move |third| *third != host && *third != other);
        rest.filter_map(move |third| carried(third, other)).max()
    };
    let most = others().filter_map(|other| carried(host, other)).max()?;
    // A host whose path to this one is not known may share its fault: both may be members
    // of a group. It does not if it carries more to a third, or if the way back is bad, too.
    let is_apart = |other: usize| {
        let back = carried(other, host).is_some_and(|size| size <= most);
        let mut thirds = others().filter(|third| carried(host, *third).is_some());
        back || thirds.any(|third| carried(other, third).is_some_and(|size| size > most))
    };
    let is_seen = |other: usize| mesh.known().any(|(a, b, _)| a == other || b == other);
    let is_whole = others()
        .filter(|other| is_seen(*other))
        .all(|other| carried(host, other).is_some() || is_apart(other));
    let witnesses = others()
        .filter(|other| carried(host, *other).is_some())
        .filter(|other| elsewhere(*other).is_some_and(|size| size > most));
    (most < mesh.asked && is_whole && witnesses.count() >= WITNESSES).then_some(most)
}
