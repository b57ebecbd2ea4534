//! Queues in front of links: which packet goes next, and which never.
//!
//! A queue sees of a packet what [`Packet`] shows and nothing else, and of
//! time what it is told. So the same code runs on simulated headers and on
//! real frames, and decides alike.
//!
//! Law, store and driver are apart. A law is arithmetic over numbers and holds
//! no packet; the store ([`Fifo`]) holds them and knows no law; a
//! [`Discipline`] joins the two, and whoever owns the link drives it.

#![no_std]

extern crate alloc;

mod discipline;
mod drop_front;
mod drop_tail;
mod fifo;
mod limit;
mod packet;
mod spec;

pub use discipline::{Backlog, Discipline, Drops, Reason};
pub use drop_front::DropFront;
pub use drop_tail::DropTail;
pub use fifo::Fifo;
pub use limit::Limit;
pub use packet::{Packet, View};
pub use spec::{Empty, Spec};

#[cfg(test)]
mod tests;
