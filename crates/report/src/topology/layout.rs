//! The places of nodes in a drawing, in columns along the path.

use std::collections::VecDeque;

use plan::setting::Role;

use super::Topology;

/// The place of each node.
pub(super) struct Layout {
    /// By node: its column, and its height in halves of a row.
    pub(super) places: Vec<(usize, usize)>,
    /// The number of columns.
    pub(super) columns: usize,
}

impl Layout {
    /// The longest of the shortest paths between hosts lies in the middle, its
    /// first host on the left. Nodes beside it stand in the column of that end
    /// of the path to which they are nearer, or below their neighbour.
    pub(super) fn of(topology: &Topology) -> Self {
        let count = topology.nodes.len();
        let spine = spine(topology);
        let mut columns: Vec<Option<usize>> = vec![None; count];
        for (column, &node) in spine.iter().enumerate() {
            columns[node] = Some(column);
        }
        let last = spine.len().saturating_sub(1);
        // Each other node is placed from its placed neighbour.
        let mut stacks: Vec<Vec<usize>> = vec![Vec::new(); spine.len().max(1)];
        let mut open: VecDeque<usize> = spine.iter().copied().collect();
        while let Some(node) = open.pop_front() {
            let Some(column) = columns[node] else {
                continue;
            };
            for other in neighbours(topology, node) {
                if columns[other].is_some() {
                    continue;
                }
                let beside = match column {
                    1 => 0,
                    _ if column + 1 == last => last,
                    _ => column,
                };
                columns[other] = Some(beside);
                stacks[beside].push(other);
                open.push_back(other);
            }
        }
        let lost = columns.iter().enumerate();
        stacks[0].extend(lost.filter_map(|(node, column)| column.is_none().then_some(node)));
        let at_end = |column: usize| column == 0 || column == last;
        let of_ends = |column: usize| stacks.get(column).map_or(0, |stack| stack.len() + 1);
        let highest = of_ends(0).max(of_ends(last)).max(1);
        let middle = highest - 1;
        let mut places = vec![(0, middle); count];
        for (column, &node) in spine.iter().enumerate() {
            let height = match at_end(column) {
                true => highest - of_ends(column),
                false => middle,
            };
            places[node] = (column, height);
        }
        for (column, stack) in stacks.iter().enumerate() {
            let first = match at_end(column) {
                true => highest - of_ends(column),
                false => middle.max(highest.saturating_sub(1)),
            };
            for (number, &node) in stack.iter().enumerate() {
                places[node] = (column, first + 2 * (number + 1));
            }
        }
        Self {
            columns: spine.len().max(1),
            places,
        }
    }
}

/// The nodes of the longest of the shortest paths between two hosts.
fn spine(topology: &Topology) -> Vec<usize> {
    let mut best: Vec<usize> = Vec::new();
    let hosts = topology.nodes.iter().enumerate();
    for (host, _) in hosts.filter(|(_, node)| node.role == Role::Host) {
        let path = farthest(topology, host);
        if path.len() > best.len() {
            best = path;
        }
    }
    match best.is_empty() {
        true => (0..topology.nodes.len().min(1)).collect(),
        false => best,
    }
}

/// The shortest path from `start` to the first of the nodes farthest from it.
fn farthest(topology: &Topology, start: usize) -> Vec<usize> {
    let mut before: Vec<Option<usize>> = vec![None; topology.nodes.len()];
    let mut distance: Vec<Option<usize>> = vec![None; topology.nodes.len()];
    distance[start] = Some(0);
    let mut open = VecDeque::from([start]);
    let mut end = start;
    while let Some(node) = open.pop_front() {
        if distance[node] > distance[end] {
            end = node;
        }
        for other in neighbours(topology, node) {
            if distance[other].is_none() {
                distance[other] = distance[node].map(|hops| hops + 1);
                before[other] = Some(node);
                open.push_back(other);
            }
        }
    }
    let mut path = vec![end];
    while let Some(node) = path.last().and_then(|&node| before[node]) {
        path.push(node);
    }
    path.reverse();
    path
}

/// The nodes at the other ends of a node's links, in the order of the links.
fn neighbours(topology: &Topology, node: usize) -> Vec<usize> {
    let links = topology.links.iter();
    let other = |link: &super::Link| match link.ends {
        [one, other] if one == node => Some(other),
        [other, one] if one == node => Some(other),
        _ => None,
    };
    links.filter_map(other).collect()
}
