//! The engine: takes the next entry of the agenda and lets its element act,
//! until nothing is left.
//!
//! Links, processors and sources each have one entry, whatever waits in them.
//! They are numbered in that order, and within a kind by name; so at one
//! instant packets first come out of links, then are worked on, then sent.

mod ends;

use units::{IpVersion, Time};

use crate::agenda::Agenda;
use crate::fragments::{fragment_header, ip_header, pieces};
use crate::packet::{Body, Packet, Piece};
use crate::processor::Processor;
use crate::routes::Routes;
use crate::way::{Way, What};
use crate::{Loss, NodeOutcome, Place, Role, Watch};
pub(crate) use ends::Ends;

/// The network while it runs. Elements are in the order of their names.
pub(crate) struct Engine<'a, W> {
    pub(crate) ways: Vec<Way>,
    pub(crate) nodes: Vec<Node>,
    pub(crate) flows: Vec<Flow>,
    routes: &'a Routes,
    agenda: Agenda,
    elements: Elements,
    pub(crate) now: Time,
    pub(crate) events: u64,
    /// Packets of one message, while they are sent.
    outbox: Vec<Packet>,
    watch: &'a mut W,
}

/// A node while the network runs.
pub(crate) struct Node {
    pub(crate) role: Role,
    pub(crate) receive: Processor,
    pub(crate) send: Processor,
    pub(crate) counts: NodeOutcome,
    /// Its place in the scenario.
    pub(crate) place: usize,
}

/// A flow while the network runs.
pub(crate) struct Flow {
    pub(crate) from: usize,
    pub(crate) to: usize,
    pub(crate) ends: Ends,
    /// Its place in the scenario.
    pub(crate) place: usize,
}

/// Who has which number on the agenda.
#[derive(Clone, Copy)]
struct Elements {
    receivers: usize,
    senders: usize,
    sources: usize,
    /// The ends of flows that receive.
    sinks: usize,
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

impl<'a, W: Watch> Engine<'a, W> {
    /// The network before anything has happened.
    pub(crate) fn new(
        ways: Vec<Way>,
        nodes: Vec<Node>,
        flows: Vec<Flow>,
        routes: &'a Routes,
        watch: &'a mut W,
    ) -> Self {
        let elements = Elements {
            receivers: ways.len(),
            senders: ways.len() + nodes.len(),
            sources: ways.len() + 2 * nodes.len(),
            sinks: ways.len() + 2 * nodes.len() + flows.len(),
        };
        let all = elements.sinks + flows.len();
        let mut agenda = Agenda::new(u32::try_from(all).expect("checked with the scenario"));
        for (flow, number) in flows.iter().zip(elements.sources..) {
            agenda.set(number, flow.ends.next_timeout());
        }
        Self {
            ways,
            nodes,
            flows,
            routes,
            agenda,
            elements,
            now: Time::ZERO,
            events: 0,
            outbox: Vec::new(),
            watch,
        }
    }

    /// Executes one event; returns whether there was one.
    pub(crate) fn step(&mut self) -> bool {
        let Some((now, element)) = self.agenda.first() else {
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
        } = self.elements;
        if element < receivers {
            self.come_out(element);
        } else if element < senders {
            self.finish_receiving(element - receivers);
        } else if element < sources {
            self.finish_sending(element - senders);
        } else if element < sinks {
            self.emit(element - sources);
        } else {
            self.end_waiting(element - sinks);
        }
        true
    }

    /// Hands on what has come to the far end of a way.
    fn come_out(&mut self, way: usize) {
        let to = self.ways[way].to;
        loop {
            // Asked anew each time: what is handed on may come back to this way.
            let link = &mut self.ways[way].link;
            if let Some(delivery) = link.poll_transmit(self.now) {
                for _ in 0..delivery.copies {
                    self.arrive(to, delivery.packet);
                }
            }
            let next = self.ways[way].link.next_timeout();
            if next.is_none_or(|next| next > self.now) {
                break;
            }
        }
        self.settle(way);
    }

    fn arrive(&mut self, node: usize, packet: Packet) {
        match self.nodes[node].role {
            Role::Host(_) => self.receive(node, packet),
            Role::Router => self.route(node, packet),
            Role::Switch => {
                if self.transmit(node, packet).is_none() {
                    self.nodes[node].counts.forwarded += 1;
                }
            }
        }
    }

    /// A packet has come to its host.
    fn receive(&mut self, node: usize, packet: Packet) {
        if self.nodes[node].receive.is_free() {
            self.deliver(node, packet);
            return;
        }
        // What is done at this very instant makes room first.
        self.finish_receiving(node);
        let here = &mut self.nodes[node];
        let refused = here.receive.push(self.now, packet);
        if let Some(packet) = refused {
            here.counts.dropped += 1;
            let place = Place::Node(here.place);
            self.lose(place, &packet, Loss::Buffer);
        }
        self.arm_receiver(node);
    }

    fn finish_receiving(&mut self, node: usize) {
        while let Some(packet) = self.nodes[node].receive.pop(self.now) {
            self.deliver(node, packet);
        }
        self.arm_receiver(node);
    }

    fn arm_receiver(&mut self, node: usize) {
        let next = self.nodes[node].receive.next_timeout();
        self.agenda.set(self.elements.receivers + node, next);
    }

    /// Passes a packet on as a router does.
    fn route(&mut self, node: usize, packet: Packet) {
        let Some(way) = self.routes.next(node, packet.to as usize) else {
            return;
        };
        let mtu = self.ways[way].mtu;
        if let Body::Datagram(piece) = packet.body
            && packet.size > mtu
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
        let header = fragment_header(packet.ip);
        for (offset, length) in pieces(packet.ip, mtu, piece.offset, piece.length) {
            let size = header + length;
            let body = Body::Datagram(Piece {
                offset,
                length,
                ..piece
            });
            self.transmit(
                node,
                Packet {
                    size,
                    body,
                    ..packet
                },
            );
        }
    }

    /// Tells the source of `packet` that it is too big; never about an answer
    /// [RFC4443 s2.4]. Acknowledgements fit every link, as was checked.
    fn answer(&mut self, node: usize, packet: &Packet, mtu: u32) {
        if matches!(packet.body, Body::TooBig { .. }) {
            return;
        }
        self.nodes[node].counts.answered += 1;
        let header = ip_header(packet.ip) + ICMP_HEADER;
        let from = self.flows[packet.flow as usize].from;
        let answer = Packet {
            to: u32::try_from(from).expect("a scenario has fewer nodes than that"),
            size: (header + packet.size).min(largest_answer(packet.ip)),
            // A flow of its own, as far as queues are concerned.
            key: packet.key ^ 1,
            body: Body::TooBig { mtu },
            ..*packet
        };
        self.transmit(node, answer);
    }

    /// Sends packets: through the host's processor to its link.
    fn send(&mut self, from: usize, mut packets: Vec<Packet>) {
        let free = self.nodes[from].send.is_free();
        for packet in packets.drain(..) {
            if free {
                self.nodes[from].counts.sent += 1;
                self.transmit(from, packet);
            } else {
                let refused = self.nodes[from].send.push(self.now, packet);
                debug_assert!(refused.is_none(), "without a limit there is room");
            }
        }
        if !free {
            self.finish_sending(from);
        }
        self.outbox = packets;
    }

    fn finish_sending(&mut self, node: usize) {
        while let Some(packet) = self.nodes[node].send.pop(self.now) {
            self.nodes[node].counts.sent += 1;
            self.transmit(node, packet);
        }
        let next = self.nodes[node].send.next_timeout();
        self.agenda.set(self.elements.senders + node, next);
    }

    /// Puts a packet on the next link of its way. Returns it where it is too
    /// big for that link, which has counted it then.
    fn transmit(&mut self, node: usize, mut packet: Packet) -> Option<Packet> {
        let way = self.routes.next(node, packet.to as usize)?;
        let to = &mut self.ways[way];
        packet.frame = to.frame(packet.size);
        let refused = to.link.receive(self.now, packet);
        self.settle(way);
        refused
    }

    /// Tells the watch what a way has done, and puts its next instant on the
    /// agenda.
    fn settle(&mut self, way: usize) {
        if W::AWAKE {
            self.tell(way);
        }
        self.agenda.set(way, self.ways[way].link.next_timeout());
    }

    fn tell(&mut self, way: usize) {
        let notes = self.ways[way].link.witness().take_notes();
        let place = self.ways[way].place;
        for note in &notes {
            let seen = note
                .packet
                .seen(self.flows[note.packet.flow as usize].place);
            match note.what {
                What::Queued { found } => self.watch.queued(note.at, place, seen, found),
                What::Sent { ends, waited } => {
                    self.watch.sent(note.at, ends, place, seen, waited);
                }
                What::Lost(why) => {
                    let place = Place::Way(place.0, place.1);
                    self.watch.lost(note.at, place, seen, why);
                }
            }
        }
        self.ways[way].link.witness().put_back(notes);
    }

    fn lose(&mut self, place: Place, packet: &Packet, why: Loss) {
        if W::AWAKE {
            let seen = packet.seen(self.flows[packet.flow as usize].place);
            self.watch.lost(self.now, place, seen, why);
        }
    }
}

#[cfg(test)]
mod tests;
