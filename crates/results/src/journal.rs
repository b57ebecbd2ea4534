//! The journal `trials.jsonl`: the authoritative record of a run.
//!
//! Each finished trial is one line, appended and synced before the next trial
//! starts. A line counts once its newline is written, so a crash costs at most
//! the line in progress. Simulated trials can be reproduced exactly and may
//! finish at a rate of a thousand per second; they are synced in groups, five
//! times a second.

mod check;
mod complete;
mod stored;

use std::fmt;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow, bail};
use files::Folder;
use plan::Trial;
use units::{Span, Time};

use complete::Complete;
pub(crate) use stored::StoredEvidence;

/// The maximum length of a line: 16 MiB. A trial with the times of 65 000
/// message sizes takes about 5 MB.
const LONGEST_LINE: u64 = 16 << 20;

/// The maximum size of a journal: 4 GiB, about ten million trials.
const LARGEST: u64 = 4 << 30;

/// A file that a journal appends to.
pub trait Store: Write {
    /// Flushes written data to disk.
    fn sync(&mut self) -> io::Result<()>;

    /// Truncates the file to its first `length` bytes.
    fn cut(&mut self, length: u64) -> io::Result<()>;

    /// What somebody else did to the file, which should have `length` bytes: its lines are
    /// not where they were written, or are gone.
    fn harm(&self, length: u64) -> Option<String>;
}

/// The file of a journal in its folder.
#[derive(Debug)]
pub struct JournalFile {
    file: File,
    folder: Folder,
    name: String,
}

impl Write for JournalFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Store for JournalFile {
    fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()
    }

    fn cut(&mut self, length: u64) -> io::Result<()> {
        self.file.set_len(length)?;
        self.file.sync_data()
    }

    fn harm(&self, length: u64) -> Option<String> {
        if !self.folder.is_in_place() {
            return Some("its folder was removed, renamed or replaced".to_owned());
        }
        if !self.folder.is_still(&self.name, &self.file) {
            return Some("it was removed, renamed or replaced".to_owned());
        }
        // A size that cannot be read is an error of the next write.
        let size = self.file.metadata().map_or(length, |found| found.len());
        match size {
            size if size < length => Some(format!("it was cut to {size} of {length} bytes")),
            size if size > length => Some("another program wrote to it".to_owned()),
            _ => None,
        }
    }
}

/// The error that somebody removed, replaced or changed a journal during a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost(pub(crate) String);

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Lost {}

/// An open journal, positioned at its end.
#[derive(Debug)]
pub struct Journal<S = JournalFile> {
    store: S,
    path: PathBuf,
    /// The number of bytes in complete lines.
    whole: u64,
    /// The number of trials in these lines.
    kept: usize,
    /// The time of the first write since the last sync; `None`: all synced.
    unsynced_since: Option<Time>,
}

/// The maximum time before a reproducible trial is synced.
const GROUP: Span = Span::from_millis(200);

impl Journal {
    /// Opens or creates the journal `name` and checks its complete lines. An
    /// incomplete last line is cut off.
    pub fn open(folder: &Folder, name: &str) -> Result<Self> {
        let path = folder.path().join(name);
        let open = || {
            Ok::<_, io::Error>(JournalFile {
                file: folder.append(name)?,
                folder: folder.try_clone()?,
                name: name.to_owned(),
            })
        };
        let mut file = open().with_context(|| {
            format!(
                "cannot write the journal {}; make it writable or choose -o DIR",
                path.display()
            )
        })?;
        let lines = Complete::of(folder, name, |_, _| ())?;
        if lines.is_torn {
            file.cut(lines.bytes).with_context(|| {
                format!(
                    "cannot cut off the incomplete last line of {}; make room or make it writable",
                    path.display()
                )
            })?;
        }
        Ok(Self::at_end(file, &path, lines.bytes, lines.trials))
    }

    /// Reads the complete lines of the journal `name` without changing it, and
    /// hands the trial of each to `take`, with the offset of its line. A missing journal
    /// is empty.
    pub fn read(folder: &Folder, name: &str, take: impl FnMut(Trial, u64)) -> Result<()> {
        Complete::of(folder, name, take).map(drop)
    }
}

impl<S: Store> Journal<S> {
    /// A journal on `store`, which holds `kept` trials in `whole` bytes.
    fn at_end(store: S, path: &Path, whole: u64, kept: usize) -> Self {
        Self {
            store,
            path: path.to_owned(),
            whole,
            kept,
            unsynced_since: None,
        }
    }

    /// Appends a trial durably: it survives a crash once this returns. Returns the
    /// offset of its line. On failure the journal is unchanged.
    pub fn append(&mut self, trial: &Trial) -> Result<u64> {
        self.write(trial, true)
    }

    /// Appends a reproducible trial. It survives a crash of this program at
    /// once, and a crash of the machine after at most 200 ms. `now` must come
    /// from the same clock in every call. Returns the offset of its line.
    pub fn append_soon(&mut self, trial: &Trial, now: Time) -> Result<u64> {
        let since = *self.unsynced_since.get_or_insert(now);
        let due = now.since(since).is_none_or(|span| span >= GROUP);
        let offset = self.write(trial, due)?;
        if due {
            self.unsynced_since = None;
        }
        Ok(offset)
    }

    /// Checks that all lines are where they were written.
    ///
    /// # Errors
    /// They are not: [`Lost`].
    pub fn check(&self) -> Result<()> {
        match self.store.harm(self.whole) {
            None => Ok(()),
            Some(harm) => {
                Err(Lost(format!("{}: {harm} during the run", self.path.display())).into())
            }
        }
    }

    /// Flushes appended trials to disk.
    ///
    /// # Errors
    /// They cannot be written, or as [`Journal::check`].
    pub fn sync(&mut self) -> Result<()> {
        self.check()?;
        if self.unsynced_since.take().is_none() {
            return Ok(());
        }
        self.store.sync().with_context(|| {
            format!(
                "cannot write the last trials in {} to disk; repair it and continue with --resume",
                self.path.display()
            )
        })
    }

    fn write(&mut self, trial: &Trial, sync: bool) -> Result<u64> {
        if let Some((name, value)) = trial.metrics.iter().find(|(_, value)| !value.is_finite()) {
            bail!(
                "trial {} has {name} = {value}, which is not a finite number: report this as a bug",
                trial.id
            );
        }
        let mut line = serde_json::to_vec(trial)
            .with_context(|| format!("trial {} cannot be written as JSON", trial.id))?;
        line.push(b'\n');
        self.check()?;
        let written = self.store.write_all(&line);
        let written = written.and_then(|()| if sync { self.store.sync() } else { Ok(()) });
        if let Err(error) = written {
            // If this cut fails as well, the next `open` repeats it.
            let _ = self.store.cut(self.whole);
            return Err(self.lost(trial, error));
        }
        let offset = self.whole;
        self.whole += line.len() as u64;
        self.kept += 1;
        Ok(offset)
    }

    /// The error message for a trial that could not be appended.
    fn lost(&self, trial: &Trial, error: io::Error) -> anyhow::Error {
        let (what, remedy) = match error.kind() {
            ErrorKind::StorageFull => ("the disk is full".to_owned(), "make room"),
            ErrorKind::FileTooLarge => (
                "the limit of a file's size is reached".to_owned(),
                "raise it (ulimit -f)",
            ),
            ErrorKind::QuotaExceeded => ("the disk quota is used up".to_owned(), "make room"),
            _ => (error.to_string(), "repair the disk"),
        };
        anyhow!(
            "cannot write trial {} to {}: {what} ({} finished trials are kept); {remedy}",
            trial.id,
            self.path.display(),
            self.kept
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::evidence::CONGESTION;
    use plan::synthetic::{factors, trial};
    use proptest::prelude::*;
    use std::fs;

    const NAME: &str = "trials.jsonl";

    fn example(repeat: u32) -> Trial {
        let mut trial = trial(factors(9000), repeat, &[("throughput", 938.88)]);
        trial.flags.push("disturbed".into());
        trial
            .evidence
            .insert(CONGESTION, "cubic \"\n\u{1F980}".to_owned());
        trial
    }

    fn read(folder: &Folder, name: &str) -> Result<Vec<Trial>> {
        let mut trials = Vec::new();
        Journal::read(folder, name, |trial, _| trials.push(trial))?;
        Ok(trials)
    }

    fn written(count: u32) -> Vec<u8> {
        let lines = (1..=count).map(|repeat| serde_json::to_string(&example(repeat)).unwrap());
        lines.flat_map(|line| (line + "\n").into_bytes()).collect()
    }

    #[test]
    fn what_is_appended_reads_back_and_is_gone_on_from() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::open(folder.path()).unwrap();
        let mut journal = Journal::open(&folder, NAME).unwrap();
        journal.append(&example(1)).unwrap();
        drop(journal);
        let mut journal = Journal::open(&folder, NAME).unwrap();
        assert_eq!(read(&folder, NAME).unwrap(), [example(1)]);
        journal.append(&example(2)).unwrap();
        assert_eq!(read(&folder, NAME).unwrap(), [example(1), example(2)]);
        assert_eq!(
            read(&folder, "none").unwrap(),
            [],
            "a journal that was never begun is empty"
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn a_file_cut_anywhere_loses_the_torn_line_at_most(share in any::<prop::sample::Index>()) {
            let text = written(5);
            let cut = share.index(text.len() + 1);
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join(NAME);
            fs::write(&path, &text[..cut]).unwrap();
            let folder = Folder::open(folder.path()).unwrap();
            let whole = text[..cut].iter().filter(|&&byte| byte == b'\n').count();

            prop_assert_eq!(read(&folder, NAME).unwrap().len(), whole);
            prop_assert_eq!(fs::read(&path).unwrap().len(), cut, "reading cuts nothing");
            let mut journal = Journal::open(&folder, NAME).unwrap();
            prop_assert_eq!(journal.kept, whole);
            prop_assert_eq!(read(&folder, NAME).unwrap().len(), whole);
            journal.append(&example(9)).unwrap();
            let after = read(&folder, NAME).unwrap();
            prop_assert_eq!(after.len(), whole + 1);
            prop_assert_eq!(after.last(), Some(&example(9)));
        }
    }

    /// The rejection of a journal with `text`, by reading and by opening it.
    fn rejected(text: &[u8]) -> String {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        fs::write(&path, text).unwrap();
        let folder = Folder::open(folder.path()).unwrap();
        let read = format!("{:#}", read(&folder, NAME).unwrap_err());
        let opened = format!("{:#}", Journal::open(&folder, NAME).unwrap_err());
        assert_eq!(read, opened);
        assert!(!read.contains('\n'), "{read}");
        assert_eq!(fs::read(&path).unwrap(), text, "nothing is mended silently");
        read
    }

    #[test]
    fn a_damaged_whole_line_is_an_error_wherever_it_is() {
        let mut text = written(2);
        text.extend(b"{\"id\": \0\0\0\n");
        assert!(rejected(&text).contains("trials.jsonl:3: "));
        text.extend(written(1));
        assert!(rejected(&text).contains("trials.jsonl:3: "));
        // One byte of the last line.
        let mut text = written(2);
        let last = text.len() - 2;
        text[last] ^= 1;
        let error = rejected(&text);
        assert!(
            error.contains("trials.jsonl:2: this line is not"),
            "{error}"
        );
    }

    #[test]
    fn a_number_that_no_trial_has_is_an_error_with_line_and_key() {
        let mut bad = example(2);
        bad.metrics.insert("rtt", 1e100);
        let mut text = written(1);
        text.extend(serde_json::to_vec(&bad).unwrap());
        text.push(b'\n');
        let error = rejected(&text);
        assert!(error.contains("trials.jsonl:2: rtt = 1e100"), "{error}");
    }

    #[test]
    fn a_line_without_end_is_rejected_with_its_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let mut text = written(1);
        text.resize(text.len() + (17 << 20), b' ');
        fs::write(path, text).unwrap();
        let folder = Folder::open(folder.path()).unwrap();
        let error = format!("{:#}", read(&folder, NAME).unwrap_err());
        assert!(
            error.contains("trials.jsonl:2: the line is longer than 16 MiB"),
            "{error}"
        );
    }

    #[test]
    fn figures_that_are_no_numbers_never_reach_the_journal() {
        let folder = tempfile::tempdir().unwrap();
        let folder = Folder::open(folder.path()).unwrap();
        let mut journal = Journal::open(&folder, NAME).unwrap();
        let bad = trial(factors(9000), 1, &[("rtt", f64::NAN)]);
        let error = journal.append(&bad).unwrap_err().to_string();
        assert!(error.contains("rtt = NaN"), "{error}");
    }

    /// A disk with limited space, in bytes.
    #[derive(Default)]
    struct Disk {
        bytes: Vec<u8>,
        room: usize,
        /// The size at each sync.
        synced: Vec<usize>,
    }

    impl Write for Disk {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let fits = bytes.len().min(self.room - self.bytes.len());
            self.bytes.extend(&bytes[..fits]);
            if fits == 0 {
                return Err(ErrorKind::StorageFull.into());
            }
            Ok(fits)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    impl Store for Disk {
        fn sync(&mut self) -> io::Result<()> {
            self.synced.push(self.bytes.len());
            Ok(())
        }

        fn cut(&mut self, length: u64) -> io::Result<()> {
            self.bytes.truncate(usize::try_from(length).unwrap());
            Ok(())
        }

        fn harm(&self, length: u64) -> Option<String> {
            (self.bytes.len() as u64 != length).then(|| "it was changed".to_owned())
        }
    }

    #[test]
    fn trials_that_can_be_made_again_are_synced_five_times_a_second_and_at_the_end() {
        let disk = Disk {
            room: usize::MAX,
            ..Disk::default()
        };
        let mut journal = Journal::at_end(disk, Path::new("results/x/trials.jsonl"), 0, 0);
        for (repeat, millis) in (1..).zip([0, 10, 199, 200, 250, 449, 450, 451]) {
            let now = Time::ZERO + Span::from_millis(millis);
            journal.append_soon(&example(repeat), now).unwrap();
        }
        // The syncs at 200 and 450 ms; later trials are not synced yet.
        assert_eq!(journal.store.synced, [written(4).len(), written(7).len()]);
        assert_eq!(journal.store.bytes, written(8), "all survives this program");
        journal.sync().unwrap();
        journal.sync().unwrap();
        assert_eq!(journal.store.synced.len(), 3, "once");
        assert_eq!(journal.store.synced.last(), Some(&written(8).len()));
    }

    #[test]
    fn a_full_disk_keeps_what_is_finished_and_says_how_to_go_on() {
        let disk = Disk {
            room: written(2).len() + 40,
            ..Disk::default()
        };
        let mut journal = Journal::at_end(disk, Path::new("results/x/trials.jsonl"), 0, 0);
        journal.append(&example(1)).unwrap();
        journal.append(&example(2)).unwrap();
        let error = journal.append(&example(3)).unwrap_err().to_string();
        for part in [
            "the disk is full",
            "(2 finished trials are kept); make room",
            "results/x",
        ] {
            assert!(error.contains(part), "{error}");
        }
        assert!(!error.contains('\n'));
        assert_eq!(journal.store.bytes, written(2));
        // Appending works again once there is room.
        journal.store.room = usize::MAX;
        journal.append(&example(3)).unwrap();
        assert_eq!(journal.store.bytes, written(3));
    }
}
