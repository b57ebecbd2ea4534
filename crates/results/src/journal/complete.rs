//! The complete lines of a journal, read by several threads where they are many.

use std::io::{self, ErrorKind, Read};
use std::num::NonZero;
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, Builder, Scope};

use anyhow::{Context, Result, anyhow};
use files::{Folder, Lines};
use plan::{Trial, TrialReader};

use super::{LARGEST, LONGEST_LINE, check};

/// The bytes of lines that a thread takes at once. A journal of fewer needs no thread.
const BATCH: usize = 1 << 20;

/// The most threads that read a journal: one that puts trials behind each other cannot
/// keep more of them busy.
const MOST_THREADS: usize = 8;

/// The complete lines of a journal.
#[derive(Default)]
pub(super) struct Complete {
    /// Their number.
    pub(super) trials: usize,
    /// Their bytes.
    pub(super) bytes: u64,
    /// Whether an incomplete line follows: its write was interrupted.
    pub(super) is_torn: bool,
}

impl Complete {
    /// Reads the journal `name` line by line, and hands the trial of each to `take` with the
    /// offset of its line. A line is complete if it ends with a newline; a complete line that
    /// is no valid trial is an error.
    pub(super) fn of(folder: &Folder, name: &str, take: impl FnMut(Trial, u64)) -> Result<Self> {
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
            bytes: BATCH,
            path: &path,
            read: 0,
            is_torn: false,
            has_more: true,
        };
        let first = batches.next()?;
        let threads = match batches.has_more {
            true => thread::available_parallelism().map_or(1, NonZero::get),
            false => 0,
        };
        Self::parsed(first, batches, threads.min(MOST_THREADS), take)
    }

    /// Parses `first` and the batches behind it by `threads` threads; by this one if that
    /// is 0 or no thread can be started.
    fn parsed(
        first: Batch,
        mut batches: Batches<'_, impl Read>,
        threads: usize,
        mut take: impl FnMut(Trial, u64),
    ) -> Result<Self> {
        let path = batches.path;
        let mut complete = Self::default();
        let mut next = Some(first);
        thread::scope(|scope| {
            // In a sandbox no thread can be made.
            let reader = |_| Reader::started(scope, path).ok();
            let readers: Vec<Reader> = (0..threads).map_while(reader).collect();
            let mut own = TrialReader::default();
            // Each thread has one batch at most, so that none waits for room.
            let (mut sent, mut received) = (0, 0);
            while next.is_some() || received < sent {
                if let Some(batch) = next.take() {
                    match readers.is_empty() {
                        true => complete.take(Parsed::of(batch, &mut own, path), &mut take)?,
                        false => {
                            // A thread that has ended panicked; the scope passes that on.
                            let _ = readers[sent % readers.len()].batches.send(batch);
                            sent += 1;
                        }
                    }
                    next = match batches.has_more {
                        true => Some(batches.next()?),
                        false => None,
                    };
                }
                if received < sent && (sent - received == readers.len() || next.is_none()) {
                    if let Ok(parsed) = readers[received % readers.len()].parsed.recv() {
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
        for (trial, bytes) in parsed.trials {
            take(trial, self.bytes);
            self.bytes += bytes as u64;
            self.trials += 1;
        }
        parsed.failure.map_or(Ok(()), Err)
    }
}

/// A thread that parses batches.
struct Reader {
    batches: SyncSender<Batch>,
    parsed: Receiver<Parsed>,
}

impl Reader {
    fn started<'scope>(scope: &'scope Scope<'scope, '_>, path: &'scope Path) -> io::Result<Self> {
        let (batches, given) = sync_channel::<Batch>(1);
        let (done, parsed) = sync_channel(1);
        let work = move || {
            let mut reader = TrialReader::default();
            for batch in given {
                if done.send(Parsed::of(batch, &mut reader, path)).is_err() {
                    break;
                }
            }
        };
        Builder::new().spawn_scoped(scope, work)?;
        Ok(Self { batches, parsed })
    }
}

/// The lines of a journal in batches.
struct Batches<'a, R> {
    lines: Lines<R>,
    /// The least bytes of a batch that is not the last one.
    bytes: usize,
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
    bytes: Vec<u8>,
    /// The end of each line.
    ends: Vec<usize>,
    /// The number of the first line, from 1.
    first: u64,
}

impl<R: Read> Batches<'_, R> {
    fn next(&mut self) -> Result<Batch> {
        let mut batch = Batch {
            first: self.read + 1,
            ..Batch::default()
        };
        while batch.bytes.len() < self.bytes {
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
            batch.bytes.extend_from_slice(line);
            batch.ends.push(batch.bytes.len());
        }
        Ok(batch)
    }
}

/// The trials of a batch.
struct Parsed {
    /// Each with the bytes of its line.
    trials: Vec<(Trial, usize)>,
    /// Why the line behind them is none.
    failure: Option<anyhow::Error>,
}

impl Parsed {
    fn of(batch: Batch, reader: &mut TrialReader, path: &Path) -> Self {
        let mut trials = Vec::with_capacity(batch.ends.len());
        let mut begin = 0;
        for (number, end) in (batch.first..).zip(batch.ends) {
            let line = &batch.bytes[begin..end];
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
        // The only line that the error knows is this one.
        let (column, why) = (error.column(), error.to_string());
        let why = why.split(" at line ").next().unwrap_or_default();
        anyhow!(
            "this line is not a trial (column {column}: {why}); restore it or start anew with -o DIR"
        )
    })?;
    check::finite_and_in_range(&trial)?;
    Ok(trial)
}

fn place(path: &Path, line: u64) -> String {
    format!("{}:{line}", path.display())
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{factors, trial};

    /// The trials of a journal parsed by `threads` threads, with the offsets of their lines.
    fn read(text: &[u8], threads: usize) -> (Vec<(Trial, u64)>, Result<Complete>) {
        let mut batches = Batches {
            lines: Lines::of(text, LONGEST_LINE, LARGEST),
            bytes: 1000,
            path: Path::new("trials.jsonl"),
            read: 0,
            is_torn: false,
            has_more: true,
        };
        let first = batches.next().unwrap();
        let mut trials = Vec::new();
        let take = |trial, offset| trials.push((trial, offset));
        let complete = Complete::parsed(first, batches, threads, take);
        (trials, complete)
    }

    #[test]
    fn any_number_of_threads_reads_the_same() {
        let lines = (1..=100).map(|repeat| trial(factors(9000), repeat, &[("rtt", 1.5)]));
        let mut text = Vec::new();
        for trial in lines {
            text.extend(serde_json::to_vec(&trial).unwrap());
            text.push(b'\n');
        }
        let whole = text.len();
        text.extend(b"{\"id\":");
        let (alone, complete) = read(&text, 0);
        let complete = complete.unwrap();
        assert_eq!((complete.trials, complete.is_torn), (100, true));
        assert_eq!(complete.bytes, whole as u64);
        let repeats = alone.iter().map(|(trial, _)| trial.repeat);
        assert!(repeats.eq(1..=100));
        text.extend(b"}\n");
        let (_, rejected) = read(&text, 0);
        let rejected = format!("{:#}", rejected.err().unwrap());
        assert!(rejected.contains("trials.jsonl:101: "), "{rejected}");
        for threads in [1, 2, 3, 7] {
            let (trials, failed) = read(&text, threads);
            assert_eq!(trials, alone, "{threads} threads");
            assert_eq!(format!("{:#}", failed.err().unwrap()), rejected);
        }
    }
}
