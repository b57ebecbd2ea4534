//! The two readings of a log: of what it states, then of its records by time.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};
use wire::log::{Record, Role};

use super::blocks::TruncationPoint;
use super::horizon::Horizon;
use super::known::{Known, instant};
use super::merger::{Merger, Waiting};
use super::source::{Batch, Source};

/// The complaint about a file that changed.
const CHANGED: &str =
    "it was cut or changed while it was read; these figures are of a part, so decode it again";

/// What becomes of records of round trips that never returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unanswered {
    /// They count, and are no records.
    Count,
    /// They are records at the time of the one before.
    Keep,
}

/// A log that was read once, and is read again.
pub(super) struct Reading {
    name: String,
    source: Source,
    role: Role,
    unanswered: Unanswered,
    horizon: Horizon,
    /// The bytes up to the end of the last whole batch.
    end: u64,
    /// The damaged end of the log, if any.
    tear: Option<TruncationPoint>,
    /// Whether the log has a regular end.
    closed: bool,
    /// The batches of records that were read again.
    done: usize,
    batch: Batch,
    merger: Merger,
}

impl Reading {
    /// Reads the log at `path` for the first time. `watch` receives the bytes read so far and the
    /// total, both counted over both readings.
    ///
    /// # Errors
    /// The file cannot be read, is no log, or has too many flows.
    pub(super) fn begin(
        path: &Path,
        unanswered: Unanswered,
        watch: &mut dyn FnMut(u64, u64),
    ) -> Result<(Self, Known)> {
        let mut source = Source::open(path)?;
        let mut known = Known::default();
        let mut horizon = Horizon::new();
        let mut batch = Batch::default();
        let mut closed = false;
        let mut end = source.position();
        while source.next(&mut batch)? {
            for statement in batch.statements.drain(..) {
                known.take(statement)?;
            }
            closed |= batch.is_end;
            if let Some(earliest) = source.survey(&batch, &mut known)? {
                horizon.push(earliest);
            }
            end = source.position();
            watch(end, 2 * source.length());
        }
        if known.facts.is_none() && source.was_cut()? {
            bail!("it was cut while it was read; decode it again");
        }
        if known.facts.is_none() {
            bail!("no block of this packet log is complete; there is nothing to decode");
        }
        horizon.close();
        let tear = source.take_tear();
        source.rewind()?;
        let reading = Self {
            name: path.display().to_string(),
            role: known.role(),
            unanswered,
            source,
            horizon,
            end,
            tear,
            closed,
            done: 0,
            batch,
            merger: Merger::default(),
        };
        Ok((reading, known))
    }

    /// Reads the next batch again; `false` after the last one.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn next(&mut self, watch: &mut dyn FnMut(u64, u64)) -> Result<bool> {
        if self.source.position() >= self.end || !self.source.next(&mut self.batch)? {
            return Ok(false);
        }
        self.source.fill(&mut self.batch);
        self.done += usize::from(!self.batch.records.is_empty());
        let length = self.source.length();
        watch(length + self.source.position(), 2 * length);
        Ok(true)
    }

    /// The records of the latest batch, in the order of the log.
    pub(super) fn records(&self) -> &[Record] {
        &self.batch.records
    }

    /// Passes on, in the order of time, the records that precede those of all later batches.
    ///
    /// # Errors
    /// Too many records wait, or those of `take`.
    pub(super) fn release(
        &mut self,
        mut take: impl FnMut(u32, Waiting) -> Result<()>,
    ) -> Result<()> {
        if self.merger.is_empty() && self.is_in_order() {
            for record in self.batch.records.drain(..) {
                if let Some(at) = instant(self.role, &record) {
                    take(record.flow, Waiting::of(at, &record))?;
                }
            }
            return Ok(());
        }
        let mut pieces: BTreeMap<u32, Vec<Waiting>> = BTreeMap::new();
        for record in &self.batch.records {
            let at = instant(self.role, record);
            if at.is_none() && self.unanswered == Unanswered::Count {
                continue;
            }
            pieces.entry(record.flow).or_default().push(Waiting {
                is_unanswered: at.is_none(),
                ..Waiting::of(at.unwrap_or(record.sent), record)
            });
        }
        if self.unanswered == Unanswered::Keep {
            pieces
                .values_mut()
                .for_each(|piece| place_unanswered(piece));
        }
        self.batch.records.clear();
        for (flow, records) in pieces {
            self.merger.push(flow, records)?;
        }
        self.merger.release(self.horizon.after(self.done), take)
    }

    /// Whether the latest batch is in the order of time, and precedes all later ones. Most are:
    /// such records need not wait.
    fn is_in_order(&self) -> bool {
        let end = self.horizon.after(self.done).unwrap_or(u64::MAX);
        let mut before = (0, 0);
        self.batch.records.iter().all(|record| {
            let next = instant(self.role, record).map(|at| (at, record.flow));
            next.is_some_and(|next| next >= std::mem::replace(&mut before, next) && next.0 < end)
        })
    }

    /// A description of damage to the file, in one line, and whether it changed while it was
    /// read.
    ///
    /// # Errors
    /// The file cannot be read.
    pub(super) fn complaint(&self) -> Result<(Option<String>, bool)> {
        let name = &self.name;
        // What the second reading lacks was there in the first one.
        let has_changed = self.source.position() < self.end
            || self.done < self.horizon.blocks()
            || self.source.was_cut()?;
        let complaint = match &self.tear {
            _ if has_changed => Some(format!("{name}: {CHANGED}")),
            Some(TruncationPoint { position, why }) => Some(format!(
                "{name}: torn or damaged after {position} bytes ({why}); the last {} are left out",
                self.source.length().saturating_sub(*position)
            )),
            None if !self.closed => Some(format!(
                "{name}: not closed; its writer was stopped or is still running"
            )),
            None => None,
        };
        Ok((complaint, has_changed))
    }

    /// Whether the log has a regular end and no damage.
    pub(super) const fn is_complete(&self) -> bool {
        self.closed && self.tear.is_none()
    }

    /// What the log is, in one line.
    pub(super) fn title(&self, known: &Known) -> String {
        let title = known.title(&self.name);
        match self.is_of_ditg() {
            true => format!("{title}, of D-ITG"),
            false => title,
        }
    }

    /// Whether this is a log of D-ITG, whose definitions count records in the order of the file.
    pub(super) const fn is_of_ditg(&self) -> bool {
        matches!(self.source, Source::Ditg(_))
    }
}

/// Gives round trips that never returned the time of the record before: they were given up then,
/// or later.
fn place_unanswered(piece: &mut [Waiting]) {
    let answered = piece.iter().find(|record| !record.is_unanswered);
    let mut latest = answered.map(|record| record.at);
    for record in piece {
        match record.is_unanswered {
            true => record.at = latest.unwrap_or(record.at),
            false => latest = Some(record.at),
        }
    }
}
