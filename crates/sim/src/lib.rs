//! A network simulator: hosts, routers, switches and links in virtual time.
//!
//! A [`Scenario`] describes the network and its traffic. [`Scenario::check`] rejects
//! invalid scenarios with an explanation; valid ones run to their end and cannot fail.
//! Links and queues are the same state machines that the live emulator drives
//! ([`link`]).
//!
//! A scenario may contain a [`Domain`], whose edges aggregate packets into bundles and
//! unpack them.
//!
//! A scenario always has the same outcome, byte by byte, regardless of the order of
//! its tables and of tracers: random streams are named after links and flows, and
//! simultaneous events are ordered by name.
#![warn(missing_docs)]

mod arrivals;
mod check;
mod connection;
mod direction;
mod domain;
mod engine;
mod event_queue;
mod fragments;
mod labels;
mod link_stats;
mod load;
mod lookahead;
mod messages;
mod outcome;
mod packet;
mod processor;
mod reassembly;
mod rejection;
mod routes;
mod scenario;
mod shortcuts;
mod simulation;
mod sink;
mod source;
mod tracer;

pub use domain::{BadDomain, Destination, Domain, Edge, ExplicitRoute, Ingress, Notices};
pub use link::edge::Prefix;
pub use outcome::{
    Delays, DirectionOutcome, DomainOutcome, EdgeOutcome, FlowOutcome, InnerCounts, LinkOutcome,
    NodeOutcome, Outcome, TcpOutcome,
};
pub use packet::Segment;
pub use rejection::BadScenario;
pub use scenario::{
    Datagrams, Flow, Host, Link, Messages, Node, Role, Scenario, Tcp, Traffic, Work,
};
pub use simulation::Simulation;
pub use tracer::{Inside, Location, Loss, Opened, Seen, Tracer};
