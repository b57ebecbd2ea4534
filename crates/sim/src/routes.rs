//! Which link leads where.

use std::collections::VecDeque;

use crate::{Role, Scenario};

/// The shortest paths, by hops, to every host that a flow begins or ends at.
/// Of equally short ones a node takes the link that comes first.
pub(crate) struct Routes {
    /// What each node goes by.
    nodes: Vec<Choice>,
    /// The row of a node in the table, for nodes that are destinations.
    rows: Vec<u32>,
    columns: usize,
    /// The next hop, by destination and node.
    next: Vec<u32>,
}

/// How a node finds its next hop.
#[derive(Clone, Copy)]
enum Choice {
    /// A host that has one link, to a node that forwards, has no choice. Most
    /// nodes of a large network are like that, and the table is small for it.
    Only(u32),
    /// It has a column of the table.
    Column(u32),
}

/// No row, and no hop.
const NONE: u32 = u32::MAX;

impl Routes {
    /// Works them out. Numbers of directions are twice that of their link, and one
    /// more for the way back.
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

    /// The octets of memory that the table takes.
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

    /// The direction that leads from `node` to `destination`, another node.
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

    /// Works out the paths to `end` too, a node at which no flow ends.
    pub(crate) fn add(&mut self, scenario: &Scenario, end: usize) {
        if self.rows[end] == NONE {
            let rows = self.next.len() / self.columns.max(1);
            self.rows[end] = u32::try_from(rows).expect("a scenario has fewer nodes than that");
            let arriving = arriving(scenario, &self.nodes);
            self.explore(scenario, &arriving, end);
        }
    }

    /// Fills in a row: breadth first from the destination, over nodes that
    /// forward.
    fn explore(&mut self, scenario: &Scenario, arriving: &[Vec<(usize, u32, u32)>], end: usize) {
        let base = self.next.len();
        self.next.resize(base + self.columns, NONE);
        let mut distances = vec![usize::MAX; self.columns];
        // The end itself may have no column.
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

/// What each node goes by, and how many have a column.
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

/// For each node the directions that leave it, and where they lead.
fn leaving(scenario: &Scenario) -> Vec<Vec<(usize, u32)>> {
    let mut leaving = vec![Vec::new(); scenario.nodes.len()];
    for (link, number) in scenario.links.iter().zip((0u32..).step_by(2)) {
        let [one, other] = link.ends;
        leaving[one].push((other, number));
        leaving[other].push((one, number + 1));
    }
    leaving
}

/// For each node the directions that arrive at it from nodes with a choice, and where
/// they come from, by number and by column.
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

/// The nodes between which a packet passes, each with the direction that it takes
/// there; `to` itself is not among them.
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
