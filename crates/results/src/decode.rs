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
mod ditg_log;
mod horizon;
mod merger;
mod row;
mod text;

use std::path::Path;

use anyhow::{Context, Result, bail};
use units::Span;
use wire::log::{Batch, Block};

use aggregator::LogAggregator;
use blocks::{Blocks, TruncationPoint};
use ditg_log::DitgLog;
use horizon::Horizon;
use merger::Merger;
pub use row::{Row, RowStats, csv, json, write};
pub use text::text;

/// The maximum number of flows in a log. Each takes about 200 kB of
/// memory, and at most 1 MB where delays range from nanoseconds to years.
pub const MOST_FLOWS: usize = 1024;

/// The maximum number of rows for a log.
pub const MOST_ROWS: usize = 100_000;

/// The complaint about a file that changed.
const CHANGED: &str =
    "it was cut or changed while it was read; these figures are of a part, so decode it again";

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
    let mut file = blocks::open(path)?;
    if let Some(log) = DitgLog::of(&mut file)? {
        return decode_ditg(path, log, request, watch);
    }
    let mut blocks = Blocks::new(file)?;
    let length = blocks.length;
    let mut aggregator = LogAggregator::new(request);
    let mut horizon = Horizon::new();
    let mut batch = Batch::default();
    let mut closed = false;
    let (mut end, mut tear) = (blocks.position, None);
    while let Some(block) = blocks.next()? {
        match block {
            Block::Facts(facts) => aggregator.facts = Some(facts),
            Block::Flow(flow) => aggregator.describe(flow)?,
            Block::Estimate(estimate) => aggregator.estimate(estimate)?,
            Block::Sent(sent) => aggregator.sent(sent)?,
            Block::End => closed = true,
            Block::Records(records) => {
                if let Err(error) = records.read(&mut batch) {
                    let (position, why) = (end, error.to_string());
                    tear = Some(TruncationPoint { position, why });
                    break;
                }
                horizon.push(aggregator.earliest(batch.records())?);
            }
            Block::Unknown(_) => (),
        }
        end = blocks.position;
        watch(end, 2 * length);
    }
    if aggregator.facts.is_none() && blocks.was_cut()? {
        bail!("it was cut while it was read; decode it again");
    }
    if aggregator.facts.is_none() {
        bail!("no block of this packet log is complete; there is nothing to decode");
    }
    horizon.close();
    let tear = tear.or_else(|| blocks.tear.take());
    let mut merger = Merger::default();
    let mut done = 0;
    blocks.rewind()?;
    while blocks.position < end {
        let Some(block) = blocks.next()? else {
            break;
        };
        if let Block::Records(records) = block
            && records.read(&mut batch).is_ok()
        {
            done += 1;
            aggregator.queue(batch.records(), &mut merger)?;
            merger.release(horizon.after(done), |flow, record| {
                aggregator.record(flow, &record)
            })?;
        }
        watch(length + blocks.position, 2 * length);
    }
    let name = path.display().to_string();
    // What the second pass lacks was there in the first one.
    let has_changed = blocks.position < end || done < horizon.blocks() || blocks.was_cut()?;
    let complaint = match has_changed {
        true => Some(format!("{name}: {CHANGED}")),
        false => complaint(&name, tear, length, closed),
    };
    Ok(Decoded {
        title: aggregator.title(&name),
        rows: aggregator.rows(&name)?,
        complaint,
        has_changed,
    })
}

/// The same for a log of D-ITG. By its definitions, records count in the order of the file.
fn decode_ditg(
    path: &Path,
    mut log: DitgLog,
    request: &Request,
    watch: &mut dyn FnMut(u64, u64),
) -> Result<Decoded> {
    let length = log.length;
    let mut aggregator = LogAggregator::new(request);
    let mut horizon = Horizon::new();
    let mut records = Vec::new();
    while log.next(&mut records)? {
        for flow in log.new_flows.drain(..) {
            aggregator.describe(flow)?;
        }
        horizon.push(aggregator.earliest(records.iter().copied())?);
        watch(log.position, 2 * length);
    }
    aggregator.facts = Some(log.facts());
    horizon.close();
    let (end, tear) = (log.position, log.tear.take());
    let mut merger = Merger::default();
    let mut done = 0;
    log.rewind()?;
    while log.position < end && log.next(&mut records)? {
        done += 1;
        let taken = records.iter().copied();
        match request.definitions {
            Definitions::Ditg => aggregator.take(taken)?,
            Definitions::Standard => {
                aggregator.queue(taken, &mut merger)?;
                merger.release(horizon.after(done), |flow, record| {
                    aggregator.record(flow, &record)
                })?;
            }
        }
        watch(length + log.position, 2 * length);
    }
    let name = path.display().to_string();
    let has_changed = log.position < end || done < horizon.blocks();
    let complaint = match has_changed {
        true => Some(format!("{name}: {CHANGED}")),
        false => complaint(&name, tear, length, true),
    };
    Ok(Decoded {
        title: format!("{}, of D-ITG", aggregator.title(&name)),
        rows: aggregator.rows(&name)?,
        complaint,
        has_changed,
    })
}

fn complaint(
    name: &str,
    tear: Option<TruncationPoint>,
    length: u64,
    closed: bool,
) -> Option<String> {
    match tear {
        Some(TruncationPoint { position, why }) => Some(format!(
            "{name}: torn or damaged after {position} bytes ({why}); the last {} are left out",
            length.saturating_sub(position)
        )),
        None if !closed => Some(format!(
            "{name}: not closed; its writer was stopped or is still running"
        )),
        None => None,
    }
}

#[cfg(test)]
mod tests;
