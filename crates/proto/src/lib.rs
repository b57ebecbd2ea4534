//! Endpoints without I/O: the state of protocols and of measurements, driven
//! by whoever has the sockets and the clock.
//!
//! The same tally serves trials of the kernel and of the simulator, and the
//! same ledger whoever receives traffic by hand and whoever reads its packet
//! logs, so that a figure means the same wherever it comes from.

mod arrivals;
pub mod control;
pub mod ditg;
pub mod edge;
pub mod exchange;
pub mod latency_breakdown;
mod layout;
pub mod ledger;
pub mod link;
pub mod offset;
mod stream;
mod tally;
pub mod tcp;
pub mod traffic;

pub use arrivals::{Arrivals, Goodput, TOLERANCE};
pub use layout::Layout;
pub use stream::MessageStream;
pub use tally::{Summary, Tally};
