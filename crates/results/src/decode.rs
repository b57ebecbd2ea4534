//! Decodes packet logs into statistics per log, flow and interval.
//!
//! A log is read twice, block by block. The first pass reads the blocks about
//! flows, clocks and sent packets, which may be at the end of the file, and the
//! earliest time of each block of records. The second pass merges the records
//! of all flows by time, so that the order of the blocks does not matter. Memory
//! depends on the number of flows, of requested rows and of records that are out
//! of order, all of which are limited, and not on the length of the log.

mod aggregator;
mod blocks;
mod clock_offset;
mod ditg_log;
mod horizon;
mod known;
mod merger;
mod packets;
mod reading;
mod row;
mod source;
mod text;

use std::path::Path;

use anyhow::{Context, Result};
use units::Span;

use aggregator::LogAggregator;
pub use packets::{PacketRows, Packets, TimeOrigin};
use reading::{Reading, Unanswered};
pub use row::{Row, RowStats, csv, json, write};
pub use text::text;

/// The maximum number of flows in a log. Each takes about 200 kB of
/// memory, and at most 1 MB where delays range from nanoseconds to years.
pub const MOST_FLOWS: usize = 1024;

/// The maximum number of rows for a log.
pub const MOST_ROWS: usize = 100_000;

/// The source of the statistics' definitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definitions {
    /// The standards; docs/reference/json.md names the standard of each value.
    Standard,
    /// D-ITG's decoder.
    Ditg,
}

/// The statistics to derive from a log.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// The definitions to use.
    pub definitions: Definitions,
    /// Whether to add rows for each flow.
    pub by_flow: bool,
    /// The length of the intervals with rows of their own.
    pub interval: Option<Span>,
}

/// The statistics of a log.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// The kind and the writer of the log, in one line.
    pub title: String,
    /// The rows: of the whole log, then of intervals.
    pub rows: Vec<Row>,
    /// A description of damage to the file, in one line.
    pub complaint: Option<String>,
    /// Whether the file changed while it was read, so that the rows are of a part.
    pub has_changed: bool,
}

/// Decodes the log in a file. `watch` receives the bytes read so far and the
/// total, both counted over both passes.
///
/// # Errors
/// The file cannot be read, is not a packet log of this version, or the request
/// exceeds a limit.
pub fn decode(path: &Path, request: &Request, watch: &mut dyn FnMut(u64, u64)) -> Result<Decoded> {
    attempt(path, request, watch).with_context(|| path.display().to_string())
}

fn attempt(path: &Path, request: &Request, watch: &mut dyn FnMut(u64, u64)) -> Result<Decoded> {
    let (mut log, known) = Reading::begin(path, Unanswered::Count, watch)?;
    let name = path.display().to_string();
    let mut title = known.title(&name);
    if log.is_of_ditg() {
        title.push_str(", of D-ITG");
    }
    let in_order_of_file = log.is_of_ditg() && request.definitions == Definitions::Ditg;
    let mut aggregator = LogAggregator::new(request, known);
    while log.next(watch)? {
        if in_order_of_file {
            aggregator.take(log.records())?;
        } else {
            log.release(|flow, record| aggregator.record(flow, &record))?;
        }
    }
    let (complaint, has_changed) = log.complaint()?;
    Ok(Decoded {
        title,
        rows: aggregator.rows(&name)?,
        complaint,
        has_changed,
    })
}

#[cfg(test)]
mod tests;
