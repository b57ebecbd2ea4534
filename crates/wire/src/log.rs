//! The packet log: departures and arrivals, packet by packet.
//!
//! A log is [`MAGIC`] and then blocks. Each block states its length and has a checksum
//! (`block.rs`), so a truncated file is readable up to the damage. Some blocks describe
//! the log ([`Facts`], [`Flow`], [`Estimate`], [`Sent`]); the others hold up to
//! [`BLOCK`] records each, column by column, with as few bits per value as the column
//! needs (`column.rs`). A block of records can be read without those before it.
//! docs/reference/formats.md specifies the bytes.
//!
//! [`Writer`] appends to a vector, which the caller stores; [`next`] reads one block at
//! the start of a buffer.

mod block;
mod column;
pub mod ditg;
mod facts;
mod records;
mod writer;

pub use block::{Block, ENVELOPE, LONGEST, Next, length, next, open};
pub use facts::{Clock, Estimate, Facts, Flow, NAME, Role, Sent};
pub use records::{Batch, Records};
pub use writer::Writer;

/// The first bytes of a log: the name, a line end that text conversion would change,
/// and the version of the format.
pub const MAGIC: [u8; 8] = *b"JLOG\r\n\0\x01";

/// The most records of a block.
pub const BLOCK: usize = 4096;

/// One packet, or one message of a flow that has messages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Record {
    /// Number of the flow in [`Flow::number`].
    pub flow: u32,
    /// Sequence number in the flow, from 0.
    pub sequence: u64,
    /// Instant of sending, in nanoseconds on the sender's clock.
    pub sent: u64,
    /// Instant of arrival, in nanoseconds on the receiver's clock. Logs of senders do
    /// not have it.
    pub received: Option<u64>,
    /// Instant at which the echo arrived, in nanoseconds on the sender's clock. In a
    /// log of round trips, `None` means a loss.
    pub returned: Option<u64>,
    /// Bytes of payload.
    pub size: u32,
    /// Rare properties of the packet.
    pub marks: Marks,
}

/// Properties that few packets have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Marks {
    /// The clock of arrivals that [`Facts`] names gave no timestamp, so the program
    /// read its own clock.
    pub late_stamp: bool,
    /// The packet arrived with a congestion mark [RFC3168 s5].
    pub congested: bool,
    /// The receiver does not know when the packet was sent, because the packet was too short
    /// to state it; [`Record::sent`] is then the time of arrival.
    pub untimed: bool,
}

#[cfg(test)]
mod tests;
