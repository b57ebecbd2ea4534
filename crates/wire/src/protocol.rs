//! The protocols that packets are made of, one file each.
//!
//! A file has the protocol's offsets, in a `mod field` that reads like the figure
//! of the standard, and what the packets around it need of two levels:
//!
//! - `Header` is a view of octets. It needs no whole header, because captures
//!   and fragments end anywhere: each accessor says whether its field is there.
//!   Over octets that may be written, it changes fields in place, and with them
//!   the checksum that covers them.
//! - `Fields` is the meaning of a header. It is written in one piece, to the start of
//!   octets of which the rest is what follows the header.
//!
//! Whatever the octets, nothing here panics.

pub(crate) mod checksum;
pub mod ethernet;
pub mod icmp;
pub(crate) mod icmpv4;
pub mod icmpv6;
pub mod ip;
pub mod ipv4;
pub(crate) mod ipv6;
pub(crate) mod mpls;
pub mod tcp;
pub(crate) mod udp;
pub mod vlan;
