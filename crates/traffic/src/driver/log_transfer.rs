//! Packet logs on their way to another host ([`crate::machine::log_transfer`]).

mod send;
mod take;

use units::Span;

pub use send::{Destination, send};
pub use take::{Event, EventKind, Server};

/// The longest silence of the other end in a transfer. A disk may take a while.
const SILENCE: Span = Span::from_secs(30);
