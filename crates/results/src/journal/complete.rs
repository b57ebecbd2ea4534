//! The complete lines of a journal, read by several threads where they are many.

use std::io::ErrorKind;
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::sync_channel;
use std::thread;

use anyhow::{Context, Result, anyhow};
use files::{Folder, Lines};
use plan::{Trial, TrialReader};

use super::{LARGEST, LONGEST_LINE, check};

/// The octets of lines that a thread takes at once. A journal of fewer needs no thread.
const BATCH: usize = 1 << 20;

/// The most threads that read a journal: one that puts trials behind each other cannot
/// keep more of them busy.
const MOST_THREADS: usize = 8;

/// The complete lines of a journal.
#[derive(Default)]
pub(super) struct Complete {
    /// Their number.
    pub(super) trials: usize,
    /// Their octets.
    pub(super) octets: u64,
    /// Whether an incomplete line follows: its write was interrupted.
    pub(super) is_torn: bool,
}

impl Complete {
    /// Reads the journal `name` line by line, and hands the trial of each to `take` with the
    /// offset of its line. A line is complete if it ends with a newline; a complete line that
    /// is no valid trial is an error.
    pub(super) fn of(
        folder: &Folder,
        name: &str,
        mut take: impl FnMut(Trial, u64),
    ) -> Result<Self> {
        let path = folder.path().join(name);
        let file = match folder.open_file(name) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Self::default()),
            file => file.with_context(|| {
                format!(
                    "cannot read the journal {}; make it readable",
                    path.display()
                )
            })?,
        };
        let mut batches = Batches {
            lines: Lines::of(file, LONGEST_LINE, LARGEST),
            path: &path,
            read: 0,
            is_torn: false,
            has_more: true,
        };
        let mut complete = Self::default();
        let first = batches.next()?;
        if !batches.has_more {
            complete.take(
                Parsed::of(first, &mut TrialReader::default(), &path),
                &mut take,
            )?;
            complete.is_torn = batches.is_torn;
            return Ok(complete);
        }
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        let threads = threads.min(MOST_THREADS);
        thread::scope(|scope| {
            let readers: Vec<_> = (0..threads)
                .map(|_| {
                    let (sender, given) = sync_channel::<Batch>(1);
                    let (done, receiver) = sync_channel(1);
                    let path = &path;
                    scope.spawn(move || {
                        let mut reader = TrialReader::default();
                        for batch in given {
                            if done.send(Parsed::of(batch, &mut reader, path)).is_err() {
                                break;
                            }
                        }
                    });
                    (sender, receiver)
                })
                .collect();
            // Each thread has one batch at most, so that none waits for room.
            let (mut sent, mut received) = (0, 0);
            let mut next = Some(first);
            while next.is_some() || received < sent {
                if let Some(batch) = next.take() {
                    // A thread that has ended panicked; the scope passes that on.
                    let _ = readers[sent % threads].0.send(batch);
                    sent += 1;
                    next = match batches.has_more {
                        true => Some(batches.next()?),
                        false => None,
                    };
                }
                if sent - received == threads || next.is_none() {
                    if let Ok(parsed) = readers[received % threads].1.recv() {
                        complete.take(parsed, &mut take)?;
                    }
                    received += 1;
                }
            }
            Ok::<_, anyhow::Error>(())
        })?;
        complete.is_torn = batches.is_torn;
        Ok(complete)
    }

    /// Hands on the trials of a batch.
    fn take(&mut self, parsed: Parsed, take: &mut impl FnMut(Trial, u64)) -> Result<()> {
        for (trial, octets) in parsed.trials {
            take(trial, self.octets);
            self.octets += octets as u64;
            self.trials += 1;
        }
        parsed.failure.map_or(Ok(()), Err)
    }
}

/// The lines of a journal in batches.
struct Batches<'a, R> {
    lines: Lines<R>,
    path: &'a Path,
    /// The number of lines read.
    read: u64,
    is_torn: bool,
    /// Whether there may be another line.
    has_more: bool,
}

/// Some complete lines.
#[derive(Default)]
struct Batch {
    octets: Vec<u8>,
    /// The end of each line.
    ends: Vec<usize>,
    /// The number of the first line, from 1.
    first: u64,
}

impl<R: std::io::Read> Batches<'_, R> {
    fn next(&mut self) -> Result<Batch> {
        let mut batch = Batch {
            first: self.read + 1,
            ..Batch::default()
        };
        while batch.octets.len() < BATCH {
            let Some(line) = self.lines.next() else {
                self.has_more = false;
                break;
            };
            self.read += 1;
            let line = line.with_context(|| place(self.path, self.read))?;
            if line.last() != Some(&b'\n') {
                (self.is_torn, self.has_more) = (true, false);
                break;
            }
            batch.octets.extend_from_slice(line);
            batch.ends.push(batch.octets.len());
        }
        Ok(batch)
    }
}

/// The trials of a batch.
struct Parsed {
    /// Each with the octets of its line.
    trials: Vec<(Trial, usize)>,
    /// Why the line behind them is none.
    failure: Option<anyhow::Error>,
}

impl Parsed {
    fn of(batch: Batch, reader: &mut TrialReader, path: &Path) -> Self {
        let mut trials = Vec::with_capacity(batch.ends.len());
        let mut begin = 0;
        for (number, end) in (batch.first..).zip(batch.ends) {
            let line = &batch.octets[begin..end];
            match parse(reader, &line[..line.len() - 1]) {
                Ok(trial) => trials.push((trial, line.len())),
                Err(error) => {
                    let failure = Some(error.context(place(path, number)));
                    return Self { trials, failure };
                }
            }
            begin = end;
        }
        Self {
            trials,
            failure: None,
        }
    }
}

/// The trial of a line.
fn parse(reader: &mut TrialReader, line: &[u8]) -> Result<Trial> {
    if let Ok(trial) = reader.read(line)
        && check::is_in_range(&trial)
    {
        return Ok(trial);
    }
    // The slow way says what is wrong.
    let trial: Trial = serde_json::from_slice(line).map_err(|error| {
        anyhow!("this line is not a trial ({error}); restore it or start anew with -o DIR")
    })?;
    check::finite_and_in_range(&trial)?;
    Ok(trial)
}

fn place(path: &Path, line: u64) -> String {
    format!("{}:{line}", path.display())
}
