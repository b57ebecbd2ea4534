//! Links of the network: arrivals at their ends, and transmissions.

use proto::link::{Delivery, Entry};
use queue::Packet as _;
use units::Time;

use super::Engine;
use crate::direction::{Direction, Machine};
use crate::link_stats::{EventKind, Opening};
use crate::lookahead::Beyond;
use crate::packet::{Header, Packet};
use crate::{Inside, Location, Opened, Seen, Tracer};

impl<W: Tracer> Engine<'_, W> {
    /// Sets the marks that the tracer wants on packets leaving each direction.
    pub(crate) fn mark_directions(&mut self) {
        if W::AWAKE {
            for direction in &mut self.directions {
                if self.tracer.wants(direction.place) {
                    direction.mark = self.tracer.mark(direction.place);
                }
            }
        }
    }

    /// Passes on the packets that have reached the far end of a direction.
    #[inline]
    pub(super) fn deliver_arrived(&mut self, direction: usize) {
        let Direction {
            to,
            beyond,
            ref machine,
            ..
        } = self.directions[direction];
        // Otherwise counted on entry.
        self.events += u64::from(beyond == Beyond::Unknown);
        match machine {
            Machine::Fast(_) => self.deliver_from_fast(direction, to),
            Machine::Full(_) => self.deliver_from_full(direction, to),
        }
    }

    #[inline]
    fn deliver_from_fast(&mut self, direction: usize, to: usize) {
        // Read anew in each round: a packet may return to this direction.
        while let Machine::Fast(link) = &mut self.directions[direction].machine {
            if let Some(packet) = link.poll_transmit(self.now) {
                self.arrive(to, packet);
            } else {
                self.event_queue.set(direction, link.next_timeout());
                break;
            }
        }
    }

    fn deliver_from_full(&mut self, direction: usize, to: usize) {
        while let Machine::Full(link) = &mut self.directions[direction].machine {
            if let Some(delivery) = link.poll_transmit(self.now) {
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
        if W::AWAKE && mark != 0 {
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

    /// The next hop of a packet, and its destination or label there.
    #[inline]
    pub(super) fn next_hop(&self, node: usize, packet: &Packet) -> Option<(usize, u32)> {
        if packet.is_bundle()
            && let Some(labels) = &self.edges.labels
        {
            let hop = labels.hop(packet.header.to)?;
            return Some((hop.link, hop.next));
        }
        let to = packet.header.to;
        Some((self.routes.next(node, to as usize)?, to))
    }

    /// Puts a packet on the next link of its path. Returns it if it is too big for that
    /// link, which has counted it.
    #[inline]
    pub(super) fn transmit(&mut self, node: usize, packet: Packet) -> Option<Packet> {
        let hop = self.next_hop(node, &packet)?;
        self.enter(self.now, hop, packet, false)
    }

    /// Puts a packet on its next hop at `at`, perhaps ahead of time. Returns it if it is
    /// too big for that link, which has counted it. `senders_act`: an acknowledgement
    /// that reaches its sender ahead of time is delivered, too; not allowed while a
    /// sender has more to send at this instant.
    pub(super) fn enter(
        &mut self,
        mut at: Time,
        hop: (usize, u32),
        mut packet: Packet,
        senders_act: bool,
    ) -> Option<Packet> {
        let (mut direction, to) = hop;
        packet.header.to = to;
        loop {
            let link = &mut self.directions[direction];
            packet.header.frame = link.frame(packet.header.size);
            if packet.is_bundle() {
                link.extra.0 += i64::from(packet.live()) - 1;
            }
            let fast = match &mut link.machine {
                Machine::Fast(fast) => fast,
                Machine::Full(full) => {
                    let refused = full.receive(at, packet);
                    self.settle(direction);
                    return refused;
                }
            };
            match fast.receive(at, &mut packet) {
                Entry::Passes(arrives) => at = arrives,
                Entry::Dropped => {
                    self.drop_at(direction, at, &packet);
                    return None;
                }
                Entry::TooBig => return Some(packet),
            }
            let next = match link.beyond {
                Beyond::Unknown => None,
                beyond => {
                    // Packets that arrive at one instant are one event.
                    self.events += u64::from(at > link.latest);
                    link.latest = at;
                    let node = link.to;
                    if beyond == Beyond::Sender {
                        let flow = packet.header.flow as usize;
                        let none_before = link.held_until < self.now;
                        if senders_act && none_before && self.is_sender_free(flow, at) {
                            self.act_ahead(node, at, &packet.header);
                            return None;
                        }
                        self.directions[direction].held_until = at;
                        break;
                    }
                    if beyond == Beyond::Host {
                        packet.header = self.deliver_ahead(node, at, &packet.header)?;
                    }
                    let next = self.next_hop(node, &packet);
                    let next = next.filter(|(next, _)| self.directions[*next].ahead);
                    let forwards = beyond == Beyond::Links && next.is_some();
                    self.nodes[node].counts.forwarded += u64::from(forwards);
                    next
                }
            };
            match next {
                Some((next, _)) => direction = next,
                None => break,
            }
        }
        self.hold(direction, at, packet);
        None
    }

    /// Keeps a packet on a fast link until it arrives.
    #[inline]
    fn hold(&mut self, direction: usize, at: Time, mut packet: Packet) {
        let Direction {
            machine,
            row,
            in_rows,
            ..
        } = &mut self.directions[direction];
        let Machine::Fast(link) = machine else {
            return;
        };
        if *in_rows && link.next_timeout().is_none() {
            match self.arrivals.put_in(row, at, direction, packet) {
                Ok(()) => return,
                Err(refused) => packet = refused,
            }
        }
        if link.hold(at, packet) {
            self.event_queue.set(direction, Some(at));
        }
    }

    /// Delivers the first packet of the rows. Returns whether there was one.
    #[inline]
    pub(super) fn deliver_next(&mut self) -> bool {
        let (at, direction) = self.arrivals.first();
        let Some(packet) = self.arrivals.take() else {
            return false;
        };
        debug_assert!(at >= self.now, "time goes on");
        self.now = at;
        let Direction { to, beyond, .. } = self.directions[direction];
        // Otherwise counted on entry.
        self.events += u64::from(beyond == Beyond::Unknown);
        self.arrive(to, packet);
        self.contents.forget();
        true
    }

    /// The queue of a fast link drops a packet that arrives at `at`.
    #[cold]
    fn drop_at(&mut self, direction: usize, at: Time, packet: &Packet) {
        self.latest = self.latest.max(at);
        self.directions[direction].extra.1 += i64::from(packet.live()) - 1;
        match &packet.load {
            Some(load) => {
                for inside in load.headers() {
                    self.tell_source(direction, &inside);
                }
            }
            None => self.tell_source(direction, &packet.header),
        }
        self.contents.discard(packet);
    }

    /// Reports the actions of a direction to the tracer, and schedules its next
    /// instant.
    #[inline]
    fn settle(&mut self, direction: usize) {
        match &mut self.directions[direction].machine {
            Machine::Fast(link) => self.event_queue.set(direction, link.next_timeout()),
            Machine::Full(link) => {
                self.event_queue.set(direction, link.next_timeout());
                self.read_account(direction);
            }
        }
    }

    /// Reports the notes of a direction to the tracer, and frees the contents of
    /// packets that it lost.
    fn read_account(&mut self, direction: usize) {
        if W::AWAKE {
            self.read_notes(direction);
        }
        let Machine::Full(link) = &mut self.directions[direction].machine else {
            return;
        };
        if link.observer().gone().is_empty() {
            return;
        }
        // Notifications may lead back to this direction.
        let mut gone = std::mem::take(link.observer().gone());
        for (header, may_notify) in gone.drain(..) {
            if may_notify {
                self.tell_source(direction, &header);
            }
            self.contents.discard(&Packet::bare(header));
        }
        if let Machine::Full(link) = &mut self.directions[direction].machine {
            *link.observer().gone() = gone;
        }
    }

    /// Reports the notes of a direction to the tracer.
    fn read_notes(&mut self, direction: usize) {
        let Direction { machine, place, .. } = &mut self.directions[direction];
        let Machine::Full(link) = machine else {
            return;
        };
        let place = *place;
        let notes = link.observer().take_notes();
        for note in &notes {
            let seen = Seen {
                live: note.live,
                number: note.number,
                ..self.seen(&note.packet)
            };
            match note.what {
                EventKind::Queued { state } => self.tracer.queued(note.at, place, seen, state),
                EventKind::Sent { ends, waited } => {
                    if let Some(opening) = &note.opened {
                        let opened = self.opened(&note.packet, opening);
                        self.tracer.opened(note.at, place, &opened);
                    }
                    self.tracer.sent(note.at, ends, place, seen, waited);
                }
                EventKind::Lost(why) => {
                    let location = Location::Direction(place.0, place.1);
                    self.tracer.lost(note.at, location, seen, why);
                }
                EventKind::InnerDropped(why) => {
                    self.tracer.inner_dropped(note.at, place, seen, why)
                }
            }
        }
        if let Machine::Full(link) = &mut self.directions[direction].machine {
            link.observer().put_back(notes);
        }
    }

    /// A packet in the form that tracers see.
    pub(super) fn seen(&self, packet: &Header) -> Seen {
        let flow = self.flows[packet.flow as usize].place;
        packet.seen(self.contents.of(packet), flow)
    }

    /// The contents of the bundle `packet`.
    fn opened(&self, packet: &Header, opening: &Opening) -> Opened {
        let (to, label) = match self.edges.labels {
            None => (packet.to as usize, None),
            Some(_) => (opening.egress, Some(packet.to)),
        };
        let inside = opening.inside.iter();
        let inside = inside.map(|(packet, size, waited)| Inside {
            packet: packet.as_ref().map(|packet| self.seen(packet)),
            size: *size,
            waited: *waited,
        });
        Opened {
            number: opening.number,
            ends: [opening.ingress, to].map(|node| self.nodes[node].place),
            label,
            tick: opening.tick,
            inside: inside.collect(),
        }
    }
}
