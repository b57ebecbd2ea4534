//! The packet log: what was sent and what arrived, packet by packet.
//!
//! A log is [`MAGIC`] and then blocks, each with its length in front and a
//! checksum (`block.rs`), so that a file that was torn off is read up to the
//! tear. Some blocks say what the log is about ([`Facts`], [`Flow`],
//! [`Estimate`], [`Sent`]); the others hold up to [`BLOCK`] records each,
//! column by column, every column in as few bits as its values need
//! (`column.rs`). A block of records can be read without those before it.
//! docs/formats.md has the octets.
//!
//! [`Writer`] appends to a vector that the caller puts wherever the log is
//! kept; [`next`] takes one block off the front of whatever was read.

mod block;
mod column;
mod facts;
mod records;
mod writer;

pub use block::{Block, ENVELOPE, LONGEST, Next, length, next, open};
pub use facts::{Clock, Estimate, Facts, Flow, NAME, Role, Sent};
pub use records::{Batch, Records};
pub use writer::Writer;

/// What a log begins with: the name, a line's end that careless copying would
/// change, and the version of the format.
pub const MAGIC: [u8; 8] = *b"JLOG\r\n\0\x01";

/// The most records that a block holds.
pub const BLOCK: usize = 4096;

/// One packet, or one message where the flow has messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// The flow, as its [`Flow`] numbers it.
    pub flow: u32,
    /// The place in the flow, from 0.
    pub sequence: u64,
    /// When it was sent, in nanoseconds on the sender's clock.
    pub sent: u64,
    /// When it arrived, in nanoseconds on the receiver's clock. A sender does
    /// not know.
    pub received: Option<u64>,
    /// When its echo was back, in nanoseconds on the sender's clock. Without
    /// one in a log of round trips it was lost.
    pub returned: Option<u64>,
    /// Octets of payload.
    pub size: u32,
    /// What else is to be said of it.
    pub marks: Marks,
}

/// What is to be said of few packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The clock that [`Facts`] names for arrivals had no stamp for it, so a
    /// program read its clock instead.
    pub late_stamp: bool,
    /// It came marked as having met congestion [RFC3168 s5].
    pub congested: bool,
}

#[cfg(test)]
mod tests;
