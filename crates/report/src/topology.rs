//! The test network of a plan: nodes, links and flows. [`of`] derives it from the settings of
//! the cells; [`svg`] draws it for the page, and [`list`] lists its links for a terminal.

mod collapse;
mod faults;
mod flows;
mod hosts;
mod layout;
mod link;
mod list;
mod property;
mod svg;

use std::collections::BTreeSet;

use plan::setting::Role;
use plan::{Cell, Plan, Setting};

pub use list::{topology_lines, topology_text};
use property::Property;
pub(crate) use svg::figure;

/// The most test networks of a plan that are shown.
const MOST_SHOWN: usize = 6;

/// The test network of those cells of a plan whose nodes and links are alike.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Topology {
    /// The levels that tell these cells from the others; empty if all cells are
    /// alike.
    pub(crate) cells: String,
    pub(crate) nodes: Vec<Node>,
    /// The links between them.
    pub(crate) links: Vec<Link>,
    /// The configuration of the end hosts.
    pub(crate) hosts: Vec<Property>,
    /// The traffic, a line each.
    pub(crate) flows: Vec<Property>,
}

/// A node, or several equal ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Node {
    /// The name; of several nodes the name without its number.
    pub(crate) name: String,
    /// The numbers of the first and the last of several nodes, for each number
    /// of nodes that a cell has.
    pub(crate) numbers: Vec<(usize, usize)>,
    /// The role in forwarding.
    pub(crate) role: Role,
    /// Its functions besides forwarding.
    pub(crate) properties: Vec<Property>,
}

/// A link, or several equal ones.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Link {
    pub(crate) name: String,
    /// The indices of the nodes at both ends.
    pub(crate) ends: [usize; 2],
    /// Rate, MTU, delay, queue and so on.
    pub(crate) properties: Vec<Property>,
}

impl Link {
    /// Its properties in words, but for usual ones.
    fn words(&self) -> Vec<String> {
        let properties = self.properties.iter();
        properties.filter_map(Property::shown).collect()
    }
}

impl Node {
    /// The name: `sender`, `sender1 ... sender40`.
    fn title(&self) -> String {
        let name = &self.name;
        match self.numbers.as_slice() {
            [] => name.clone(),
            [(first, last)] if first == last => format!("{name}{first}"),
            [(first, last)] => format!("{name}{first} ... {name}{last}"),
            _ => format!("{name}*"),
        }
    }

    /// The lines below the name: the number of nodes if it differs between
    /// cells, and the properties.
    fn notes(&self) -> Vec<String> {
        let several = (self.numbers.len() > 1).then(|| {
            let count = |(first, last): &(usize, usize)| (last + 1 - first).to_string();
            let counts = self.numbers.iter().map(count).collect();
            format!("{} of them", Property::new("", counts).text())
        });
        let properties = self.properties.iter().filter_map(Property::shown);
        several.into_iter().chain(properties).collect()
    }
}

/// The test networks of `plan` in the order of its cells, one for each arrangement
/// of nodes and links. Cells that the backend cannot measure are left out, and
/// arrangements after the sixth.
pub(crate) fn of(plan: &Plan) -> Vec<Topology> {
    let measured = plan.cells.iter().filter_map(|cell| {
        let setting = cell.setting.as_ref().ok()?;
        Some((cell, of_cell(plan, setting)))
    });
    let mut groups: Vec<(Topology, Vec<&Cell>)> = Vec::new();
    for (cell, topology) in measured {
        match groups
            .iter_mut()
            .find(|(first, _)| first.is_like(&topology))
        {
            Some((first, cells)) => {
                first.merge(topology);
                cells.push(cell);
            }
            None => groups.push((topology, vec![cell])),
        }
    }
    let names: Vec<String> = (0..groups.len())
        .map(|place| distinction(plan, &groups, place))
        .collect();
    let named = groups
        .into_iter()
        .zip(names)
        .map(|((topology, cells), name)| {
            let mut topology = Topology {
                cells: name,
                ..topology
            };
            for flow in &mut topology.flows {
                flow.note_absence(cells.len());
            }
            topology
        });
    named.take(MOST_SHOWN).collect()
}

fn of_cell(plan: &Plan, setting: &Setting) -> Topology {
    let (nodes, links) = collapse::network(plan.backend, setting);
    Topology {
        cells: String::new(),
        nodes,
        links,
        hosts: hosts::properties(plan.backend, setting),
        flows: flows::lines(setting),
    }
}

/// The factors whose levels in one group of cells occur in no other group, with
/// these levels.
fn distinction(plan: &Plan, groups: &[(Topology, Vec<&Cell>)], place: usize) -> String {
    if groups.len() == 1 {
        return String::new();
    }
    let levels = |cells: &[&Cell], factor: &str| -> BTreeSet<String> {
        let levels = cells.iter().filter_map(|cell| cell.factors.level(factor));
        levels.map(|level| plan.label(factor, level)).collect()
    };
    let cells = &groups[place].1;
    let factors = cells[0].factors.0.iter().map(|(name, _)| name);
    let telling = factors.filter_map(|name| {
        let own = levels(cells, name);
        let others = groups
            .iter()
            .enumerate()
            .filter(|(other, _)| *other != place);
        let is_own = { others }.all(|(_, (_, cells))| own.is_disjoint(&levels(cells, name)));
        is_own.then(|| format!("{name}={}", own.into_iter().collect::<Vec<_>>().join(", ")))
    });
    let telling: Vec<String> = telling.collect();
    match telling.is_empty() {
        true => format!("{} of {} cells", cells.len(), plan.cells.len()),
        false => telling.join(" "),
    }
}

impl Topology {
    /// Whether nodes and links are arranged alike.
    fn is_like(&self, other: &Self) -> bool {
        let nodes = |one: &Self| -> Vec<(String, Role, bool)> {
            let nodes = one.nodes.iter();
            let key = |node: &Node| (node.name.clone(), node.role, node.numbers.is_empty());
            nodes.map(key).collect()
        };
        let links =
            |one: &Self| -> Vec<[usize; 2]> { one.links.iter().map(|link| link.ends).collect() };
        nodes(self) == nodes(other) && links(self) == links(other)
    }

    /// Adds the values of a test network that is arranged alike.
    fn merge(&mut self, other: Self) {
        for (node, another) in self.nodes.iter_mut().zip(other.nodes) {
            for numbers in another.numbers {
                if !node.numbers.contains(&numbers) {
                    node.numbers.push(numbers);
                }
            }
            property::merge(&mut node.properties, another.properties);
        }
        for (link, another) in self.links.iter_mut().zip(other.links) {
            property::merge(&mut link.properties, another.properties);
        }
        property::merge(&mut self.hosts, other.hosts);
        property::merge(&mut self.flows, other.flows);
    }

    /// Whether any value differs between cells.
    fn varies(&self) -> bool {
        let of_nodes = self.nodes.iter().flat_map(|node| &node.properties);
        let of_links = self.links.iter().flat_map(|link| &link.properties);
        let all = of_nodes
            .chain(of_links)
            .chain(&self.hosts)
            .chain(&self.flows);
        { all }.any(Property::varies) || self.nodes.iter().any(|node| node.numbers.len() > 1)
    }

    /// The lines about hosts and flows, and the meaning of the mark.
    fn other_lines(&self) -> Vec<String> {
        let hosts: Vec<String> = self.hosts.iter().filter_map(Property::shown).collect();
        let hosts = (!hosts.is_empty()).then(|| format!("Hosts: {}", hosts.join("; ")));
        let flows = self.flows.iter().filter_map(Property::shown);
        let mark = self
            .varies()
            .then(|| format!("{} differs between cells", property::MARK));
        hosts.into_iter().chain(flows).chain(mark).collect()
    }
}

#[cfg(test)]
mod tests;
