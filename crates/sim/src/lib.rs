//! A virtual network: hosts, routers, switches and links in virtual time.
//!
//! A [`Scenario`] says what there is and who sends what. [`Scenario::check`]
//! refuses what makes no sense, in words for whoever wrote it; what passes
//! runs to its end and cannot fail. Links are the very machines that the live
//! emulator drives ([`proto::link`]), and so are their queues.
//!
//! A [`Domain`] may lie in it, at whose edges packets are gathered into bundles
//! and let out again.
//!
//! The same scenario comes to the same outcome, to the octet, in whatever
//! order its tables are written and whoever watches: random numbers are drawn from
//! streams with the names of links and flows, and what happens at one instant
//! happens in an order of names too.

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
mod messages;
mod outcome;
mod packet;
mod processor;
mod reassembly;
mod refusal;
mod routes;
mod scenario;
mod simulation;
mod sink;
mod source;
mod tracer;

pub use domain::{BadDomain, Destination, Detour, Domain, Edge, Ingress, Notices};
pub use outcome::{
    Delays, DirectionOutcome, DomainOutcome, EdgeOutcome, FlowOutcome, InnerCounts, LinkOutcome,
    NodeOutcome, Outcome, TcpOutcome,
};
pub use packet::Segment;
pub use proto::edge::Prefix;
pub use refusal::BadScenario;
pub use scenario::{
    Datagrams, Flow, Host, Link, Messages, Node, Role, Scenario, Tcp, Traffic, Work,
};
pub use simulation::Simulation;
pub use tracer::{Inside, Location, Loss, Opened, Seen, Tracer};
