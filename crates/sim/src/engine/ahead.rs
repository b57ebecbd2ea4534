//! The way of a header with shortcuts: through one link after the other by value, as far
//! as its future is known.
//!
//! A fast link answers at once when a packet will arrive. Where nothing else can come in
//! between (`lookahead.rs`), the packet enters the next link then, for that time. A
//! receiver makes it the acknowledgement, and a sender the next segment, which go on in the
//! same way. Otherwise it waits in the rows (`arrivals.rs`) for the event at its arrival.

use link::Entry;
use units::Time;

use super::{Endpoints, Engine};
use crate::direction::{Direction, Machine};
use crate::lookahead::Downstream;
use crate::packet::{Body, Congestion, Frame, Header, Packet, Segment};

impl<const TRACED: bool> Engine<'_, TRACED> {
    /// Puts a packet that is not a bundle on a direction at `at`. Returns whether it is too
    /// big for that link, as [`Engine::enter`] does. `senders_act`: an acknowledgement that
    /// reaches its sender ahead of time is delivered, too; not allowed while a sender
    /// has more to send at this time.
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
                return self.enter_plainly(direction, Packet::bare(packet));
            };
            let mut frame = Frame::of(&packet);
            match fast.receive(at, &mut frame) {
                Entry::Passes(arrives) => at = arrives,
                Entry::Dropped => {
                    self.drop_at(direction, &Packet::bare(packet));
                    return false;
                }
                Entry::TooBig => {
                    self.contents.discard(&Packet::bare(packet));
                    return !is_next;
                }
            }
            if frame.marked {
                packet.congestion = Congestion::Met;
            }
            let node = link.to as usize;
            let next = match link.beyond {
                Downstream::Unknown => break,
                Downstream::Links => {
                    let next = self.routes.next(node, packet.to as usize);
                    let Some(next) = next.filter(|next| self.directions[*next].ahead) else {
                        break;
                    };
                    self.nodes[node].counts.forwarded += 1;
                    next
                }
                Downstream::Host(onward) => {
                    if !self.answer_ahead(at, &mut packet) {
                        return false;
                    }
                    onward as usize
                }
                Downstream::Sender(onward) => {
                    let none_before = link.held_until < self.now;
                    if !(senders_act && none_before && self.is_sender_free(packet.flow, at)) {
                        self.directions[direction].held_until = at;
                        break;
                    }
                    if !self.act_ahead(at, onward as usize, &mut packet) {
                        return false;
                    }
                    (senders_act, is_next) = (false, true);
                    onward as usize
                }
            };
            direction = next;
        }
        self.hold(direction, at, packet);
        false
    }

    /// Keeps a packet on a fast link until it arrives.
    #[inline]
    fn hold(&mut self, direction: usize, at: Time, packet: Header) {
        let Direction {
            machine,
            row,
            is_known,
            ..
        } = &mut self.directions[direction];
        let Machine::Fast(link) = machine else {
            return;
        };
        let in_rows = self.shortcuts.rows && *is_known && !link.is_holding();
        if !(in_rows && self.arrivals.put_in(row, at, direction, packet)) {
            link.hold(at, Packet::bare(packet));
            self.settle(direction);
        }
    }

    /// Delivers a packet that arrives at `at` to the receiving endpoint of its flow,
    /// ahead of time. Returns whether it is now the acknowledgement.
    #[inline]
    fn answer_ahead(&mut self, at: Time, packet: &mut Header) -> bool {
        let flow = &mut self.flows[packet.flow as usize];
        if TRACED {
            // The tracer may still look at what arrived.
            self.contents.discard(&Packet::bare(*packet));
            let content = *self.contents.of(packet);
            packet.content = self.contents.put(content);
        }
        let content = self.contents.of_mut(packet);
        let answers = match (&content.body, &mut flow.endpoints) {
            (Body::Segment(Segment::Data(data)), Endpoints::Tcp(connection)) => {
                let data = packet.arrived(*data);
                connection.receive_and_answer(at, &data, packet, content)
            }
            (Body::Datagram(piece), Endpoints::Datagrams(endpoints)) => {
                endpoints.1.receive(at, content, *piece);
                false
            }
            _ => unreachable!("only flows and acknowledgements are in the network"),
        };
        if !answers {
            self.contents.release(packet);
        }
        answers
    }

    /// Whether nothing happens to the sender of a connection before `at`. Arrivals come
    /// before timers of the same time.
    #[inline]
    fn is_sender_free(&self, flow: u32, at: Time) -> bool {
        self.event_queue.due(self.elements.sources + flow as usize) >= at
    }

    /// Delivers an acknowledgement that arrives at `at` to its sender, ahead of time. All
    /// segments that it sends but the last enter the direction `first`. Returns whether
    /// there is a last one, which is now `packet`.
    #[inline]
    fn act_ahead(&mut self, at: Time, first: usize, packet: &mut Header) -> bool {
        let number = packet.flow as usize;
        let content = self.contents.of(packet);
        let (Body::Segment(Segment::Ack(ack)), Endpoints::Tcp(connection)) =
            (&content.body, &mut self.flows[number].endpoints)
        else {
            unreachable!("only acknowledgements reach a host that only sends");
        };
        connection.receive_ack(at, ack);
        self.contents.release(packet);
        let is_there = connection.next_segment(at, &mut self.contents, packet);
        let has_more = connection.has_segments();
        let next = connection.next_of_sender();
        self.event_queue.set(self.elements.sources + number, next);
        if has_more {
            *packet = self.send_all_but_last(at, first, *packet);
        }
        is_there
    }

    /// Sends `packet` and all other segments that its sender has ready but the last, which
    /// it returns. By value, so that the packets of callers need not be in memory.
    #[inline(never)]
    fn send_all_but_last(&mut self, at: Time, first: usize, packet: Header) -> Header {
        let (mut packet, mut next) = (packet, packet);
        while let Endpoints::Tcp(connection) = &mut self.flows[packet.flow as usize].endpoints
            && connection.next_segment(at, &mut self.contents, &mut next)
        {
            self.carry(at, first, packet, false);
            packet = next;
        }
        packet
    }
}
