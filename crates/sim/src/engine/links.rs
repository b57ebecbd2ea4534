//! Links of the network: arrivals at their ends, and transmissions.

use link::{Delivery, Entry};
use queue::Packet as _;
use units::Time;

use super::{Engine, Kind};
use crate::arrivals::NEVER;
use crate::direction::{Direction, Machine};
use crate::link_stats::{EventKind, Opening};
use crate::lookahead::Beyond;
use crate::packet::{Congestion, Frame, Header, Packet};
use crate::{Inside, Location, Loss, Opened, Seen};

impl<const TRACED: bool> Engine<'_, TRACED> {
    /// Sets the marks that the tracer wants on packets leaving each direction.
    pub(crate) fn mark_directions(&mut self) {
        if TRACED {
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
            in_rows,
            ref machine,
            ..
        } = self.directions[direction];
        // Otherwise counted on entry, or at the end.
        self.events += u64::from(beyond == Beyond::Unknown && !in_rows);
        match machine {
            Machine::Fast(_) => self.deliver_from_fast(direction, to as usize),
            Machine::Full(_) => self.deliver_from_full(direction, to as usize),
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

    /// The next hop of a packet; a labelled bundle gets its next label.
    #[inline]
    pub(super) fn next_hop(&self, node: usize, packet: &mut Packet) -> Option<usize> {
        if packet.is_bundle()
            && let Some(labels) = &self.edges.labels
        {
            let hop = labels.hop(packet.header.to)?;
            packet.header.to = hop.next;
            return Some(hop.link);
        }
        self.routes.next(node, packet.header.to as usize)
    }

    /// Puts a packet on the next link of its path. Returns it if it is too big for that
    /// link, which has counted it.
    #[inline]
    pub(super) fn transmit(&mut self, node: usize, mut packet: Packet) -> Option<Packet> {
        let hop = self.next_hop(node, &mut packet)?;
        if packet.is_bundle() {
            return self.carry_bundle(hop, packet);
        }
        let refused = self.carry(self.now, hop, packet.header, false);
        refused.then_some(packet)
    }

    /// Puts a packet that is not a bundle on a direction at `at`, perhaps ahead of time.
    /// Returns whether it is too big for that link, which has counted it.
    /// `senders_act`: an acknowledgement that reaches its sender ahead of time is
    /// delivered, too; not allowed while a sender has more to send at this instant.
    ///
    /// The fields of the header stay in registers from link to link: a processor waits
    /// where memory that was written in parts is soon read as a whole.
    pub(super) fn carry(
        &mut self,
        mut at: Time,
        mut direction: usize,
        mut packet: Header,
        mut senders_act: bool,
    ) -> bool {
        // Whether `packet` is the segment of a sender that acted.
        let mut is_next = false;
        loop {
            let link = &mut self.directions[direction];
            packet.frame = link.frame(packet.size);
            let Machine::Fast(fast) = &mut link.machine else {
                let packet = Packet::bare(packet);
                return self.enter_full(at, direction, packet).is_some();
            };
            let mut frame = Frame::of(&packet);
            match fast.receive(at, &mut frame) {
                Entry::Passes(arrives) => at = arrives,
                Entry::Dropped => {
                    self.drop_at(direction, &Packet::bare(packet));
                    return false;
                }
                Entry::TooBig => {
                    if is_next {
                        self.contents.release(&packet);
                    }
                    return !is_next;
                }
            }
            if frame.marked {
                packet.congestion = Congestion::Met;
            }
            if link.beyond == Beyond::Unknown {
                break;
            }
            if !link.in_rows {
                // Packets that arrive at one instant are one event.
                self.events += u64::from(at > link.latest);
                link.latest = at;
            }
            let (node, onward) = (link.to as usize, link.onward);
            let next = match link.beyond {
                Beyond::Unknown | Beyond::Links => {
                    let next = self.routes.next(node, packet.to as usize);
                    let next = next.filter(|next| self.directions[*next].ahead);
                    self.nodes[node].counts.forwarded += u64::from(next.is_some());
                    next
                }
                Beyond::Host => {
                    if !self.answer_ahead(at, &mut packet) {
                        return false;
                    }
                    match onward {
                        Some(onward) => Some(onward as usize),
                        None => self.routes.next(node, packet.to as usize),
                    }
                }
                Beyond::Sender => {
                    let none_before = link.held_until < self.now;
                    if !(senders_act && none_before && self.is_sender_free(packet.flow, at)) {
                        let link = &mut self.directions[direction];
                        link.held_until = at;
                        link.held += 1;
                        break;
                    }
                    let first = onward.expect("known with lookahead") as usize;
                    if !self.act_ahead(at, first, &mut packet) {
                        return false;
                    }
                    (senders_act, is_next) = (false, true);
                    Some(first)
                }
            };
            match next {
                Some(next) => direction = next,
                None => break,
            }
        }
        self.hold(direction, at, packet);
        false
    }

    /// Puts a bundle on a direction. Returns it if it is too big for that link, which has
    /// counted it.
    pub(super) fn carry_bundle(&mut self, direction: usize, mut packet: Packet) -> Option<Packet> {
        let link = &mut self.directions[direction];
        debug_assert!(
            link.beyond == Beyond::Unknown,
            "a domain allows no lookahead"
        );
        packet.header.frame = link.frame(packet.header.size);
        link.extra.0 += i64::from(packet.live()) - 1;
        let Machine::Fast(fast) = &mut link.machine else {
            return self.enter_full(self.now, direction, packet);
        };
        match fast.receive(self.now, &mut packet) {
            Entry::Passes(arrives) => {
                if fast.hold(arrives, packet) {
                    self.event_queue.set(direction, Some(arrives));
                }
            }
            Entry::Dropped => self.drop_at(direction, &packet),
            Entry::TooBig => return Some(packet),
        }
        None
    }

    /// Puts a packet on a link that is not a fast one. Returns it if it is too big.
    #[inline(never)]
    fn enter_full(&mut self, at: Time, direction: usize, packet: Packet) -> Option<Packet> {
        let Machine::Full(full) = &mut self.directions[direction].machine else {
            unreachable!("asked for such a link");
        };
        let refused = full.receive(at, packet);
        self.settle(direction);
        refused
    }

    /// Keeps a packet on a fast link until it arrives.
    #[inline]
    fn hold(&mut self, direction: usize, at: Time, packet: Header) {
        let Direction {
            machine,
            row,
            in_rows,
            ..
        } = &mut self.directions[direction];
        let Machine::Fast(link) = machine else {
            return;
        };
        let in_row =
            *in_rows && !link.is_holding() && self.arrivals.put_in(row, at, direction, packet);
        if !in_row && link.hold(at, Packet::bare(packet)) {
            self.event_queue.set(direction, Some(at));
        }
    }

    /// Delivers the first packet of the rows. Returns whether there was one.
    #[inline]
    pub(super) fn deliver_next(&mut self) -> bool {
        let (at, direction) = self.arrivals.first();
        if (at, direction) == NEVER {
            return false;
        }
        debug_assert!(at >= self.now, "time goes on");
        let packet = self.arrivals.take();
        self.now = at;
        let to = self.directions[direction].to as usize;
        match self.nodes[to].kind {
            Kind::Router => self.route_header(to, packet),
            _ => self.arrive(to, Packet::bare(packet)),
        }
        self.contents.forget();
        true
    }

    /// The queue of a fast link drops a packet.
    #[cold]
    fn drop_at(&mut self, direction: usize, packet: &Packet) {
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
        if TRACED {
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
                EventKind::Queued { state } => {
                    self.tracer.queued(note.at, place, seen, state);
                    for packet in note.inside() {
                        let seen = self.seen(packet);
                        self.tracer.queued_inside(note.at, place, seen);
                    }
                }
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
                    let by_queue = matches!(why, Loss::Queue(_));
                    for packet in note.inside().filter(|_| by_queue) {
                        let seen = self.seen(packet);
                        self.tracer.lost_inside(note.at, place, seen);
                    }
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
