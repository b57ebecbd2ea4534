//! What became of every frame on an emulated link, as a CSV file that a
//! simulator can replay (docs/formats.md).

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use proto::link::{Event, Fate};

/// The columns.
const HEADER: &str = "arrival_ps,left_ps,way,size,flow,fate\n";

/// Octets that are gathered before they are written.
const BUFFER: usize = 1 << 18;

/// The folder of a run's recordings, in its results folder.
const FOLDER: &str = "recordings";

/// A recording that is being made.
pub struct Recording {
    /// What messages call it.
    place: String,
    path: PathBuf,
    file: BufWriter<File>,
}

/// Where the recordings of one trial go.
#[derive(Clone, Copy, Debug)]
pub struct Shelf<'a> {
    /// The results folder.
    pub results: &'a Path,
    /// The trial's name within the plan.
    pub trial: &'a str,
}

impl Shelf<'_> {
    /// A name that is not taken for the recording of `link`, below the results
    /// folder: a trial that was broken off may have left one.
    pub(crate) fn name(&self, link: &str) -> PathBuf {
        let plain = format!("{}-{link}", self.trial);
        let later = (2..).map(|number| format!("{plain}-{number}"));
        std::iter::once(plain.clone())
            .chain(later)
            .map(|name| Path::new(FOLDER).join(format!("{name}.csv")))
            .find(|name| !self.results.join(name).exists())
            .expect("numbers do not end")
    }
}

impl Recording {
    /// Begins a recording.
    ///
    /// # Errors
    /// Where a file of this name is there already, or cannot be made.
    pub fn create(path: &Path) -> Result<Self> {
        let place = format!("--record {}", path.display());
        // A pipe or a device holds nothing that could be lost.
        if fs::metadata(path).is_ok_and(|there| there.is_file()) {
            bail!("{place}: this file is there already; give another name, or remove it");
        }
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(path)
            .with_context(|| place.clone())?;
        Self::begin(path, place, file)
    }

    /// Begins the recording of a trial, whose folder is made if it is not there.
    ///
    /// # Errors
    /// As [`Recording::create`].
    pub(crate) fn of_trial(path: &Path) -> Result<Self> {
        let place = path.display().to_string();
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).with_context(|| place.clone())?;
        }
        let file = File::create_new(path).with_context(|| place.clone())?;
        Self::begin(path, place, file)
    }

    fn begin(path: &Path, place: String, file: File) -> Result<Self> {
        let mut recording = Self {
            place,
            path: path.to_owned(),
            file: BufWriter::with_capacity(BUFFER, file),
        };
        recording.file.write_all(HEADER.as_bytes())?;
        Ok(recording)
    }

    /// Appends events, each with its way: 0 there, 1 back.
    ///
    /// # Errors
    /// Where the file cannot be written, e.g. because the disk is full.
    pub fn write(&mut self, events: &[(usize, usize, Event)]) -> Result<()> {
        let mut line = |&(_, way, event): &(usize, usize, Event)| {
            let (arrival, left) = (event.arrival.as_picos(), event.at.as_picos());
            let Event {
                size, flow, fate, ..
            } = event;
            writeln!(
                self.file,
                "{arrival},{left},{way},{size},{flow},{}",
                word(fate)
            )
        };
        events
            .iter()
            .try_for_each(&mut line)
            .with_context(|| self.place.clone())
    }

    /// Writes what is left.
    ///
    /// # Errors
    /// As [`Recording::write`].
    pub fn finish(mut self) -> Result<()> {
        self.file.flush().with_context(|| self.place.clone())
    }

    /// Writes what is left and returns when all of it, the file's name
    /// included, survives a crash.
    ///
    /// # Errors
    /// As [`Recording::write`].
    pub(crate) fn finish_on_disk(mut self) -> Result<()> {
        self.sync().with_context(|| self.place.clone())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        // The folder holds the name of the file, and its own folder its name.
        let mut folders = self.path.ancestors().skip(1).take(2);
        folders.try_for_each(|folder| File::open(folder)?.sync_all())
    }
}

const fn word(fate: Fate) -> &'static str {
    match fate {
        Fate::Delivered => "delivered",
        Fate::Duplicated => "duplicated",
        Fate::Dropped => "dropped",
        Fate::Lost => "lost",
        Fate::Damaged => "damaged",
        Fate::TooBig => "too-big",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Time;

    fn event(fate: Fate) -> Event {
        Event {
            arrival: Time::from_picos(5),
            at: Time::from_picos(1_000_000),
            size: 1518,
            flow: u64::MAX,
            fate,
            reason: None,
            marked: false,
        }
    }

    #[test]
    fn every_event_is_a_line_and_no_file_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.csv");
        let mut recording = Recording::create(&path).unwrap();
        let events: Vec<_> = Fate::ALL.map(|fate| (0, 1, event(fate))).into();
        recording.write(&events).unwrap();
        recording.finish().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 1 + Fate::ALL.len());
        assert_eq!(
            text.lines().nth(6),
            Some("5,1000000,1,1518,18446744073709551615,too-big")
        );
        let refusal = Recording::create(&path).err().unwrap().to_string();
        assert!(
            refusal.contains("r.csv: this file is there already"),
            "{refusal}"
        );
    }

    #[test]
    fn a_full_disk_is_an_error_with_the_files_name() {
        let mut recording = Recording::create(Path::new("/dev/full")).unwrap();
        recording.write(&[(0, 0, event(Fate::Lost))]).unwrap();
        let error = format!("{:#}", recording.finish().unwrap_err());
        assert!(
            error.contains("--record /dev/full: No space left"),
            "{error}"
        );
    }
}
