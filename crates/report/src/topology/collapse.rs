//! Nodes and links of one setting, equal ones drawn as one.

use plan::setting::{Graph, Network, Role, Shape, Vertex};
use plan::{Backend, Setting};

use super::{Link, Node, Property, hosts, link};

/// The fewest equal nodes that are drawn as one.
const FEWEST: usize = 3;

/// The nodes and links of `setting`.
pub(super) fn network(backend: Backend, setting: &Setting) -> (Vec<Node>, Vec<Link>) {
    let network = &setting.network;
    let graph = network.as_graph();
    let groups = groups(network, &graph);
    // The group of each node; the first node of a group stands for it.
    let mut group_of = vec![0; graph.nodes.len()];
    for (number, group) in groups.iter().enumerate() {
        group.iter().for_each(|&node| group_of[node] = number);
    }
    let node = |group: &Vec<usize>| {
        let Vertex { name, role } = &graph.nodes[group[0]];
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_numbered =
            group.len() > 1 || network.shape == Shape::Dumbbell && *role == Role::Host;
        let numbers = is_numbered.then(|| {
            let number = |node: usize| number(&graph.nodes[node].name).unwrap_or(1);
            let first = number(group[0]);
            (first, first + group.len() - 1)
        });
        Node {
            name: if is_numbered { stem } else { name }.to_owned(),
            numbers: numbers.into_iter().collect(),
            role: *role,
            properties: node_properties(network, &graph, group),
        }
    };
    let mut links: Vec<Link> = Vec::new();
    for wire in &graph.wires {
        let [from, to] = wire.ends.map(|node| group_of[node]);
        if from == to {
            continue;
        }
        // Equal links of collapsed hosts are one.
        let is_collapsed = groups[from].len() > 1 || groups[to].len() > 1;
        if is_collapsed && links.iter().any(|link| link.ends == [from, to]) {
            continue;
        }
        links.push(Link {
            name: match is_collapsed || network.shape == Shape::Dumbbell && wire.link == 0 {
                true => network.links[wire.link].name.clone(),
                false => wire.name.clone(),
            },
            ends: [from, to],
            properties: link::properties(backend, network, &network.links[wire.link]),
        });
    }
    (groups.iter().map(node).collect(), links)
}

fn node_properties(network: &Network, graph: &Graph, group: &[usize]) -> Vec<Property> {
    if group.len() > 1 && graph.nodes[group[0]].role != Role::Host {
        return vec![Property::one("", "links between them are alike")];
    }
    let edge = network.domain.as_ref();
    let edge = edge.filter(|domain| domain.edges.contains(&group[0]));
    edge.map(hosts::edge).unwrap_or_default()
}

/// The nodes in groups of equal ones.
fn groups(network: &Network, graph: &Graph) -> Vec<Vec<usize>> {
    let wires = wires_of(graph);
    let mut groups: Vec<Vec<usize>> = Vec::new();
    for node in 0..graph.nodes.len() {
        let alike = |group: &&mut Vec<usize>| {
            are_alike(network, graph, &wires, group[group.len() - 1], node)
        };
        match groups.iter_mut().find(alike) {
            Some(group) => group.push(node),
            None => groups.push(vec![node]),
        }
    }
    let split = |group: Vec<usize>| match group.len() >= FEWEST {
        true => vec![group],
        false => group.into_iter().map(|node| vec![node]).collect(),
    };
    let mut groups: Vec<Vec<usize>> = groups.into_iter().flat_map(split).collect();
    groups.sort();
    groups
}

/// Whether `node` continues a row of equal nodes that ends with `last`: hosts
/// at the same neighbour, or forwarding nodes behind one another.
fn are_alike(
    network: &Network,
    graph: &Graph,
    wires: &[Vec<Wire>],
    last: usize,
    node: usize,
) -> bool {
    let [one, other] = [last, node].map(|node| &graph.nodes[node]);
    let stem = |name: &str| {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        (stem.len() < name.len()).then(|| stem.to_owned())
    };
    let follows = number(&other.name) == number(&one.name).map(|number| number + 1);
    if one.role != other.role || stem(&one.name) != stem(&other.name) || !follows {
        return false;
    }
    let is_edge = |node: usize| {
        let domain = network.domain.as_ref();
        domain.is_some_and(|domain| domain.edges.contains(&node))
    };
    if is_edge(last) || is_edge(node) {
        return false;
    }
    let [of_last, of_node] = [&wires[last], &wires[node]];
    let link = |wire: usize| {
        let link = &network.links[graph.wires[wire].link];
        plan::setting::Link {
            name: String::new(),
            ..link.clone()
        }
    };
    match (of_last.as_slice(), of_node.as_slice()) {
        ([(there, at)], [(here, same)]) if one.role == Role::Host => {
            at == same && link(*there) == link(*here)
        }
        ([_, _], [_, _]) if one.role != Role::Host => {
            // The link between them is like those on both sides.
            let wires = of_last.iter().chain(of_node);
            let is_between = of_last.iter().any(|(_, far)| *far == node);
            is_between && { wires }.all(|(wire, _)| link(*wire) == link(of_last[0].0))
        }
        _ => false,
    }
}

/// A wire at a node, and the node at its other end.
type Wire = (usize, usize);

/// The wires of each node.
fn wires_of(graph: &Graph) -> Vec<Vec<Wire>> {
    let mut wires = vec![Vec::new(); graph.nodes.len()];
    for (number, wire) in graph.wires.iter().enumerate() {
        let [one, other] = wire.ends;
        wires[one].push((number, other));
        if other != one {
            wires[other].push((number, one));
        }
    }
    wires
}

/// The number at the end of a name.
fn number(name: &str) -> Option<usize> {
    let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
    name[stem.len()..].parse().ok()
}
