//! Paths of label-switched bundles.

use std::collections::BTreeSet;

use link::edge::{Exit, Labels, Prefix};

use crate::routes::{Routes, walk};
use crate::{Domain, Scenario};

/// The labels of a domain: a path from every edge that aggregates to every exit that it
/// can reach.
pub(crate) fn labels(domain: &Domain, scenario: &Scenario, routes: &Routes) -> Labels {
    let mut labels = Labels::default();
    let exits: BTreeSet<Exit> = domain.table.iter().map(Prefix::exit).collect();
    for edge in domain.edges.iter().filter(|edge| edge.aggregate.is_some()) {
        for exit in exits.iter().filter(|exit| exit.egress != edge.node) {
            if let Some(path) = path(domain, scenario, routes, edge.node, *exit) {
                labels.lay(
                    edge.node,
                    *exit,
                    path.into_iter().map(|(_, direction)| direction),
                );
            }
        }
    }
    labels
}

/// The path from an edge to an exit via the routers that the domain names: nodes, each
/// with the direction that a bundle takes there. `None` if there is no path.
pub(crate) fn path(
    domain: &Domain,
    scenario: &Scenario,
    routes: &Routes,
    from: usize,
    exit: Exit,
) -> Option<Vec<(usize, usize)>> {
    let detours = domain.detours();
    let detour = detours
        .iter()
        .find(|one| (one.next_as, one.egress) == (exit.next_as, exit.egress));
    let stops = detour.map_or(&[][..], |detour| &detour.via);
    let mut here = from;
    let mut all = Vec::new();
    for stop in stops.iter().copied().chain([exit.egress]) {
        let piece = walk(scenario, routes, here, stop);
        if let Some((_, direction)) = piece.last() {
            here = scenario.links[direction / 2].ends[1 - direction % 2];
        }
        if here != stop {
            return None;
        }
        all.extend(piece);
    }
    Some(all)
}
