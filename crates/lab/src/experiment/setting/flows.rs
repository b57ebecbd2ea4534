//! Traffic on schedules.

use proto::traffic::Law;
use units::Span;

/// Flows of datagrams, and for how long they are sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Flows {
    /// When the last of them stops; what is under way then still arrives.
    pub duration: Span,
    /// The flows, by name.
    pub flows: Vec<Flow>,
}

/// Datagrams from one host to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name, of which there is no other.
    pub name: String,
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// When it begins, from the beginning of the trial on.
    pub start: Span,
    /// When it stops; `None`: with the trial.
    pub stop: Option<Span>,
    /// Picoseconds from one datagram to the next.
    pub gaps: Law,
    /// Octets of payload in a datagram.
    pub payloads: Law,
    /// How many datagrams are sent at most.
    pub packets: Option<u64>,
    /// Whether a datagram that needs fragments is not sent.
    pub dont_fragment: bool,
    /// Its class, for queues that tell classes apart.
    pub class: u8,
    /// Its drop precedence, for queues that know one; 0 is dropped last.
    pub precedence: u8,
}
