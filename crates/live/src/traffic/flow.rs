//! Flows as configured at their sender.

use proto::traffic::Schedule;
use units::{Bytes, Span, Transport};
use wire::control::{Meter, Name};

use super::options::Options;

/// A flow as configured at its sender.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Name of the flow.
    pub name: Name,
    /// The transport; `None`: ICMP echoes.
    pub transport: Option<Transport>,
    /// The delay that is measured.
    pub meter: Meter,
    /// Departures and sizes of messages, relative to the start of the flow.
    pub schedule: Schedule,
    /// Whether gaps are kept. Otherwise messages leave at full speed, or, if round
    /// trips are measured, each after the previous one is back.
    pub paced: bool,
    /// The start of the flow, relative to the common start.
    pub delay: Span,
    /// The duration of the flow, regardless of its schedule.
    pub length: Option<Span>,
    /// Octets of its largest message, if its sizes have a limit.
    pub largest: Option<Bytes>,
    /// The options of its socket.
    pub options: Options,
}
