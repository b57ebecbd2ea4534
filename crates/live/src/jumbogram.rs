//! Jumbograms [RFC2675]: UDP that fills one IPv6 packet of more than 64 KiB, in
//! worlds that carry it, beside ordinary packets and TCP's super-packets.
//!
//! No socket sends a datagram above 65 527 octets, so packets are written whole,
//! headers included; any UDP socket receives them. A [`JumboPath`] is where they
//! travel; [`carry`] proves that each arrives as one packet and unchanged,
//! [`measure`] says how fast and at what cost, and [`malformed`] what a kernel
//! says to those that are wrong.

mod capture;
mod carry;
mod end;
mod jumbo_path;
mod limits;
mod malformed;
mod measure;
mod message;
mod stream;

pub use carry::{Carried, Carrying, carry};
pub use end::{Listener, Sent, send};
pub use jumbo_path::{Between, JumboPath};
pub use limits::{LARGEST, LEAST_MTU};
pub use malformed::{Ended, malformed};
pub use measure::{HeaderSource, Measured, Measuring, measure};
pub use message::{Arrived, LEAST};
pub use stream::{LARGEST_SUPER, ORDINARY_SUPER, super_packets};
