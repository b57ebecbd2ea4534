//! Endpoints without I/O: the state of protocols and of measurements, driven
//! by whoever has the sockets and the clock.
//!
//! The same tally serves the live receiver, the offline decoder and the
//! simulator, so that a figure means the same wherever it comes from.

mod arrivals;
mod layout;
pub mod link;
mod stream;
mod tally;
pub mod tcp;
pub mod traffic;

pub use arrivals::{Arrivals, Goodput};
pub use layout::Layout;
pub use stream::MessageStream;
pub use tally::{Summary, Tally};
