//! How a packet moves.
//!
//! 1. A source or an endpoint of TCP puts packets into the outbox (`endpoints.rs`).
//!    [`Engine::send`] passes them through the sending processor of the host, if sending
//!    takes time there, to [`Engine::depart`], which looks up the next link.
//! 2. [`Engine::enter`] hands a packet to one direction of that link. Link and queue
//!    ([`link`], [`queue`]) decide what becomes of it, and the event queue notes when
//!    the direction acts next.
//! 3. At that time [`Engine::leave`] takes what has crossed the direction to the node
//!    at its far end, where it [arrives](Engine::arrive).
//! 4. A router or a switch puts it on the next link: step 2. A router cuts a packet that
//!    is too big for it, or notifies the source (`notices.rs`); the edge of a domain may
//!    aggregate it into a bundle (`domain_edges.rs`).
//! 5. A host [receives](Engine::receive) it: it passes the receiving processor, if
//!    receiving takes time, to the endpoint of its flow (`endpoints.rs`), whose response
//!    begins at step 1.
//!
//! Nothing else happens to a packet. Most packets take shortcuts, which come to the same
//! (`shortcuts.rs`).

use link::{Delivery, Entry};
use queue::Packet as _;

use super::{Engine, Kind};
use crate::direction::Machine;
use crate::packet::{Content, Header, Packet};
use crate::{Location, Loss};

impl<const TRACED: bool> Engine<'_, TRACED> {
    /// Sends the packets of the outbox through the host's processor to its link.
    #[inline]
    pub(super) fn send(&mut self, from: usize) {
        let mut packets = self.contents.take_outbox();
        if let Some(send) = &mut self.nodes[from].send {
            for header in packets.drain(..) {
                let rejected = send.push(self.now, Packet::bare(header));
                debug_assert!(rejected.is_none(), "without a limit there is room");
            }
            self.finish_sending(from);
        } else {
            for header in packets.drain(..) {
                self.depart(from, Packet::bare(header));
            }
        }
        self.contents.put_back(packets);
    }

    /// Sends what the host's processor has finished.
    pub(super) fn finish_sending(&mut self, node: usize) {
        let now = self.now;
        let due = |node: &mut super::Node| node.send.as_mut()?.pop(now);
        while let Some(packet) = due(&mut self.nodes[node]) {
            self.depart(node, packet);
        }
        let send = self.nodes[node].send.as_ref();
        let next = send.and_then(|send| send.next_timeout());
        self.event_queue.set(self.elements.senders + node, next);
    }

    /// Puts a new packet on the next link of its path.
    pub(super) fn post(&mut self, node: usize, header: Header, content: Content) {
        let content = self.contents.put(content);
        self.depart(node, Packet::bare(Header { content, ..header }));
    }

    /// Puts a packet on the next link of its path. Returns whether it is too big for it.
    #[inline]
    pub(super) fn depart(&mut self, node: usize, mut packet: Packet) -> bool {
        match self.next_hop(node, &mut packet) {
            Some(hop) => self.enter(hop, packet, false),
            None => false,
        }
    }

    /// The next hop of a packet; a labelled bundle gets its next label.
    #[inline]
    fn next_hop(&self, node: usize, packet: &mut Packet) -> Option<usize> {
        if packet.is_bundle()
            && let Some(labels) = &self.edges.labels
        {
            let hop = labels.hop(packet.header.to)?;
            packet.header.to = hop.next;
            return Some(hop.link);
        }
        self.routes.next(node, packet.header.to as usize)
    }

    /// Puts a packet on a direction. Returns whether it is too big for it; the direction
    /// has counted it then, and it is gone. `senders_act`: see [`Engine::carry`].
    #[inline]
    pub(super) fn enter(&mut self, direction: usize, packet: Packet, senders_act: bool) -> bool {
        if self.shortcuts.headers && !packet.is_bundle() {
            return self.carry(self.now, direction, packet.header, senders_act);
        }
        self.enter_plainly(direction, packet)
    }

    /// The same without shortcuts.
    pub(super) fn enter_plainly(&mut self, direction: usize, mut packet: Packet) -> bool {
        let link = &mut self.directions[direction];
        packet.header.frame = link.frame(packet.header.size);
        link.extra.0 += i64::from(packet.live()) - 1;
        let rejected = match &mut link.machine {
            Machine::Full(link) => link.receive(self.now, packet),
            Machine::Fast(link) => match link.receive(self.now, &mut packet) {
                Entry::Passes(arrives) => {
                    link.hold(arrives, packet);
                    None
                }
                Entry::Dropped => {
                    self.drop_at(direction, &packet);
                    None
                }
                Entry::TooBig => Some(packet),
            },
        };
        self.settle(direction);
        if let Some(packet) = &rejected {
            self.contents.discard(packet);
        }
        rejected.is_some()
    }

    /// Passes on the packets that have reached the far end of a direction.
    pub(super) fn leave(&mut self, direction: usize) {
        // Otherwise counted at the end.
        self.events += u64::from(!self.directions[direction].is_known);
        loop {
            // Read anew in each round: a packet may return to this direction.
            let here = &mut self.directions[direction];
            let to = here.to as usize;
            if let Some(delivery) = here.poll_transmit(self.now) {
                self.arrive_often((direction, to), delivery);
            }
            let next = self.directions[direction].next_timeout();
            if next.is_none_or(|next| next > self.now) {
                break;
            }
        }
        self.settle(direction);
    }

    /// Passes on every copy of a packet.
    fn arrive_often(&mut self, (direction, to): (usize, usize), delivery: Delivery<Packet>) {
        let mark = self.directions[direction].mark;
        if TRACED && mark != 0 {
            self.contents.mark(&delivery.packet, mark);
        }
        for _ in 1..delivery.copies {
            let content = *self.contents.of(&delivery.packet.header);
            let content = self.contents.put(content);
            let copy = Header {
                content,
                ..delivery.packet.header
            };
            self.arrive(to, Packet::bare(copy));
        }
        self.arrive(to, delivery.packet);
    }

    /// Handles a packet that has reached a node.
    #[inline]
    pub(super) fn arrive(&mut self, node: usize, packet: Packet) {
        match self.nodes[node].kind {
            Kind::Host => self.receive(node, packet),
            Kind::Router => self.route(node, packet),
            Kind::Edge => self.arrive_at_edge(node, packet),
            Kind::Switch => {
                let too_big = self.depart(node, packet);
                self.nodes[node].counts.forwarded += u64::from(!too_big);
            }
        }
    }

    /// Forwards a packet as a router.
    #[inline]
    pub(super) fn route(&mut self, node: usize, mut packet: Packet) {
        let Some(hop) = self.next_hop(node, &mut packet) else {
            return;
        };
        let mtu = self.directions[hop].mtu;
        let header = packet.header;
        if header.size > mtu && self.cut(node, &header, mtu) {
            return;
        }
        match self.enter(hop, packet, true) {
            true => self.answer(node, &header, mtu),
            false => self.nodes[node].counts.forwarded += 1,
        }
    }

    /// Handles a packet that has reached its host.
    pub(super) fn receive(&mut self, node: usize, packet: Packet) {
        if self.nodes[node].receive.is_none() {
            self.deliver(node, packet);
            return;
        }
        // Packets finished at this very time make room first.
        self.finish_receiving(node);
        let here = &mut self.nodes[node];
        let receive = here.receive.as_mut();
        let rejected = receive.and_then(|receive| receive.push(self.now, packet));
        if let Some(packet) = rejected {
            here.counts.dropped += 1;
            let location = Location::Node(here.place);
            self.lose(location, &packet, Loss::Buffer);
            self.contents.discard(&packet);
        }
        self.arm_receiver(node);
    }

    /// Delivers what the host's processor has finished.
    pub(super) fn finish_receiving(&mut self, node: usize) {
        let now = self.now;
        let due = |node: &mut super::Node| node.receive.as_mut()?.pop(now);
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

    pub(super) fn lose(&mut self, location: Location, packet: &Packet, why: Loss) {
        if TRACED {
            let seen = self.seen(&packet.header);
            self.tracer.lost(self.now, location, seen, why);
        }
    }
}
