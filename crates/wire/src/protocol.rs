//! The protocols that packets are made of, one file each.
//!
//! A file has the offsets of its protocol, in a `mod field` that reads like the
//! figure of the standard. Two types stand for a header, each with as much as is
//! used of it:
//!
//! - `Header` is a view of octets. It does not need a whole header, because
//!   captures cut packets short: an accessor returns an error if its field is
//!   missing. Setters change octets in place, and the checksum of the header with
//!   them.
//! - `Fields` is the meaning of a header. `emit` writes all of the header to the
//!   start of a buffer and returns the rest of it, for the next header or the
//!   payload.
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
