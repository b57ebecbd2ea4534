//! What becomes of packets on links: drops, and reports to a tracer.

use queue::Packet as _;

use super::Engine;
use crate::direction::{Direction, Machine};
use crate::link_stats::{EventKind, Opening};
use crate::packet::{Header, Packet};
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

    /// Schedules the next time of a direction, and reads what its link reports.
    #[inline]
    pub(super) fn settle(&mut self, direction: usize) {
        let next = self.directions[direction].next_timeout();
        self.event_queue.set(direction, next);
        self.read_account(direction);
    }

    /// The queue of a fast link drops a packet.
    #[cold]
    pub(super) fn drop_at(&mut self, direction: usize, packet: &Packet) {
        self.directions[direction].extra.1 += i64::from(packet.live()) - 1;
        match packet.load() {
            Some(load) => {
                for inside in load.headers() {
                    self.tell_source(direction, &inside);
                }
            }
            None => self.tell_source(direction, &packet.header),
        }
        self.contents.discard(packet);
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
        let inside = inside.map(|entry| Inside {
            packet: entry.header.as_ref().map(|header| self.seen(header)),
            part: entry.part,
            size: entry.size,
            waited: entry.waited,
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
