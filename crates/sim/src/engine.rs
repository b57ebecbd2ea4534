//! The engine: takes the next entry of the event queue and lets its element act,
//! until nothing is left.
//!
//! Links, processors and sources each have one entry, whatever waits in them.
//! They are numbered in that order, and within a kind by name; so at one
//! instant packets first come out of links, then are worked on, then sent.

mod domain_edges;
mod endpoints;
mod links;
mod notices;

use proto::tcp::React;
use units::{IpVersion, Time};

use crate::direction::Direction;
use crate::event_queue::EventQueue;
use crate::fragments::{fragment_header, ip_header, pieces};
use crate::packet::{Body, Congestion, Content, Contents, Header, Outbox, Packet, Piece};
use crate::processor::Processor;
use crate::routes::Routes;
use crate::{Location, Loss, NodeOutcome, Tracer};
pub(crate) use domain_edges::{DomainEdge, DomainEdges};
pub(crate) use endpoints::Endpoints;

/// The network while it runs. Elements are in the order of their names.
pub(crate) struct Engine<'a, W> {
    pub(crate) directions: Vec<Direction>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) flows: Vec<Flow>,
    routes: &'a Routes,
    event_queue: EventQueue,
    elements: Elements,
    pub(crate) now: Time,
    pub(crate) events: u64,
    /// Packets of one message, while they are sent.
    outbox: Outbox,
    contents: Contents,
    pub(crate) edges: DomainEdges,
    /// What sources do that a direction tells of drops, by its number; nobody tells
    /// where it is short.
    pub(crate) notifies: Vec<Option<React>>,
    tracer: &'a mut W,
}

/// A node while the network runs.
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// Where it takes time to receive, and to send.
    pub(crate) receive: Option<Box<Processor>>,
    pub(crate) send: Option<Box<Processor>>,
    pub(crate) counts: NodeOutcome,
    /// Its place in the scenario.
    pub(crate) place: usize,
}

/// What a node does with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Host,
    Router,
    Switch,
    /// A router that gathers packets and lets them out again.
    Edge,
}

/// A flow while the network runs.
pub(crate) struct Flow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) endpoints: Endpoints,
    /// The flow that answers its messages.
    pub(crate) answered_by: Option<usize>,
    /// Its place in the scenario.
    pub(crate) place: usize,
}

/// Who has which number in the event queue.
#[derive(Clone, Copy)]
struct Elements {
    receivers: usize,
    senders: usize,
    sources: usize,
    /// The ends of flows that receive.
    sinks: usize,
    /// The edges of a domain.
    edges: usize,
}

/// The largest answer of a router: the smallest MTU of IPv6 [RFC4443 s3.2], or
/// what any host of IPv4 takes [RFC1812 s4.3.2.3].
const fn largest_answer(ip: IpVersion) -> u32 {
    match ip {
        IpVersion::V4 => 576,
        IpVersion::V6 => 1_280,
    }
}

/// Octets of the header of ICMP [RFC4443 s3.2] [RFC792].
const ICMP_HEADER: u32 = 8;

impl<'a, W: Tracer> Engine<'a, W> {
    /// The network before anything has happened.
    pub(crate) fn new(
        directions: Vec<Direction>,
        nodes: Vec<Node>,
        flows: Vec<Flow>,
        edges: DomainEdges,
        routes: &'a Routes,
        tracer: &'a mut W,
    ) -> Self {
        let elements = Elements {
            receivers: directions.len(),
            senders: directions.len() + nodes.len(),
            sources: directions.len() + 2 * nodes.len(),
            sinks: directions.len() + 2 * nodes.len() + flows.len(),
            edges: directions.len() + 2 * nodes.len() + 2 * flows.len(),
        };
        let all = elements.edges + edges.all.len();
        let mut event_queue =
            EventQueue::new(u32::try_from(all).expect("checked with the scenario"));
        for (flow, number) in flows.iter().zip(elements.sources..) {
            event_queue.set(number, flow.endpoints.next_timeout());
        }
        Self {
            directions,
            nodes,
            flows,
            routes,
            event_queue,
            elements,
            now: Time::ZERO,
            events: 0,
            outbox: Vec::new(),
            contents: Contents::default(),
            edges,
            notifies: Vec::new(),
            tracer,
        }
    }

    /// Executes one event; returns whether there was one.
    pub(crate) fn step(&mut self) -> bool {
        let Some((now, element)) = self.event_queue.first() else {
            return false;
        };
        debug_assert!(now >= self.now, "time goes on");
        self.now = now;
        self.events += 1;
        let Elements {
            receivers,
            senders,
            sources,
            sinks,
            edges,
        } = self.elements;
        if element < receivers {
            self.deliver_arrived(element);
        } else if element < senders {
            self.finish_receiving(element - receivers);
        } else if element < sources {
            self.finish_sending(element - senders);
        } else if element < sinks {
            self.emit(element - sources);
        } else if element < edges {
            self.end_waiting(element - sinks);
        } else {
            self.visit_edge(element - edges);
        }
        self.contents.forget();
        true
    }

    fn arrive(&mut self, node: usize, packet: Packet) {
        match self.nodes[node].kind {
            Kind::Host => self.receive(node, packet),
            Kind::Router => self.route(node, packet),
            Kind::Edge => self.arrive_at_edge(node, packet),
            Kind::Switch => match self.transmit(node, packet) {
                None => self.nodes[node].counts.forwarded += 1,
                Some(refused) => self.contents.discard(&refused),
            },
        }
    }

    /// A packet has come to its host.
    fn receive(&mut self, node: usize, packet: Packet) {
        if self.nodes[node].receive.is_none() {
            self.deliver(node, packet);
            return;
        }
        // What is done at this very instant makes room first.
        self.finish_receiving(node);
        let here = &mut self.nodes[node];
        let receive = here.receive.as_mut();
        let refused = receive.and_then(|receive| receive.push(self.now, packet));
        if let Some(packet) = refused {
            here.counts.dropped += 1;
            let location = Location::Node(here.place);
            self.lose(location, &packet, Loss::Buffer);
            self.contents.discard(&packet);
        }
        self.arm_receiver(node);
    }

    fn finish_receiving(&mut self, node: usize) {
        let now = self.now;
        let due = |node: &mut Node| node.receive.as_mut()?.pop(now);
        while let Some(packet) = due(&mut self.nodes[node]) {
            self.deliver(node, packet);
        }
        self.arm_receiver(node);
    }

    fn arm_receiver(&mut self, node: usize) {
        let receive = self.nodes[node].receive.as_ref();
        let next = receive.and_then(|receive| receive.next_timeout());
        self.event_queue.set(self.elements.receivers + node, next);
    }

    /// Passes a packet on as a router does.
    fn route(&mut self, node: usize, packet: Packet) {
        let Some((direction, _)) = self.next_hop(node, &packet) else {
            return;
        };
        let mtu = self.directions[direction].mtu;
        if packet.header.size > mtu
            && let Body::Datagram(piece) = self.contents.of(&packet.header).body
            && !piece.dont_fragment
        {
            self.nodes[node].counts.cut += 1;
            self.cut(node, packet, piece, mtu);
            return;
        }
        match self.transmit(node, packet) {
            None => self.nodes[node].counts.forwarded += 1,
            Some(refused) => self.answer(node, &refused, mtu),
        }
    }

    fn cut(&mut self, node: usize, packet: Packet, piece: Piece, mtu: u32) {
        self.nodes[node].counts.forwarded += 1;
        let Header { ip, .. } = packet.header;
        let header = fragment_header(ip);
        let whole = *self.contents.of(&packet.header);
        for (offset, length) in pieces(ip, mtu, piece.offset, piece.length) {
            let body = Body::Datagram(Piece {
                offset,
                length,
                ..piece
            });
            let fragment = Header {
                size: header + length,
                ..packet.header
            };
            self.post(node, fragment, Content { body, ..whole });
        }
        self.contents.discard(&packet);
    }

    /// Tells the source of `packet` that it is too big; never about an answer
    /// [RFC4443 s2.4], nor about a bundle. Acknowledgements fit every link, as was checked.
    fn answer(&mut self, node: usize, packet: &Packet, mtu: u32) {
        let content = *self.contents.of(&packet.header);
        self.contents.discard(packet);
        let packet = packet.header;
        if matches!(
            content.body,
            Body::TooBig { .. } | Body::Notice { .. } | Body::Bundle
        ) {
            return;
        }
        self.nodes[node].counts.answered += 1;
        let header = ip_header(packet.ip) + ICMP_HEADER;
        let from = self.flows[packet.flow as usize].from;
        let answer = Header {
            to: u32::try_from(from).expect("a scenario has fewer nodes than that"),
            size: (header + packet.size).min(largest_answer(packet.ip)),
            // A flow of its own, as far as queues are concerned.
            key: packet.key ^ 1,
            congestion: Congestion::Unable,
            ..packet
        };
        let body = Body::TooBig { mtu };
        self.post(node, answer, Content { body, ..content });
    }

    /// Sends packets: through the host's processor to its link.
    fn send(&mut self, from: usize, mut packets: Outbox) {
        if let Some(send) = &mut self.nodes[from].send {
            for (mut header, content) in packets.drain(..) {
                header.content = self.contents.put(content);
                let refused = send.push(self.now, Packet::bare(header));
                debug_assert!(refused.is_none(), "without a limit there is room");
            }
            self.finish_sending(from);
        } else {
            for (header, content) in packets.drain(..) {
                self.nodes[from].counts.sent += 1;
                self.post(from, header, content);
            }
        }
        self.outbox = packets;
    }

    fn finish_sending(&mut self, node: usize) {
        let now = self.now;
        let due = |node: &mut Node| node.send.as_mut()?.pop(now);
        while let Some(packet) = due(&mut self.nodes[node]) {
            self.nodes[node].counts.sent += 1;
            self.depart(node, packet);
        }
        let send = self.nodes[node].send.as_ref();
        let next = send.and_then(|send| send.next_timeout());
        self.event_queue.set(self.elements.senders + node, next);
    }

    /// Puts a packet that is new on the next link of its path.
    fn post(&mut self, node: usize, header: Header, content: Content) {
        let content = self.contents.put(content);
        self.depart(node, Packet::bare(Header { content, ..header }));
    }

    /// Puts a packet on the next link of its path; there it is lost if it is
    /// too big.
    fn depart(&mut self, node: usize, packet: Packet) {
        if let Some(refused) = self.transmit(node, packet) {
            self.contents.discard(&refused);
        }
    }

    fn lose(&mut self, location: Location, packet: &Packet, why: Loss) {
        if W::AWAKE {
            let seen = self.seen(&packet.header);
            self.tracer.lost(self.now, location, seen, why);
        }
    }
}

#[cfg(test)]
mod tests;
