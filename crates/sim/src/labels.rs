//! Paths along which bundles are switched by their labels: no router between
//! the edges looks at an address, in front of a bundle or in it [RFC3031].

use std::collections::{BTreeMap, BTreeSet};

use crate::domain::Exit;
use crate::routes::{Routes, walk};
use crate::{Domain, Scenario};

/// The labels of a domain. No two routers give out the same, so that a label
/// alone says who knows it.
pub(crate) struct Labels {
    hops: Vec<Hop>,
    /// The label with which each edge sends on what leaves at an exit.
    first: BTreeMap<(usize, Exit), u32>,
}

/// What a router does with a label [RFC3031 s3.10].
#[derive(Clone, Copy)]
pub(crate) struct Hop {
    /// Where it sends the bundle.
    pub(crate) way: usize,
    /// The label in place of this one.
    pub(crate) next: u32,
}

impl Labels {
    /// A path from every edge that gathers to every exit.
    pub(crate) fn of(domain: &Domain, scenario: &Scenario, routes: &Routes) -> Self {
        let mut labels = Self {
            hops: Vec::new(),
            first: BTreeMap::new(),
        };
        let rows = domain.table.iter();
        let exits: BTreeSet<Exit> = rows.map(|row| (row.next_as, row.egress)).collect();
        for edge in domain.edges.iter().filter(|edge| edge.gather.is_some()) {
            for exit in exits.iter().filter(|exit| exit.1 != edge.node) {
                let path = path(domain, scenario, routes, edge.node, *exit);
                let first = u32::try_from(labels.hops.len()).unwrap_or(u32::MAX);
                labels.first.insert((edge.node, *exit), first);
                for ((_, way), next) in path.into_iter().flatten().zip(first + 1..) {
                    labels.hops.push(Hop { way, next });
                }
            }
        }
        labels
    }

    /// The label of what `edge` sends to `exit`.
    pub(crate) fn first(&self, edge: usize, exit: Exit) -> Option<u32> {
        self.first.get(&(edge, exit)).copied()
    }

    /// What `label` means to who gave it out.
    pub(crate) fn of_label(&self, label: u32) -> Option<Hop> {
        self.hops.get(label as usize).copied()
    }
}

/// The nodes from an edge to an exit, each with the way that a bundle takes
/// there, by way of the routers that the domain names; `None` where no links
/// lead there.
pub(crate) fn path(
    domain: &Domain,
    scenario: &Scenario,
    routes: &Routes,
    from: usize,
    exit: Exit,
) -> Option<Vec<(usize, usize)>> {
    let detours = domain.detours();
    let detour = detours.iter().find(|one| (one.next_as, one.egress) == exit);
    let stops = detour.map_or(&[][..], |detour| &detour.via);
    let mut here = from;
    let mut all = Vec::new();
    for stop in stops.iter().copied().chain([exit.1]) {
        let piece = walk(scenario, routes, here, stop);
        if let Some((_, way)) = piece.last() {
            here = scenario.links[way / 2].ends[1 - way % 2];
        }
        if here != stop {
            return None;
        }
        all.extend(piece);
    }
    Some(all)
}
