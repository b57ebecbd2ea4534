//! Octets and their meaning.
//!
//! | modules | what they are about |
//! |---|---|
//! | [`protocol`] | the protocols that packets are made of, one file each |
//! | [`frame`] | what a captured frame is |
//! | [`datagram`], [`segment`], [`jumbogram`], [`bundle`], [`too_big`] | packets that are built, and some that are read |
//! | [`message`], [`control`], [`log`] | formats of our own |
//! | [`pcapng`] | captures for other programs |
//!
//! One file per format. A format is a plain struct that says what the octets
//! mean, with `parse` (octets to meaning) and `emit` (meaning to octets); the
//! offsets stand together in a `mod field` that reads like the figure of the
//! standard, and nowhere else: packets are put together of protocols and have no
//! offsets. Whatever the octets, nothing here panics: `parse` and `emit`
//! return an [`Error`] that names the field, [`frame::Summary::of`] says what
//! it could still make out.
//!
//! No clock and no socket exist here. Only [`log`] allocates, and [`bundle`]
//! where packets die in the middle of one.
#![no_std]

extern crate alloc;
#[cfg(test)]
extern crate std;

pub mod bundle;
pub mod control;
pub mod datagram;
mod error;
pub mod frame;
#[cfg(test)]
mod fuzz;
pub mod jumbogram;
pub mod log;
pub mod message;
mod octets;
pub mod pcapng;
pub mod protocol;
pub mod segment;
pub mod too_big;

pub use error::{Error, Field};
