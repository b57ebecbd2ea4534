//! The two kinds of logs as one source of batches.

use std::path::Path;

use anyhow::Result;
use wire::log::{self, Block, Record};

use super::blocks::{self, Blocks, TruncationPoint};
use super::ditg_log::DitgLog;
use super::known::{Known, Statement};

/// A log in a file, which is read batch by batch, twice.
pub(super) enum Source {
    /// A log of this program, and the columns of its latest block.
    Own(Blocks, log::Batch),
    /// A log of D-ITG.
    Ditg(DitgLog),
}

/// What is read at once.
#[derive(Default)]
pub(super) struct Batch {
    /// What the log states.
    pub(super) statements: Vec<Statement>,
    /// The records in the order of the log, after [`Source::fill`].
    pub(super) records: Vec<Record>,
    /// Whether this is the regular end of the log.
    pub(super) is_end: bool,
}

impl Source {
    /// Opens a log.
    ///
    /// # Errors
    /// The file cannot be read, or is no log.
    pub(super) fn open(path: &Path) -> Result<Self> {
        let mut file = blocks::open(path)?;
        match DitgLog::of(&mut file)? {
            Some(log) => Ok(Self::Ditg(log)),
            None => Ok(Self::Own(Blocks::new(file)?, log::Batch::default())),
        }
    }

    /// Reads the next batch but for the records of our own log; `false` at the end of the log,
    /// or at its damage.
    ///
    /// # Errors
    /// The file cannot be read, or has too many flows.
    pub(super) fn next(&mut self, batch: &mut Batch) -> Result<bool> {
        batch.statements.clear();
        batch.records.clear();
        batch.is_end = false;
        let (blocks, columns) = match self {
            Self::Own(blocks, columns) => (blocks, columns),
            Self::Ditg(log) => return log.next(batch),
        };
        columns.clear();
        let before = blocks.position;
        let Some(block) = blocks.next()? else {
            return Ok(false);
        };
        match block {
            Block::Facts(facts) => batch.statements.push(Statement::Facts(facts)),
            Block::Flow(flow) => batch.statements.push(Statement::Flow(flow.number, flow)),
            Block::Estimate(estimate) => batch.statements.push(Statement::Estimate(estimate)),
            Block::Sent(sent) => batch.statements.push(Statement::Sent(sent)),
            Block::End => batch.is_end = true,
            Block::Unknown(_) => (),
            Block::Records(records) => {
                if let Err(error) = records.read(columns) {
                    let (position, why) = (before, error.to_string());
                    blocks.tear = Some(TruncationPoint { position, why });
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }

    /// Puts the records of our own log into `batch`.
    pub(super) fn fill(&self, batch: &mut Batch) {
        if let Self::Own(_, columns) = self {
            batch.records.extend(columns.records());
        }
    }

    /// Has `known` take the flows of `batch`, and gives its earliest time; `None` if it has no
    /// records. They are not put anywhere, which would take longer than reading them.
    ///
    /// # Errors
    /// The log has too many flows.
    pub(super) fn survey(&self, batch: &Batch, known: &mut Known) -> Result<Option<u64>> {
        match self {
            Self::Own(_, columns) => known.survey(columns.records()),
            Self::Ditg(_) => known.survey(batch.records.iter().copied()),
        }
    }

    /// Goes back to the first batch. The file stays open, so it is the same one.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn rewind(&mut self) -> Result<()> {
        match self {
            Self::Own(blocks, _) => blocks.rewind(),
            Self::Ditg(log) => log.rewind(),
        }
    }

    /// The size of the file when it was opened, in bytes.
    pub(super) fn length(&self) -> u64 {
        match self {
            Self::Own(blocks, _) => blocks.length,
            Self::Ditg(log) => log.length,
        }
    }

    /// The bytes before the next batch.
    pub(super) fn position(&self) -> u64 {
        match self {
            Self::Own(blocks, _) => blocks.position,
            Self::Ditg(log) => log.position,
        }
    }

    /// The damaged end of the log, if any.
    pub(super) fn take_tear(&mut self) -> Option<TruncationPoint> {
        match self {
            Self::Own(blocks, _) => blocks.tear.take(),
            Self::Ditg(log) => log.tear.take(),
        }
    }

    /// Whether the file is shorter than it was when it was opened.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn was_cut(&self) -> Result<bool> {
        match self {
            Self::Own(blocks, _) => blocks.was_cut(),
            // It has no end of its own, and the second reading misses what was cut.
            Self::Ditg(_) => Ok(false),
        }
    }
}
