//! Common elements of scenarios: names of flows, links, gaps.

use std::collections::BTreeMap;

use meter::departures::mean_gap;
use plan::{Setting, setting as spec};
use units::Bytes;

/// The names of the flows of a transfer: the messages, and answers to them.
pub(in crate::backend::sim) const TRANSFER: &str = "transfer";
pub(in crate::backend::sim) const ECHO: &str = "echo";

/// The time of the slowest link of the path for a message, in picoseconds.
pub(super) fn slowest_gap(setting: &Setting, message: Bytes) -> f64 {
    let network = &setting.network;
    let gaps = network.links.iter().filter_map(|link| {
        let wire = model::message_wire_size(message, link.mtu, network.ip, link.framing);
        Some(mean_gap(wire, link.rate?))
    });
    gaps.fold(0.0, f64::max)
}

pub(super) fn place(graph: &spec::Graph, name: &str) -> usize {
    let mut nodes = graph.nodes.iter();
    // An unknown name is out of bounds and rejected by the simulator.
    nodes
        .position(|node| node.name == name)
        .unwrap_or(graph.nodes.len())
}

/// The places of all nodes by name, for many look-ups.
pub(super) fn places(graph: &spec::Graph) -> BTreeMap<&str, usize> {
    let nodes = graph.nodes.iter().enumerate();
    nodes
        .map(|(place, node)| (node.name.as_str(), place))
        .collect()
}

pub(super) fn bytes(size: Bytes) -> f64 {
    size.get() as f64
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not below zero; what is longer than time goes on is rejected by the simulator"
)]
pub(super) fn whole(picos: f64) -> u64 {
    picos as u64
}
