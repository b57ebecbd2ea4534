//! The evidence of trials that is read from the journal again.

use std::fs::File;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use anyhow::{Context, Result};
use files::{Folder, line_at};
use plan::{Evidence, EvidenceStore, TrialReader};

use super::LONGEST_LINE;

/// A journal from which evidence is read where a report asks for it. A place is the
/// offset of a line.
#[derive(Debug)]
pub(crate) struct StoredEvidence {
    file: File,
    path: PathBuf,
    /// The readers that no thread uses now.
    readers: Mutex<Vec<TrialReader>>,
    failure: OnceLock<String>,
}

impl StoredEvidence {
    /// The evidence of the journal `name`.
    pub(crate) fn of(folder: &Folder, name: &str) -> Result<Self> {
        let path = folder.path().join(name);
        let file = folder
            .open_file(name)
            .with_context(|| format!("cannot read the journal {}", path.display()))?;
        Ok(Self {
            file,
            path,
            readers: Mutex::default(),
            failure: OnceLock::new(),
        })
    }

    fn line(&self, offset: u64) -> Result<Evidence> {
        let text = line_at(&self.file, offset, LONGEST_LINE)?;
        let readers = || self.readers.lock().unwrap_or_else(PoisonError::into_inner);
        let mut reader = readers().pop().unwrap_or_default();
        let evidence = reader.read_evidence(&text);
        readers().push(reader);
        Ok(evidence?)
    }
}

impl EvidenceStore for StoredEvidence {
    fn read(&self, place: u64) -> Evidence {
        self.line(place).unwrap_or_else(|error| {
            self.failure.get_or_init(|| {
                format!(
                    "{}: byte {place} and those behind it cannot be read again ({error}); the journal was changed meanwhile: ask for the report again",
                    self.path.display()
                )
            });
            Evidence::default()
        })
    }

    fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::journal::Journal;
    use plan::evidence::COMMAND_SENDER;
    use plan::synthetic::{factors, trial};
    use std::fs;

    #[test]
    fn evidence_is_read_at_the_offsets_that_were_given() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("trials.jsonl");
        let folder = Folder::open(folder.path()).unwrap();
        let mut journal = Journal::open(&folder, "trials.jsonl").unwrap();
        let of = |repeat: u32| {
            let mut trial = trial(factors(9000), repeat, &[]);
            let long = "x".repeat(repeat as usize * 5000);
            trial.evidence.insert(COMMAND_SENDER, long);
            trial
        };
        let offsets = [1, 2, 3].map(|repeat| journal.append(&of(repeat)).unwrap());
        let mut read = Vec::new();
        Journal::read(&folder, "trials.jsonl", |_, offset| read.push(offset)).unwrap();
        assert_eq!(read, offsets);
        let stored = StoredEvidence::of(&folder, "trials.jsonl").unwrap();
        for (repeat, offset) in (1..).zip(offsets) {
            assert_eq!(stored.read(offset), of(repeat).evidence);
        }
        assert_eq!(stored.failure(), None);
        fs::write(path, "").unwrap();
        assert_eq!(stored.read(offsets[1]), Evidence::default());
        let failure = stored.failure().unwrap();
        assert!(failure.contains("trials.jsonl: byte "), "{failure}");
    }
}
