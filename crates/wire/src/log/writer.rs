//! Appends to a log.

use alloc::vec::Vec;

use super::block::{kind, seal};
use super::facts::{Estimate, Facts, Flow, Sent};
use super::{BLOCK, MAGIC, Record, records};

/// Makes the octets of a log, which are appended to a vector that the caller
/// empties into a file whenever it likes.
///
/// Records are gathered until there are [`BLOCK`] of them; what [`Writer::flush`]
/// was not called for is lost with the program.
#[derive(Clone, Debug)]
pub struct Writer {
    gathered: Vec<Record>,
    columns: records::Scratch,
}

impl Writer {
    /// A new log, whose beginning is appended to `out`.
    pub fn new(facts: &Facts, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(&MAGIC);
        seal(out, kind::FACTS, |content| facts.emit(content));
        Self {
            gathered: Vec::with_capacity(BLOCK),
            columns: records::Scratch::default(),
        }
    }

    /// Says what a flow is, best before its first record. Said again, the
    /// latter holds.
    pub fn flow(&mut self, flow: &Flow, out: &mut Vec<u8>) {
        seal(out, kind::FLOW, |content| flow.emit(content));
    }

    /// Says how the clocks of a flow stand to each other.
    pub fn estimate(&mut self, estimate: &Estimate, out: &mut Vec<u8>) {
        seal(out, kind::ESTIMATE, |content| estimate.emit(content));
    }

    /// Says how much the sender of a flow sent, once that is known.
    pub fn sent(&mut self, sent: &Sent, out: &mut Vec<u8>) {
        seal(out, kind::SENT, |content| sent.emit(content));
    }

    /// Takes down a packet. A receiver hands packets over in the order in
    /// which they arrive, copies included.
    pub fn record(&mut self, record: Record, out: &mut Vec<u8>) {
        self.gathered.push(record);
        if self.gathered.len() == BLOCK {
            self.flush(out);
        }
    }

    /// Appends the records that are gathered.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        if !self.gathered.is_empty() {
            let Self { gathered, columns } = self;
            seal(out, kind::RECORDS, |content| {
                records::emit(gathered, columns, content);
            });
            self.gathered.clear();
        }
    }

    /// Appends what is gathered and the end.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.flush(out);
        seal(out, kind::END, |_| ());
    }
}
