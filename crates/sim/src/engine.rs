//! The engine: executes the entries of the event queue in order until none is left.
//!
//! Each link, processor and source has one entry, however many packets it holds; most
//! packets on links are in the rows of `arrivals.rs` instead.
//! Elements are numbered in the order links, processors, sources, and by name within a
//! kind. At one instant, packets thus first leave links, then processors, then sources.

mod domain_edges;
mod endpoints;
mod links;
mod notices;

use tcp::React;
use units::{IpVersion, Time};

use crate::arrivals::Arrivals;
use crate::direction::Direction;
use crate::event_queue::EventQueue;
use crate::fragments::{fragment_header, ip_header, pieces};
use crate::packet::{Body, Congestion, Content, Contents, Header, Packet, Piece};
use crate::processor::Processor;
use crate::routes::Routes;
use crate::{Location, Loss, NodeOutcome, Tracer};
pub(crate) use domain_edges::{DomainEdge, DomainEdges};
pub(crate) use endpoints::Endpoints;

/// A running network. Elements are in the order of their names.
pub(crate) struct Engine<'a, const TRACED: bool> {
    pub(crate) directions: Vec<Direction>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) flows: Vec<Flow>,
    routes: &'a Routes,
    event_queue: EventQueue,
    arrivals: Arrivals,
    elements: Elements,
    pub(crate) now: Time,
    pub(crate) events: u64,
    contents: Contents,
    pub(crate) edges: DomainEdges,
    /// The reaction of sources to drops, by the number of the direction; missing
    /// entries mean no notification.
    pub(crate) notifies: Vec<Option<React>>,
    pub(crate) tracer: &'a mut dyn Tracer,
}

/// A node of a running network.
pub(crate) struct Node {
    pub(crate) kind: Kind,
    /// The processors for receiving and sending, if these take time.
    pub(crate) receive: Option<Box<Processor>>,
    pub(crate) send: Option<Box<Processor>>,
    pub(crate) counts: NodeOutcome,
    /// Index of the node in the scenario.
    pub(crate) place: usize,
}

/// The function of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Host,
    Router,
    Switch,
    /// A router that gathers packets into bundles and unpacks them.
    Edge,
}

/// A flow of a running network.
pub(crate) struct Flow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) endpoints: Endpoints,
    /// The flow that responds to its messages.
    pub(crate) answered_by: Option<usize>,
    /// Index of the flow in the scenario.
    pub(crate) place: usize,
}

/// The numbers of elements in the event queue.
#[derive(Clone, Copy)]
struct Elements {
    receivers: usize,
    senders: usize,
    sources: usize,
    /// The receiving ends of flows.
    sinks: usize,
    /// The edges of a domain.
    edges: usize,
}

/// The largest ICMP error of a router: the smallest MTU of IPv6 [RFC4443 s3.2], or the
/// size that every IPv4 host accepts [RFC1812 s4.3.2.3].
const fn largest_answer(ip: IpVersion) -> u32 {
    match ip {
        IpVersion::V4 => 576,
        IpVersion::V6 => 1_280,
    }
}

/// Octets of the header of ICMP [RFC4443 s3.2] [RFC792].
const ICMP_HEADER: u32 = 8;

impl<'a, const TRACED: bool> Engine<'a, TRACED> {
    /// A network before the first event.
    pub(crate) fn new(
        directions: Vec<Direction>,
        nodes: Vec<Node>,
        flows: Vec<Flow>,
        edges: DomainEdges,
        routes: &'a Routes,
        tracer: &'a mut dyn Tracer,
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
            arrivals: Arrivals::new(),
            elements,
            now: Time::ZERO,
            events: 0,
            contents: Contents::default(),
            edges,
            notifies: Vec::new(),
            tracer,
        }
    }

    /// Executes one event. Returns whether there was one.
    #[inline]
    pub(crate) fn step(&mut self) -> bool {
        let arrival = self.arrivals.first();
        match self.event_queue.first(arrival.0) {
            Some(event) if event < arrival => self.execute(event),
            _ => return self.deliver_next(),
        }
        self.contents.forget();
        true
    }

    /// Adds to the counters what links know at the end, and frees what was for packets.
    /// Returns the instant of the last event.
    pub(crate) fn settle_counters(&mut self) -> Time {
        self.contents = Contents::default();
        self.arrivals = Arrivals::new();
        let mut end = self.now;
        for (number, direction) in self.directions.iter().enumerate() {
            let last = direction.fast().and_then(|link| link.last_delivery());
            end = end.max(last.unwrap_or(end));
            self.events += direction.events();
            self.nodes[direction.to as usize].counts.received += direction.delivered_ahead();
            let from = &mut self.nodes[self.directions[number ^ 1].to as usize];
            // A host forwards nothing, so all that leaves it was sent there.
            if from.kind == Kind::Host {
                from.counts.sent += direction.arrived();
            }
        }
        end
    }

    /// Lets an element act at its instant.
    fn execute(&mut self, (now, element): (Time, usize)) {
        debug_assert!(now >= self.now, "time goes on");
        self.now = now;
        let Elements {
            receivers,
            senders,
            sources,
            sinks,
            edges,
        } = self.elements;
        if element < receivers {
            // Counts itself.
            self.deliver_arrived(element);
            return;
        }
        self.events += 1;
        if element < senders {
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
    }

    #[inline]
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

    /// Handles a packet that has reached its host.
    fn receive(&mut self, node: usize, packet: Packet) {
        if self.nodes[node].receive.is_none() {
            self.deliver(node, packet);
            return;
        }
        // Packets finished at this very instant make room first.
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

    /// Forwards a packet as a router.
    fn route(&mut self, node: usize, mut packet: Packet) {
        if !packet.is_bundle() {
            self.route_header(node, packet.header);
            return;
        }
        let Some(hop) = self.next_hop(node, &mut packet) else {
            return;
        };
        let mtu = self.directions[hop].mtu;
        match self.carry_bundle(hop, packet) {
            None => self.nodes[node].counts.forwarded += 1,
            Some(refused) => self.answer(node, &refused, mtu),
        }
    }

    /// Forwards a packet that is not a bundle.
    #[inline]
    fn route_header(&mut self, node: usize, packet: Header) {
        let Some(hop) = self.routes.next(node, packet.to as usize) else {
            return;
        };
        let mtu = self.directions[hop].mtu;
        if packet.size > mtu
            && let Body::Datagram(piece) = self.contents.of(&packet).body
            && !piece.dont_fragment
        {
            self.nodes[node].counts.cut += 1;
            self.cut(node, Packet::bare(packet), piece, mtu);
            return;
        }
        match self.carry(self.now, hop, packet, true) {
            true => self.answer(node, &Packet::bare(packet), mtu),
            false => self.nodes[node].counts.forwarded += 1,
        }
    }

    #[cold]
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

    /// Notifies the source of `packet` that it is too big, unless it is an ICMP error
    /// [RFC4443 s2.4] or a bundle. The scenario's check ensures that acknowledgements
    /// fit every link.
    #[cold]
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
            // A separate flow for queues.
            key: packet.key ^ 1,
            congestion: Congestion::Unable,
            ..packet
        };
        let body = Body::TooBig { mtu };
        self.post(node, answer, Content { body, ..content });
    }

    /// Sends the packets of the outbox through the host's processor to its link.
    #[inline]
    fn send(&mut self, from: usize) {
        let mut packets = self.contents.take_outbox();
        if let Some(send) = &mut self.nodes[from].send {
            for header in packets.drain(..) {
                let refused = send.push(self.now, Packet::bare(header));
                debug_assert!(refused.is_none(), "without a limit there is room");
            }
            self.finish_sending(from);
        } else {
            for header in packets.drain(..) {
                self.depart(from, Packet::bare(header));
            }
        }
        self.contents.put_back(packets);
    }

    fn finish_sending(&mut self, node: usize) {
        let now = self.now;
        let due = |node: &mut Node| node.send.as_mut()?.pop(now);
        while let Some(packet) = due(&mut self.nodes[node]) {
            self.depart(node, packet);
        }
        let send = self.nodes[node].send.as_ref();
        let next = send.and_then(|send| send.next_timeout());
        self.event_queue.set(self.elements.senders + node, next);
    }

    /// Puts a new packet on the next link of its path.
    fn post(&mut self, node: usize, header: Header, content: Content) {
        let content = self.contents.put(content);
        self.depart(node, Packet::bare(Header { content, ..header }));
    }

    /// Puts a packet on the next link of its path; an oversized packet is lost.
    fn depart(&mut self, node: usize, packet: Packet) {
        if let Some(refused) = self.transmit(node, packet) {
            self.contents.discard(&refused);
        }
    }

    fn lose(&mut self, location: Location, packet: &Packet, why: Loss) {
        if TRACED {
            let seen = self.seen(&packet.header);
            self.tracer.lost(self.now, location, seen, why);
        }
    }
}

#[cfg(test)]
mod tests;
