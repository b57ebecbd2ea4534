//! Queue disciplines in front of links: which packet leaves next, and which
//! is dropped.
//!
//! A queue uses a packet only through [`Packet`], and its caller passes the
//! time. So the same code runs on simulated headers and on real frames, and
//! decides alike.
//!
//! Law, store and driver are apart. A [`law`] is arithmetic over numbers and
//! holds no packet; the store ([`Fifo`]) holds them and knows no law; a
//! [`Discipline`] joins the two, and the owner of the link drives it.

#![warn(missing_docs)]
#![no_std]

extern crate alloc;

mod admission;
mod aggregate;
mod bad_spec;
mod bundle;
mod choice;
mod codel;
mod discipline;
mod drop_front;
mod drop_tail;
mod fifo;
mod fq_codel;
mod keys;
pub mod law;
mod limit;
mod mred;
mod packet;
mod pie;
mod priority;
mod reassemble;
mod red;
mod release;
mod rio;
mod rng;
mod settings;
mod spec;
mod stamped;

pub use admission::Admission;
pub use aggregate::{Aggregator, AggregatorSettings, BadAggregator, Trigger};
pub use bad_spec::BadSpec;
pub use bundle::{Bundle, Encapsulation, Entry, Selection, Tick};
pub use choice::{Choice, Configured};
pub use codel::{Codel, CodelSettings};
pub use discipline::{AverageQueue, Backlog, Discipline, Drops, Reason};
pub use drop_front::DropFront;
pub use drop_tail::DropTail;
pub use fifo::Fifo;
pub use fq_codel::{FqCodel, FqCodelSettings};
pub use keys::{Field, Key, NamedChoice, Reaction, Visitor};
pub use limit::Limit;
pub use mred::{
    Bounds, Candidates, Interpretation, Mred, MredSettings, MredTrigger, Share, SizeOf,
};
pub use packet::{Advertised, InnerDrop, Packet, Part, View};
pub use pie::{Pie, PieSettings};
pub use priority::Priority;
pub use reassemble::{PIECE_WAIT, Reassembled, Reassembler};
pub use red::{AdaptiveRedSettings, Red, RedAdmission, RedSettings, Unit, Victim};
pub use release::Release;
pub use rio::{Rio, RioSettings};
pub use spec::{DISCIPLINES, Spec};

#[cfg(test)]
mod tests;
