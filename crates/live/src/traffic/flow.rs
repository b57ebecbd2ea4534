//! A flow as its sender wants it.

use proto::traffic::Schedule;
use units::{Bytes, Span, Transport};
use wire::control::{Meter, Name};

use super::options::Options;

/// One flow as its sender wants it.
#[derive(Clone, Debug)]
pub struct Flow {
    /// Its name.
    pub name: Name,
    /// How it travels; ICMP echoes where there is none.
    pub transport: Option<Transport>,
    /// What is measured.
    pub meter: Meter,
    /// When messages leave and how large they are, from the start of the flow.
    pub schedule: Schedule,
    /// Whether gaps are kept; otherwise messages leave as fast as they can, and
    /// of a round trip each once the one before is back.
    pub paced: bool,
    /// When it begins, after all flows are ready.
    pub delay: Span,
    /// How long it lasts, however fast its messages leave.
    pub length: Option<Span>,
    /// Octets of its largest message, if its sizes know one.
    pub largest: Option<Bytes>,
    /// What its socket is to be.
    pub options: Options,
}
