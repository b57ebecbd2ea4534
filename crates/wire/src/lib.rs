//! Wire formats: parsers and emitters of packets, of our own protocols, and of logs and
//! captures.
//!
//! | modules | content |
//! |---|---|
//! | [`protocol`] | the protocols that packets consist of, one file each |
//! | [`frame`] | classification of captured frames |
//! | [`datagram`], [`segment`], [`jumbogram`], [`bundle`], [`too_big`] | packets that are built; some are parsed, too |
//! | [`stamp`] | test packets of measurements between two ends |
//! | [`ip_packet`], [`icmp_error`], [`probe`] | packets that probe a path, and those that answer them |
//! | [`message`], [`numbered`], [`control`], [`log`] | formats of our own |
//! | [`super_packet`] | packets cut out of those that kernels leave to interfaces |
//! | [`pcapng`] | captures for other programs |
//! | [`capture`] | captures of other programs |
//!
//! Each format has one file: a plain struct with the meaning of the bytes, `parse`
//! (bytes to meaning) and `emit` (meaning to bytes). The offsets of a protocol stand
//! together in a `mod field` that reads like the figure of the standard; packets are
//! composed of protocols and have no offsets of their own. No input makes this crate
//! panic: `parse` and `emit` return an [`Error`] that names the field, and
//! [`frame::Summary::of`] returns the fields that it could read. The messages of
//! [`control`], which both ends of one version exchange, are in the order of their types.
//!
//! The crate uses no clock and no socket. Only [`log`] and [`capture`] allocate, and
//! [`bundle`] for drops in the middle of a bundle.
#![warn(missing_docs)]
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bundle;
mod bytes;
pub mod capture;
pub mod control;
pub mod datagram;
pub mod dscp;
mod error;
pub mod frame;
#[cfg(test)]
mod fuzz;
pub mod icmp_error;
pub mod ip_packet;
pub mod jumbogram;
pub mod log;
pub mod message;
pub mod numbered;
pub mod pcapng;
pub mod probe;
pub mod protocol;
pub mod segment;
pub mod stamp;
pub mod super_packet;
pub mod too_big;

pub use error::{Error, Field};
