//! Decodes packet logs into statistics per log, flow and interval, or into a table of packets.
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
mod request;
mod row;
mod source;
mod text;

use std::path::Path;

use anyhow::{Context, Result};
use wire::log::Role;

use aggregator::LogAggregator;
pub use known::MOST_FLOWS;
pub use packets::{PacketRows, Packets, TimeOrigin};
use reading::{Reading, Unanswered};
pub use request::{Definitions, MOST_ROWS, Request};
pub use row::{Decoded, Row, RowStats, csv, json, write};
pub use text::text;

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
    let title = log.title(&known);
    let in_order_of_file = log.is_of_ditg() && request.definitions == Definitions::Ditg;
    let is_one_way = known.role() == Role::Receiver;
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
        is_one_way,
        complaint,
        has_changed,
    })
}

#[cfg(test)]
mod tests;
