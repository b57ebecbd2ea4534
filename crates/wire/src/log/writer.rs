//! The writer of packet logs.

use alloc::vec::Vec;

use super::block::{kind, seal};
use super::facts::{Estimate, Facts, Flow, Sent};
use super::{BLOCK, MAGIC, Record, records};

/// Encodes a log. The bytes are appended to a vector, which the caller may write to a
/// file at any time.
///
/// Records are aggregated until there are [`BLOCK`] of them; records not yet flushed by
/// [`Writer::flush`] are lost if the program dies.
#[derive(Clone, Debug)]
pub struct Writer {
    aggregated: Vec<Record>,
    columns: records::Scratch,
}

impl Writer {
    /// A new log; its first bytes are appended to `out`.
    pub fn new(facts: &Facts, out: &mut Vec<u8>) -> Self {
        out.extend_from_slice(&MAGIC);
        seal(out, kind::FACTS, |content| facts.emit(content));
        Self {
            aggregated: Vec::with_capacity(BLOCK),
            columns: records::Scratch::default(),
        }
    }

    /// Describes a flow, preferably before its first record. A later description
    /// replaces an earlier one.
    pub fn flow(&mut self, flow: &Flow, out: &mut Vec<u8>) {
        seal(out, kind::FLOW, |content| flow.emit(content));
    }

    /// Appends an estimate of the clock offset of a flow.
    pub fn estimate(&mut self, estimate: &Estimate, out: &mut Vec<u8>) {
        seal(out, kind::ESTIMATE, |content| estimate.emit(content));
    }

    /// Appends the sender's totals of a flow, once they are known.
    pub fn sent(&mut self, sent: &Sent, out: &mut Vec<u8>) {
        seal(out, kind::SENT, |content| sent.emit(content));
    }

    /// Records a packet. A receiver records packets in the order of arrival, duplicates
    /// included.
    pub fn record(&mut self, record: Record, out: &mut Vec<u8>) {
        self.aggregated.push(record);
        if self.aggregated.len() == BLOCK {
            self.flush(out);
        }
    }

    /// Appends the aggregated records.
    pub fn flush(&mut self, out: &mut Vec<u8>) {
        if !self.aggregated.is_empty() {
            let Self {
                aggregated,
                columns,
            } = self;
            seal(out, kind::RECORDS, |content| {
                records::emit(aggregated, columns, content);
            });
            self.aggregated.clear();
        }
    }

    /// Appends the aggregated records and the end of the log.
    pub fn finish(mut self, out: &mut Vec<u8>) {
        self.flush(out);
        seal(out, kind::END, |_| ());
    }
}
