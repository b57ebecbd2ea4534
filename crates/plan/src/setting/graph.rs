//! Networks that are not a path.

use super::{Network, Shape};

/// Nodes and the wires between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Graph {
    pub nodes: Vec<Vertex>,
    /// The wires between the nodes.
    pub wires: Vec<Wiring>,
}

/// A node.
#[derive(Clone, Debug, PartialEq)]
pub struct Vertex {
    /// The unique name.
    pub name: String,
    /// The role in forwarding.
    pub role: Role,
}

/// The role of a node in forwarding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends and receives packets, and forwards none.
    Host,
    /// Forwards IP packets.
    Router,
    /// Forwards frames.
    Switch,
}

/// A wire between two nodes.
#[derive(Clone, Debug, PartialEq)]
pub struct Wiring {
    /// The unique name.
    pub name: String,
    /// The index of the network's link with the wire's properties.
    pub link: usize,
    /// The indices of the nodes at both ends.
    pub ends: [usize; 2],
}

impl Network {
    /// The nodes and wires, for paths as well.
    pub fn as_graph(&self) -> Graph {
        self.graph.clone().unwrap_or_else(|| self.path())
    }

    fn path(&self) -> Graph {
        let middle = match self.shape {
            Shape::Switched => Role::Switch,
            _ => Role::Router,
        };
        let names = self.node_names();
        let last = names.len().saturating_sub(1);
        let role = |place| match place == 0 || place == last {
            true => Role::Host,
            false => middle,
        };
        let nodes = names.into_iter().enumerate().map(|(place, name)| Vertex {
            name,
            role: role(place),
        });
        let wires = self.links.iter().enumerate().map(|(place, link)| Wiring {
            name: link.name.clone(),
            link: place,
            ends: [place, place + 1],
        });
        Graph {
            nodes: nodes.collect(),
            wires: wires.collect(),
        }
    }
}

impl Graph {
    /// `pairs` senders and receivers on access links at both ends of one
    /// bottleneck. Link 0 describes the access links, link 1 the bottleneck.
    pub fn dumbbell(pairs: usize) -> Self {
        let node = |name: String, role| Vertex { name, role };
        let (left, right) = (0, 1);
        let mut nodes = vec![
            node("left".into(), Role::Router),
            node("right".into(), Role::Router),
        ];
        let mut wires = vec![Wiring {
            name: "bottleneck".into(),
            link: 1,
            ends: [left, right],
        }];
        for pair in 1..=pairs {
            for (end, router) in [("sender", left), ("receiver", right)] {
                let name = format!("{end}{pair}");
                let host = nodes.len();
                let ends = match end {
                    "sender" => [host, router],
                    _ => [router, host],
                };
                wires.push(Wiring {
                    name: format!("access-{name}"),
                    link: 0,
                    ends,
                });
                nodes.push(node(name, Role::Host));
            }
        }
        Self { nodes, wires }
    }
}
