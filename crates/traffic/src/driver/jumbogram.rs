//! Jumbograms [RFC2675]: UDP datagrams in IPv6 packets of more than 64 KiB, compared
//! with ordinary packets and TCP's super-packets.
//!
//! No socket sends a datagram above 65 527 bytes, so whole packets are written,
//! headers included; any UDP socket receives them. A [`JumboPath`] is the path that
//! carries them. [`carry`] proves that each arrives as one packet and unchanged,
//! [`measure`] determines their rate, delay and cost.

mod capture;
mod carry;
mod end;
mod jumbo_path;
mod limits;
mod measure;
mod message;
mod stream;

pub use carry::{Carried, Carrying, carry};
pub use end::{Listener, Sent, send};
pub use jumbo_path::{Between, JumboPath};
pub use limits::{LARGEST, LEAST_MTU};
pub use measure::{HeaderSource, Measured, Measuring, measure};
pub use message::{Arrived, LEAST};
pub use stream::{ORDINARY_SUPER, super_packets};
