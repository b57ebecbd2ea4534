//! Endpoints of flows: their timers and their arrivals.

use units::Time;

use super::{Engine, Flow};

use crate::connection::Connection;
use crate::packet::{Body, Header, Packet, Segment};
use crate::sink::Sink;
use crate::source::Source;

/// Both endpoints of a flow.
pub(crate) enum Endpoints {
    Datagrams(Box<(Source, Sink)>),
    Tcp(Box<Connection>),
}

impl Endpoints {
    /// The time of the sender's next action without an arrival.
    pub(super) fn next_timeout(&self) -> Option<Time> {
        match self {
            Self::Datagrams(endpoints) => endpoints.0.next_timeout(),
            Self::Tcp(connection) => connection.next_of_sender(),
        }
    }
}

impl<const TRACED: bool> Engine<'_, TRACED> {
    /// Lets the sender of a flow act.
    pub(super) fn emit(&mut self, number: usize) {
        match &mut self.flows[number].endpoints {
            Endpoints::Datagrams(endpoints) => {
                endpoints.0.emit(&mut self.contents);
                self.settle_sender(number);
                self.send(self.flows[number].from);
            }
            Endpoints::Tcp(connection) => {
                connection.timeout_of_sender(self.now);
                self.send_segments(number);
            }
        }
    }

    /// Lets the receiver of a flow act.
    pub(super) fn end_waiting(&mut self, number: usize) {
        let Flow { to, endpoints, .. } = &mut self.flows[number];
        let to = *to;
        if let Endpoints::Tcp(connection) = endpoints {
            connection.timeout_of_receiver(self.now);
            let next = connection.next_of_receiver();
            if let Some((header, content)) = connection.acknowledge(self.now) {
                self.contents.post(header, content);
            }
            self.event_queue.set(self.elements.sinks + number, next);
            self.send(to);
        }
    }

    /// Sends what the sender of a connection has ready, and schedules its next time.
    #[inline]
    fn send_segments(&mut self, number: usize) {
        let Flow {
            from, endpoints, ..
        } = &mut self.flows[number];
        let from = *from;
        let Endpoints::Tcp(connection) = endpoints else {
            return;
        };
        connection.send(self.now, &mut self.contents);
        self.settle_sender(number);
        self.send(from);
    }

    /// Delivers a packet that a host has processed to the endpoint of its flow.
    pub(super) fn deliver(&mut self, node: usize, packet: Packet) {
        let flow = &mut self.flows[packet.header.flow as usize];
        let content = self.contents.of(&packet.header);
        match (&content.body, &mut flow.endpoints) {
            (Body::Datagram(piece), Endpoints::Datagrams(endpoints)) => {
                let complete = endpoints.1.receive(self.now, content, *piece);
                if TRACED && complete {
                    let (node, seen) = (
                        self.nodes[node].place,
                        packet.header.seen(content, flow.place),
                    );
                    self.tracer.delivered(self.now, node, seen);
                }
            }
            (Body::TooBig { mtu }, Endpoints::Datagrams(endpoints)) => endpoints.0.too_big(*mtu),
            (_, Endpoints::Tcp(_)) => self.deliver_to_connection(node, &packet.header),
            (Body::Segment(_) | Body::Notice { .. } | Body::Bundle, Endpoints::Datagrams(..)) => {
                unreachable!("packets are made by their own flow")
            }
        }
        self.contents.discard(&packet);
    }

    /// Delivers a packet to an endpoint of a connection, which may respond at once.
    fn deliver_to_connection(&mut self, node: usize, packet: &Header) {
        let number = packet.flow as usize;
        let flow = &mut self.flows[number];
        let Endpoints::Tcp(connection) = &mut flow.endpoints else {
            unreachable!("asked for a connection");
        };
        let content = self.contents.of(packet);
        match &content.body {
            Body::Segment(Segment::Data(data)) => {
                let data = packet.arrived(*data);
                let (new, messages) = connection.receive(self.now, &data);
                let ack = connection.acknowledge(self.now);
                self.event_queue
                    .set(self.elements.sinks + number, connection.next_of_receiver());
                if TRACED && new {
                    let (node, seen) = (self.nodes[node].place, packet.seen(content, flow.place));
                    self.tracer.delivered(self.now, node, seen);
                }
                if let Some((header, content)) = ack {
                    self.contents.post(header, content);
                }
                if messages > 0
                    && let Some(answering) = self.flows[number].answered_by
                    && let Endpoints::Tcp(connection) = &mut self.flows[answering].endpoints
                {
                    connection.answer(self.now, messages);
                    connection.send(self.now, &mut self.contents);
                    self.settle_sender(answering);
                }
                self.send(node);
                return;
            }
            Body::Segment(Segment::Ack(ack)) => connection.receive_ack(self.now, ack),
            Body::TooBig { mtu } => connection.too_big(self.now, *mtu),
            Body::Notice { lost, reduce } => connection.notified(self.now, *lost, *reduce),
            Body::Datagram(_) | Body::Bundle => unreachable!("packets are made by their own flow"),
        }
        self.send_segments(number);
    }

    /// Reports the sender's actions to the tracer, and schedules its next time.
    fn settle_sender(&mut self, number: usize) {
        let flow = &self.flows[number];
        let next = flow.endpoints.next_timeout();
        self.event_queue.set(self.elements.sources + number, next);
        if TRACED && let Endpoints::Tcp(connection) = &flow.endpoints {
            let (state, counts) = (connection.state(), connection.counts());
            self.tracer.acted(self.now, flow.place, state, counts);
        }
    }
}
