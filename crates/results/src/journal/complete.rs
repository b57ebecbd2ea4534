//! The complete lines of a journal, read by several threads where they are many.

use std::io::{ErrorKind, Read};
use std::iter;
use std::num::NonZero;
use std::panic::resume_unwind;
use std::path::Path;
use std::thread::{self, Builder};

use anyhow::{Context, Result};
use files::{Folder, Lines};
use plan::Trial;

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
        let batches = Batches::of(file, BATCH, &path);
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        Self::parsed(batches, threads.min(MOST_THREADS), take)
    }

    /// Parses `batches`, so many at once as there are `threads`.
    fn parsed(
        mut batches: Batches<'_, impl Read>,
        threads: usize,
        mut take: impl FnMut(Trial, u64),
    ) -> Result<Self> {
        let path = batches.path;
        let mut complete = Self::default();
        while batches.has_more {
            let mut some = vec![batches.next()?];
            while batches.has_more && some.len() < threads {
                some.push(batches.next()?);
            }
            for parsed in at_once(&some, |batch| Parsed::of(batch, path)) {
                complete.take(parsed, &mut take)?;
            }
        }
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

/// The results of `work` for each of `all`, each by a thread of its own; the first one by
/// this thread.
fn at_once<T: Sync, R: Send>(all: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let Some((own, others)) = all.split_first() else {
        return Vec::new();
    };
    let work = &work;
    thread::scope(|scope| {
        // In a sandbox no thread can be made.
        let start = |one| {
            Builder::new()
                .spawn_scoped(scope, move || work(one))
                .map_err(|_| one)
        };
        let started: Vec<_> = others.iter().map(start).collect();
        let own = work(own);
        let done = started.into_iter().map(|started| match started {
            Ok(thread) => thread.join().unwrap_or_else(|why| resume_unwind(why)),
            Err(one) => work(one),
        });
        iter::once(own).chain(done).collect()
    })
}

/// The lines of a journal in batches.
struct Batches<'a, R> {
    lines: Lines<R>,
    /// The least octets of a batch that is not the last one.
    octets: usize,
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

impl<'a, R: Read> Batches<'a, R> {
    fn of(journal: R, octets: usize, path: &'a Path) -> Self {
        Self {
            lines: Lines::of(journal, LONGEST_LINE, LARGEST),
            octets,
            path,
            read: 0,
            is_torn: false,
            has_more: true,
        }
    }

    fn next(&mut self) -> Result<Batch> {
        let mut batch = Batch {
            first: self.read + 1,
            ..Batch::default()
        };
        while batch.octets.len() < self.octets {
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
    fn of(batch: &Batch, path: &Path) -> Self {
        let mut trials = Vec::with_capacity(batch.ends.len());
        let mut begin = 0;
        for (number, end) in (batch.first..).zip(&batch.ends) {
            let line = &batch.octets[begin..*end];
            match parse(&line[..line.len() - 1]) {
                Ok(trial) => trials.push((trial, line.len())),
                Err(error) => {
                    let failure = Some(error.context(place(path, number)));
                    return Self { trials, failure };
                }
            }
            begin = *end;
        }
        Self {
            trials,
            failure: None,
        }
    }
}

/// The trial of a line.
fn parse(line: &[u8]) -> Result<Trial> {
    let trial = serde_json::from_slice(line).map_err(check::not_a_trial)?;
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
        let batches = Batches::of(text, 1000, Path::new("trials.jsonl"));
        let mut trials = Vec::new();
        let take = |trial, offset| trials.push((trial, offset));
        let complete = Complete::parsed(batches, threads, take);
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
        let (alone, complete) = read(&text, 1);
        let complete = complete.unwrap();
        assert_eq!((complete.trials, complete.is_torn), (100, true));
        assert_eq!(complete.octets, whole as u64);
        let repeats = alone.iter().map(|(trial, _)| trial.repeat);
        assert!(repeats.eq(1..=100));
        text.extend(b"}\n");
        let (_, refused) = read(&text, 1);
        let refused = format!("{:#}", refused.err().unwrap());
        assert!(refused.contains("trials.jsonl:101: "), "{refused}");
        for threads in [2, 3, 7] {
            let (trials, failed) = read(&text, threads);
            assert_eq!(trials, alone, "{threads} threads");
            assert_eq!(format!("{:#}", failed.err().unwrap()), refused);
        }
    }
}
