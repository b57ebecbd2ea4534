//! Octets and their meaning: the messages that our traffic is made of, Router
//! Advertisements, packet logs, and what a captured frame is.
//!
//! One file per format. A format is a plain struct that says what the octets
//! mean, with `parse` (octets to meaning) and `emit` (meaning to octets); the
//! offsets stand together in a `mod field` that reads like the figure of the
//! standard. Whatever the octets, nothing here panics: `parse` and `emit`
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
