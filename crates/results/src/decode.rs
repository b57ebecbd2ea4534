//! Packet logs, decoded: what each flow came to, and what happened when.
//!
//! A log is read twice, block by block: first what is said of flows, clocks and
//! what was sent, which may stand at the end, and then the records. So memory
//! does not depend on the length of a log, only on its flows and on the rows
//! that are asked for; both have a limit.

mod aggregator;
mod blocks;
mod row;
mod text;

use std::path::Path;

use anyhow::{Context, Result, bail};
use units::Span;
use wire::log::{Batch, Block};

use aggregator::LogAggregator;
use blocks::{Blocks, Tear};
pub use row::{Row, RowStats, csv, json, write};
pub use text::text;

/// The most flows of a log, each of which takes some 200 kB.
pub const MOST_FLOWS: usize = 1024;

/// The most rows of a log.
pub const MOST_ROWS: usize = 100_000;

/// Whose definitions the figures follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Definitions {
    /// Those of the standards; docs/formats.md names each.
    Standard,
    /// Those of D-ITG's decoder.
    Ditg,
}

/// What is asked of a log.
#[derive(Clone, Copy, Debug)]
pub struct Request {
    /// Whose definitions.
    pub definitions: Definitions,
    /// Whether there are rows for each flow beside those for all together.
    pub by_flow: bool,
    /// How long the intervals are that have rows of their own.
    pub interval: Option<Span>,
}

/// What was found in a log.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// What the log is and who wrote it, in one line.
    pub title: String,
    /// The rows: of the whole, and then of intervals.
    pub rows: Vec<Row>,
    /// What is wrong with the file, in one line.
    pub complaint: Option<String>,
}

/// Decodes the log in a file. `watch` is notified of octets that were read, and of
/// how many there are, both passes counted.
///
/// # Errors
/// The file cannot be read or is no packet log of this version, or what is
/// asked takes too much.
pub fn decode(path: &Path, request: &Request, watch: &mut dyn FnMut(u64, u64)) -> Result<Decoded> {
    attempt(path, request, watch).with_context(|| path.display().to_string())
}

fn attempt(path: &Path, request: &Request, watch: &mut dyn FnMut(u64, u64)) -> Result<Decoded> {
    let mut blocks = Blocks::open(path)?;
    let length = blocks.length;
    let mut aggregator = LogAggregator::new(request);
    let mut batch = Batch::default();
    let mut closed = false;
    while let Some(block) = blocks.next()? {
        match block {
            Block::Facts(facts) => aggregator.facts = Some(facts),
            Block::Flow(flow) => aggregator.describe(flow)?,
            Block::Estimate(estimate) => aggregator.estimate(estimate)?,
            Block::Sent(sent) => aggregator.sent(sent)?,
            Block::End => closed = true,
            Block::Records(_) | Block::Unknown(_) => (),
        }
        watch(blocks.position, 2 * length);
    }
    if aggregator.facts.is_none() {
        bail!("nothing of this packet log is whole, so there is nothing to decode");
    }
    let mut tear = blocks.tear;
    let end = blocks.position;
    let mut blocks = Blocks::open(path)?;
    while blocks.position < end {
        let position = blocks.position;
        let Some(block) = blocks.next()? else {
            break;
        };
        if let Block::Records(records) = block {
            if let Err(error) = records.read(&mut batch) {
                tear = Some(Tear {
                    position,
                    why: error.to_string(),
                });
                break;
            }
            aggregator.records(&batch)?;
        }
        watch(length + blocks.position, 2 * length);
    }
    let name = path.display().to_string();
    Ok(Decoded {
        title: aggregator.title(&name),
        rows: aggregator.rows(&name)?,
        complaint: complaint(&name, tear, length, closed),
    })
}

fn complaint(name: &str, tear: Option<Tear>, length: u64, closed: bool) -> Option<String> {
    match tear {
        Some(Tear { position, why }) => Some(format!(
            "{name}: torn or damaged after {position} octets ({why}); the last {} are left out",
            length.saturating_sub(position)
        )),
        None if !closed => Some(format!(
            "{name}: not closed; its writer was stopped, or is still writing"
        )),
        None => None,
    }
}

#[cfg(test)]
mod tests;
