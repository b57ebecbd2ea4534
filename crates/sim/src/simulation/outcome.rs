//! Collection of the outcome at the end of a run.

use units::Bytes;

use super::Simulation;
use crate::connection::Connection;
use crate::direction::Direction;
use crate::engine::{Endpoints, Engine, Flow};
use crate::sink::Sink;
use crate::source::Source;
use crate::{
    DirectionOutcome, DomainOutcome, EdgeOutcome, FlowOutcome, InnerCounts, LinkOutcome, Outcome,
};

impl Simulation {
    /// The outcome of the run, in the order of the original scenario.
    pub(crate) fn outcome<const TRACED: bool>(&self, engine: Engine<'_, TRACED>) -> Outcome {
        let mut engine = engine;
        let end = engine.settle_counters();
        let events = engine.events;
        let domain = self
            .domain
            .as_ref()
            .map(|_| self.domain_outcome(&mut engine));
        let flows = self.scenario.flows.iter().zip(engine.flows);
        let flows = flows.map(|(flow, ran)| (ran.place, flow_outcome(&flow.name, ran)));
        let nodes = engine
            .nodes
            .into_iter()
            .map(|node| (node.place, node.counts));
        let mut directions = engine
            .directions
            .into_iter()
            .map(|mut direction| direction.outcome());
        let mut pair = || -> [DirectionOutcome; 2] {
            std::array::from_fn(|_| directions.next().expect("each link has two directions"))
        };
        let links = self.scenario.links.iter().zip(&self.places.links);
        let links: Vec<(usize, LinkOutcome)> = links
            .map(|(link, place)| {
                let name = link.name.clone();
                (
                    *place,
                    LinkOutcome {
                        name,
                        directions: pair(),
                    },
                )
            })
            .collect();
        Outcome {
            flows: in_place(flows),
            links: in_place(links),
            nodes: in_place(nodes),
            events,
            end,
            domain,
        }
    }

    fn domain_outcome<const TRACED: bool>(&self, engine: &mut Engine<'_, TRACED>) -> DomainOutcome {
        let edges = engine.edges.all.iter();
        let edges = edges.map(|edge| {
            let name = self.scenario.nodes[edge.node].name.clone();
            let outcome = EdgeOutcome::of(name, edge.machine.counts());
            (self.places.nodes[edge.node], outcome)
        });
        let mut inner = engine.directions.iter_mut().map(Direction::inner);
        let mut pair = || -> [InnerCounts; 2] {
            std::array::from_fn(|_| inner.next().expect("each link has two directions"))
        };
        let links = self.places.links.iter().map(|place| (*place, pair()));
        DomainOutcome {
            links: in_place(links),
            edges: in_place(edges),
        }
    }
}

fn flow_outcome(name: &str, ran: Flow) -> FlowOutcome {
    match ran.endpoints {
        Endpoints::Datagrams(endpoints) => of_datagrams(name, &endpoints.0, endpoints.1),
        Endpoints::Tcp(connection) => of_connection(name, *connection),
    }
}

fn of_datagrams(name: &str, source: &Source, sink: Sink) -> FlowOutcome {
    let (counts, path_mtu) = (source.counts, source.path_mtu());
    let without_delays = FlowOutcome {
        name: name.to_owned(),
        sent: counts.sent,
        sent_bytes: Bytes::new(counts.bytes),
        rejected: counts.rejected,
        packets: counts.packets,
        received: sink.received,
        received_bytes: sink.bytes,
        copies: sink.copies,
        lost: counts.sent - sink.received,
        unassembled: sink.unassembled(),
        path_mtu,
        first_due: counts.first,
        first_arrival: sink.first,
        last_arrival: sink.last,
        goodput: sink.goodput(),
        delays: None,
        summary: None,
        tcp: None,
    };
    let (delays, summary) = sink.delays_and_summary(counts.sent);
    FlowOutcome {
        delays,
        summary,
        ..without_delays
    }
}

fn of_connection(name: &str, connection: Connection) -> FlowOutcome {
    let tcp = connection.outcome();
    let of_segments = FlowOutcome {
        name: name.to_owned(),
        sent: tcp.sender.segments,
        sent_bytes: Bytes::new(tcp.sender.bytes),
        rejected: 0,
        packets: connection.packets,
        received: tcp.segments,
        received_bytes: Bytes::new(tcp.bytes),
        copies: 0,
        // Data that are divided again for a smaller MTU may arrive in more segments.
        lost: tcp.sender.segments.saturating_sub(tcp.segments),
        unassembled: 0,
        path_mtu: tcp.path_mtu,
        first_due: None,
        first_arrival: tcp.first_arrival,
        last_arrival: tcp.last_arrival,
        goodput: tcp.goodput,
        delays: None,
        summary: None,
        tcp: Some(tcp),
    };
    let Some(messages) = connection.messages else {
        return of_segments;
    };
    let (sent, received) = messages.counts();
    let goodput = messages.goodput();
    let (delays, summary) = messages.into_sink().delays_and_summary(sent);
    FlowOutcome {
        sent,
        received,
        lost: sent - received,
        goodput,
        delays,
        summary,
        ..of_segments
    }
}

/// The items in the order of the original scenario.
fn in_place<T>(items: impl IntoIterator<Item = (usize, T)>) -> Vec<T> {
    let mut items: Vec<(usize, T)> = items.into_iter().collect();
    items.sort_by_key(|item| item.0);
    items.into_iter().map(|item| item.1).collect()
}
