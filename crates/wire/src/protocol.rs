//! The protocols that packets consist of, one file each.
//!
//! Each file holds the offsets of its protocol, in a `mod field` that reads like the
//! figure of the standard. Two types represent a header, each with the parts that are
//! used:
//!
//! - `Header` is a view of bytes. It does not need a whole header, because captures
//!   cut packets short: an accessor returns an error if its field is missing. Setters
//!   change bytes in place, and update the checksum of the header.
//! - `Fields` holds the meaning of a header. `emit` writes the whole header to the
//!   start of a buffer and returns the rest of it, for the next header or the payload.
//!
//! No input makes this module panic.

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
