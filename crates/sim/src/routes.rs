//! Routing: the next hop from each node to each destination.

use std::collections::VecDeque;

use crate::{Role, Scenario};

/// The shortest paths, by hops, to every host at which a flow begins or ends. Among
/// equally short ones a node takes the first link.
pub(crate) struct Routes {
    /// The routing method of each node.
    nodes: Vec<Choice>,
    /// The row of a node in the table, for nodes that are destinations.
    rows: Vec<u32>,
    columns: usize,
    /// The next hop, by destination and node.
    next: Vec<u32>,
}

/// The routing method of a node.
#[derive(Clone, Copy)]
enum Choice {
    /// A host with a single link to a node that forwards. Most nodes of a large network
    /// are of this kind, which keeps the table small.
    Only(u32),
    /// The node has a column of the table.
    Column(u32),
}

/// Stands for "no row" and "no hop".
const NONE: u32 = u32::MAX;

impl Routes {
    /// Computes the routes. A link has the directions 2 n (forward) and 2 n + 1 (back).
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let leaving = leaving(scenario);
        let (nodes, columns) = choices(scenario, &leaving);
        let mut routes = Self {
            rows: vec![NONE; nodes.len()],
            nodes,
            columns,
            next: Vec::new(),
        };
        let arriving = arriving(scenario, &routes.nodes);
        let mut row = 0;
        for flow in &scenario.flows {
            for end in [flow.to, flow.from] {
                if routes.rows[end] == NONE {
                    routes.rows[end] = row;
                    row += 1;
                    routes.explore(scenario, &arriving, end);
                }
            }
        }
        routes
    }

    /// Bytes of memory of the table.
    pub(crate) fn memory(scenario: &Scenario) -> u64 {
        let mut ends: Vec<usize> = scenario
            .flows
            .iter()
            .flat_map(|flow| [flow.from, flow.to])
            .collect();
        ends.sort_unstable();
        ends.dedup();
        let (_, columns) = choices(scenario, &leaving(scenario));
        let cells = columns.saturating_mul(ends.len());
        u64::try_from(cells.saturating_mul(size_of::<u32>())).unwrap_or(u64::MAX)
    }

    /// The direction from `node` toward `destination`, another node.
    #[inline]
    pub(crate) fn next(&self, node: usize, destination: usize) -> Option<usize> {
        let direction = match self.nodes[node] {
            Choice::Only(direction) => direction,
            Choice::Column(column) => {
                let row = self.rows[destination];
                if row == NONE {
                    return None;
                }
                self.next[row as usize * self.columns + column as usize]
            }
        };
        (direction != NONE).then_some(direction as usize)
    }

    /// Adds the routes to `end`, a node at which no flow ends.
    pub(crate) fn add(&mut self, scenario: &Scenario, end: usize) {
        if self.rows[end] == NONE {
            let rows = self.next.len() / self.columns.max(1);
            self.rows[end] = u32::try_from(rows).expect("a scenario has fewer nodes than that");
            let arriving = arriving(scenario, &self.nodes);
            self.explore(scenario, &arriving, end);
        }
    }

    /// Fills in a row by a breadth-first search from the destination over nodes that
    /// forward.
    fn explore(&mut self, scenario: &Scenario, arriving: &[Vec<(usize, u32, u32)>], end: usize) {
        let base = self.next.len();
        self.next.resize(base + self.columns, NONE);
        let mut distances = vec![usize::MAX; self.columns];
        // The destination itself may have no column.
        let mut queue = VecDeque::from([(end, 0)]);
        while let Some((node, distance)) = queue.pop_front() {
            if node != end && matches!(scenario.nodes[node].role, Role::Host(_)) {
                continue;
            }
            for &(from, column, direction) in &arriving[node] {
                if from == end {
                    continue;
                }
                let known = &mut distances[column as usize];
                if *known == usize::MAX {
                    *known = distance + 1;
                    queue.push_back((from, distance + 1));
                }
                if *known == distance + 1 {
                    let slot = &mut self.next[base + column as usize];
                    *slot = (*slot).min(direction);
                }
            }
        }
    }
}

/// The routing method of each node, and the number of columns.
fn choices(scenario: &Scenario, leaving: &[Vec<(usize, u32)>]) -> (Vec<Choice>, usize) {
    let is_host = |node: usize| matches!(scenario.nodes[node].role, Role::Host(_));
    let mut columns = 0;
    let choice = |(node, links): (usize, &Vec<(usize, u32)>)| match links[..] {
        [(neighbour, direction)] if is_host(node) && !is_host(neighbour) => Choice::Only(direction),
        _ => {
            columns += 1;
            Choice::Column(columns - 1)
        }
    };
    let choices = leaving.iter().enumerate().map(choice).collect();
    (choices, columns as usize)
}

/// For each node, the directions that leave it and their far ends.
fn leaving(scenario: &Scenario) -> Vec<Vec<(usize, u32)>> {
    let mut leaving = vec![Vec::new(); scenario.nodes.len()];
    for (link, number) in scenario.links.iter().zip((0u32..).step_by(2)) {
        let [one, other] = link.ends;
        leaving[one].push((other, number));
        leaving[other].push((one, number + 1));
    }
    leaving
}

/// For each node, the directions that arrive from nodes with a column, with the number
/// and the column of the node at their start.
fn arriving(scenario: &Scenario, nodes: &[Choice]) -> Vec<Vec<(usize, u32, u32)>> {
    let mut arriving = vec![Vec::new(); scenario.nodes.len()];
    for (link, number) in scenario.links.iter().zip((0u32..).step_by(2)) {
        let [one, other] = link.ends;
        for (from, to, direction) in [(one, other, number), (other, one, number + 1)] {
            if let Choice::Column(column) = nodes[from] {
                arriving[to].push((from, column, direction));
            }
        }
    }
    arriving
}

/// The nodes that a packet passes, each with the direction that it takes there; without
/// `to` itself.
pub(crate) fn walk(
    scenario: &Scenario,
    routes: &Routes,
    from: usize,
    to: usize,
) -> Vec<(usize, usize)> {
    let mut path = Vec::new();
    let mut here = from;
    while here != to
        && let Some(direction) = routes.next(here, to)
    {
        path.push((here, direction));
        here = scenario.links[direction / 2].ends[1 - direction % 2];
    }
    path
}
