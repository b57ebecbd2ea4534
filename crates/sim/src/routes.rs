//! Which link leads where.

use std::collections::VecDeque;

use crate::{Role, Scenario};

/// The shortest ways, by hops, to every host that a flow begins or ends at.
/// Of equally short ones a node takes the link that comes first.
pub(crate) struct Routes {
    /// The column of a node in the table, for nodes that are destinations.
    columns: Vec<Option<u32>>,
    nodes: usize,
    /// The next way, by destination and node.
    next: Vec<Option<u32>>,
}

impl Routes {
    /// Works them out. Numbers of ways are twice that of their link, and one
    /// more for the way back.
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let nodes = scenario.nodes.len();
        let mut routes = Self {
            columns: vec![None; nodes],
            nodes,
            next: Vec::new(),
        };
        let arriving = arriving(scenario);
        let mut column = 0;
        for flow in &scenario.flows {
            for end in [flow.to, flow.from] {
                if routes.columns[end].is_none() {
                    routes.columns[end] = Some(column);
                    column += 1;
                    routes.explore(scenario, &arriving, end);
                }
            }
        }
        routes
    }

    /// The octets of memory that the table takes.
    pub(crate) fn memory(scenario: &Scenario) -> u64 {
        let mut ends: Vec<usize> = scenario
            .flows
            .iter()
            .flat_map(|flow| [flow.from, flow.to])
            .collect();
        ends.sort_unstable();
        ends.dedup();
        let cells = scenario.nodes.len().saturating_mul(ends.len());
        u64::try_from(cells.saturating_mul(size_of::<Option<u32>>())).unwrap_or(u64::MAX)
    }

    /// The way that leads from `node` to `destination`.
    pub(crate) fn next(&self, node: usize, destination: usize) -> Option<usize> {
        let column = usize::try_from(self.columns[destination]?).ok()?;
        usize::try_from(self.next[column * self.nodes + node]?).ok()
    }

    /// Fills in a column: breadth first from the destination, over nodes that
    /// forward.
    fn explore(&mut self, scenario: &Scenario, arriving: &[Vec<(usize, u32)>], end: usize) {
        let base = self.next.len();
        self.next.resize(base + self.nodes, None);
        let mut distance = vec![usize::MAX; self.nodes];
        distance[end] = 0;
        let mut queue = VecDeque::from([end]);
        while let Some(node) = queue.pop_front() {
            if node != end && matches!(scenario.nodes[node].role, Role::Host(_)) {
                continue;
            }
            for &(from, way) in &arriving[node] {
                if distance[from] == usize::MAX {
                    distance[from] = distance[node] + 1;
                    queue.push_back(from);
                }
                let slot = &mut self.next[base + from];
                if distance[from] == distance[node] + 1 {
                    *slot = Some(slot.map_or(way, |before| before.min(way)));
                }
            }
        }
    }
}

/// For each node the ways that arrive at it, and where they come from.
fn arriving(scenario: &Scenario) -> Vec<Vec<(usize, u32)>> {
    let mut arriving = vec![Vec::new(); scenario.nodes.len()];
    for (link, number) in scenario.links.iter().zip((0u32..).step_by(2)) {
        let [one, other] = link.ends;
        arriving[other].push((one, number));
        arriving[one].push((other, number + 1));
    }
    arriving
}
