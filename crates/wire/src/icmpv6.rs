//! ICMPv6: as much of Neighbour Discovery as a test bed's router speaks.
//!
//! Checksums are left zero: on a raw ICMPv6 socket the kernel computes them
//! [RFC3542 s3.1].

mod router_advertisement;

pub use router_advertisement::{Prefix, RouterAdvertisement};
