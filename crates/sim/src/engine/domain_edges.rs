//! The driver of a domain's edges. [`link::edge`] decides which packets are aggregated
//! and when they are sent; the engine knows links and routes.

use std::collections::BTreeMap;

use link::edge::{Address, Edge, Exit, Labels, Outgoing, Transmit};
use queue::{Packet as _, Part};
use units::{Bytes, Time};

use super::Engine;

use crate::load::Load;
use crate::packet::{Body, Congestion, Content, Extra, Header, Packet};
use crate::{Location, Loss};

/// The edges of the network's domain.
#[derive(Default)]
pub(crate) struct DomainEdges {
    /// The edges in the order of their nodes.
    pub(crate) all: Vec<DomainEdge>,
    /// The exit of packets to each node.
    pub(crate) exits: Vec<Option<Exit>>,
    /// The labels by which bundles are forwarded; `None`: by address.
    pub(crate) labels: Option<Labels>,
    /// The number of aggregations.
    pub(crate) origins: usize,
}

/// An edge of a running network.
pub(crate) struct DomainEdge {
    pub(crate) node: usize,
    pub(crate) machine: Edge<Packet>,
    /// The links and origins of its aggregations, by exit.
    aggregations: BTreeMap<Exit, Aggregation>,
}

#[derive(Clone, Copy)]
struct Aggregation {
    /// Number among the aggregations of all edges.
    origin: usize,
    /// The next hop of its bundles.
    direction: usize,
}

impl DomainEdge {
    /// An edge before the first event.
    pub(crate) const fn new(node: usize, machine: Edge<Packet>) -> Self {
        Self {
            node,
            machine,
            aggregations: BTreeMap::new(),
        }
    }
}

impl<const TRACED: bool> Engine<'_, TRACED> {
    /// Handles a packet that arrived at an edge.
    pub(super) fn arrive_at_edge(&mut self, node: usize, mut packet: Packet) {
        let number = self.edge_at(node);
        if let Some(load) = packet.take_load(node) {
            self.contents.discard(&packet);
            let machine = &mut self.edges.all[number].machine;
            let from = (load.origin as u64, load.number);
            let mut lost = Vec::new();
            machine.receive_bundle(self.now, load.bundle, from, |packet| lost.push(packet));
            machine.handle_timeout();
            for packet in lost {
                self.lose_pieces(node, &packet);
            }
            self.serve_edge(number);
            return;
        }
        if packet.is_bundle() {
            self.route(node, packet);
            return;
        }
        // The frame of the incoming link no longer matters: the IP packet counts.
        packet.header.frame = packet.header.size;
        let to = packet.header.to as usize;
        let exit = self.edges.exits[to];
        let machine = &mut self.edges.all[number].machine;
        if let Some(packet) = machine.receive(self.now, packet, exit) {
            self.route(node, packet);
        } else if let Some(exit) = exit {
            self.know_aggregation(number, exit, to);
            self.serve_edge(number);
        }
    }

    /// Handles pieces of a packet whose other pieces were lost.
    fn lose_pieces(&mut self, node: usize, packet: &Packet) {
        if matches!(packet.part(), Part::First { .. }) {
            let location = Location::Node(self.nodes[node].place);
            self.lose(location, packet, Loss::Incomplete);
            self.contents.discard(packet);
        }
    }

    /// Handles the timeout of an edge. A check of a link that is not idle yet does not
    /// count as an event, because the number of checks depends on the driver.
    pub(super) fn visit_edge(&mut self, number: usize) {
        let due = self.next_of_edge(number);
        self.events -= u64::from(due.is_none_or(|due| due > self.now));
        self.edges.all[number].machine.handle_timeout();
        self.serve_edge(number);
    }

    fn edge_at(&self, node: usize) -> usize {
        let edges = &self.edges.all;
        edges.partition_point(|edge| edge.node < node)
    }

    /// Assigns a number and a direction to a new aggregation, whose first packet goes to
    /// node `to`.
    fn know_aggregation(&mut self, number: usize, exit: Exit, to: usize) {
        let edge = &mut self.edges.all[number];
        if edge.aggregations.contains_key(&exit) {
            return;
        }
        let direction = match edge.machine.address(exit) {
            Some(Address::Egress) => self.routes.next(edge.node, exit.egress),
            Some(Address::FirstPacket) => self.routes.next(edge.node, to),
            Some(Address::Label(label)) => {
                let labels = self.edges.labels.as_ref();
                labels.and_then(|labels| Some(labels.hop(label)?.link))
            }
            None => None,
        };
        let aggregation = Aggregation {
            origin: self.edges.origins,
            direction: direction.expect("checked with the domain"),
        };
        self.edges.origins += 1;
        edge.aggregations.insert(exit, aggregation);
    }

    /// Sends all packets that an edge releases now.
    fn serve_edge(&mut self, number: usize) {
        let node = self.edges.all[number].node;
        loop {
            let (now, directions, edge) =
                (self.now, &mut self.directions, &mut self.edges.all[number]);
            let aggregations = &edge.aggregations;
            // With other packets waiting, the wire is busy beyond the present.
            let free_at = |exit| directions[aggregations[&exit].direction].free_at(now);
            match edge.machine.poll_transmit(now, free_at) {
                Some(Transmit::Bundle(outgoing)) => self.send_bundle(number, outgoing),
                Some(Transmit::Bare(packet) | Transmit::Released(packet)) => {
                    self.route(node, packet);
                }
                None => break,
            }
        }
        let next = self.next_of_edge(number);
        self.event_queue.set(self.elements.edges + number, next);
    }

    /// The time at which an edge acts next or checks whether it may.
    fn next_of_edge(&mut self, number: usize) -> Option<Time> {
        let (now, directions, edge) = (self.now, &mut self.directions, &self.edges.all[number]);
        let free_at = |exit| directions[edge.aggregations[&exit].direction].free_at(now);
        edge.machine.next_timeout(free_at)
    }

    fn send_bundle(&mut self, number: usize, outgoing: Outgoing<Packet>) {
        let Outgoing {
            bundle,
            exit,
            address,
            number: sent,
        } = outgoing;
        let edge = &self.edges.all[number];
        let (node, origin) = (edge.node, edge.aggregations[&exit].origin);
        let mut inside = bundle.entries().iter().filter_map(|entry| entry.packet());
        let Some(first) = inside.next().map(|packet| packet.header) else {
            return;
        };
        let egress = u32::try_from(exit.egress).expect("a scenario has fewer nodes than that");
        let to = match address {
            Address::Egress => Some(egress),
            Address::FirstPacket => None,
            Address::Label(label) => Some(label),
        };
        let outer = match to {
            Some(to) => Header {
                to,
                // A separate flow for queues.
                key: units::Seed::new(0).with(origin as u64).get(),
                ..first
            },
            None => first,
        };
        let content = Content {
            body: Body::Bundle,
            ..*self.contents.of(&first)
        };
        let header = Header {
            size: bytes(bundle.view().size),
            content: self.contents.put(content),
            congestion: Congestion::Unable,
            ..outer
        };
        let load = Extra::Bundle(Load {
            bundle,
            origin,
            number: sent,
            ingress: node,
            egress: exit.egress,
        });
        self.nodes[node].counts.forwarded += 1;
        let extra = Some(Box::new(load));
        self.depart(node, Packet { header, extra });
    }
}

fn bytes(size: Bytes) -> u32 {
    u32::try_from(size.get()).unwrap_or(u32::MAX)
}
