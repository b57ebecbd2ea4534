//! The engine: executes the entries of the event queue in order until none is left.
//! `engine/packets.rs` tells how a packet moves.
//!
//! Each link, processor and source has one entry, however many packets it holds; most
//! packets on links are in the rows of `arrivals.rs` instead.
//! Elements are numbered in the order links, processors, sources, and by name within a
//! kind. At one time, packets thus first leave links, then processors, then sources.

mod accounts;
mod ahead;
mod domain_edges;
mod endpoints;
mod notices;
mod packets;

use tcp::React;
use units::Time;

use crate::arrivals::{Arrivals, NEVER};
use crate::direction::Direction;
use crate::event_queue::EventQueue;
use crate::packet::{Contents, Packet};
use crate::processor::Processor;
use crate::routes::Routes;
use crate::shortcuts::Shortcuts;
use crate::{NodeOutcome, Tracer};
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
    pub(crate) shortcuts: Shortcuts,
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
    /// A router that aggregates packets into bundles and unpacks them.
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

impl<'a, const TRACED: bool> Engine<'a, TRACED> {
    /// A network before the first event.
    pub(crate) fn new(
        directions: Vec<Direction>,
        nodes: Vec<Node>,
        flows: Vec<Flow>,
        edges: DomainEdges,
        routes: &'a Routes,
        shortcuts: Shortcuts,
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
            shortcuts,
            tracer,
        }
    }

    /// Executes one event. Returns whether there was one.
    #[inline]
    pub(crate) fn step(&mut self) -> bool {
        let arrival = self.arrivals.first();
        match self.event_queue.first(arrival.0) {
            Some(event) if event < arrival => self.execute(event),
            _ if arrival == NEVER => return false,
            _ => self.take_arrival(arrival),
        }
        self.contents.forget();
        true
    }

    /// Passes on the first packet of the rows.
    #[inline]
    fn take_arrival(&mut self, (now, direction): (Time, usize)) {
        debug_assert!(now >= self.now, "time goes on");
        self.now = now;
        let packet = self.arrivals.take();
        self.arrive(self.directions[direction].to as usize, Packet::bare(packet));
    }

    /// Adds to the counters what links know at the end, and frees what was for packets.
    /// Returns the time of the last event.
    pub(crate) fn settle_counters(&mut self) -> Time {
        self.contents = Contents::default();
        self.arrivals = Arrivals::new();
        let mut end = self.now;
        for (number, direction) in self.directions.iter().enumerate() {
            end = end.max(direction.last_delivery().unwrap_or(end));
            let delivered = direction.delivered();
            if direction.is_known {
                self.events += delivered;
            }
            // A host forwards nothing: it receives what arrives, and sends what leaves.
            let to = &mut self.nodes[direction.to as usize];
            if to.kind == Kind::Host {
                to.counts.received += delivered;
            }
            let from = &mut self.nodes[self.directions[number ^ 1].to as usize];
            if from.kind == Kind::Host {
                from.counts.sent += direction.arrived();
            }
        }
        for node in &mut self.nodes {
            node.counts.received -= node.counts.dropped;
        }
        end
    }

    /// Lets an element act at its time.
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
            self.leave(element);
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
}

#[cfg(test)]
mod tests;
