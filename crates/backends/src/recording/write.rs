//! The writing of recordings.

use std::fs::File;
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, anyhow};
use link::{Arrival, Event, Header, Reseed};
use units::Time;

use super::{
    ArtifactDir, CHANCE, COLUMNS, END, FORMAT, FirstLine, Heading, MAGIC, WAITING, reason, word,
};

/// Size of the write buffer in bytes.
const BUFFER: usize = 1 << 18;

/// The folder of recordings in a results folder.
const FOLDER: &str = "recordings";

/// A recording that is being written.
pub struct Recording {
    /// The name of the file in error messages.
    place: String,
    path: PathBuf,
    file: BufWriter<File>,
    origin: Time,
    /// The written restarts of the random streams, by direction.
    reseeds: [usize; 2],
}

impl Heading {
    /// The origin of a record that began at `begun`, so that all `arrivals` lie behind
    /// it. A driver may read packets late: the kernel stamped them before the record
    /// began, but they are in it, and took random numbers.
    pub(crate) fn origin_of(begun: Time, arrivals: impl Iterator<Item = Time>) -> Time {
        arrivals.fold(begun, Time::min)
    }
}

impl ArtifactDir<'_> {
    /// An unused name for the recording of `link`, relative to the results
    /// folder. An aborted trial may have left a recording.
    ///
    /// # Errors
    /// The folder of recordings cannot be created.
    pub(crate) fn name(&self, link: &str) -> Result<PathBuf> {
        let plain = format!("{}-{link}", self.trial);
        Ok(Path::new(FOLDER).join(self.unused(FOLDER, &plain, "csv")?))
    }

    /// An unused name `PLAIN.KIND`, `PLAIN-2.KIND` and so on in `folder` of the
    /// results folder: an aborted trial may have left files.
    ///
    /// # Errors
    /// The folder cannot be created.
    pub(crate) fn unused(&self, folder: &str, plain: &str, kind: &str) -> Result<String> {
        let folder = self.folder(folder)?;
        let first = std::iter::once(format!("{plain}.{kind}"));
        let later = (2u64..).map(|number| format!("{plain}-{number}.{kind}"));
        let mut names = first.chain(later);
        let unused = names.find(|name| !folder.holds(name));
        unused.context("no unused name for a file of a trial")
    }
}

impl Recording {
    /// Creates a recording.
    ///
    /// # Errors
    /// The file exists or cannot be created.
    pub fn create(path: &Path, heading: &Heading) -> Result<Self> {
        let place = format!("--record {}", path.display());
        let file = files::open_sink(path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                anyhow!("{place}: this file exists already; give another name or remove it")
            }
            _ => anyhow::Error::from(error).context(place.clone()),
        })?;
        Self::begin(path, place, file, heading)
    }

    /// Creates the recording of a trial in its folder, which
    /// [`ArtifactDir::name`] has created.
    ///
    /// # Errors
    /// As [`Recording::create`].
    pub(crate) fn of_trial(path: &Path, heading: &Heading) -> Result<Self> {
        let place = path.display().to_string();
        let file = files::create_new(path).with_context(|| place.clone())?;
        Self::begin(path, place, file, heading)
    }

    fn begin(path: &Path, place: String, file: File, heading: &Heading) -> Result<Self> {
        let mut recording = Self {
            place,
            path: path.to_owned(),
            file: BufWriter::with_capacity(BUFFER, file),
            origin: heading.origin,
            reseeds: [0; 2],
        };
        let first = FirstLine {
            format: FORMAT,
            origin_ps: heading.origin.as_picos(),
            directions: heading.directions.clone(),
        };
        let first = serde_json::to_string(&first)?;
        writeln!(recording.file, "{MAGIC}{first}\n{COLUMNS}")?;
        recording.write_reseeds(&heading.reseeds)?;
        // Whatever ends the program, what is there can be replayed.
        let flushed = recording.file.flush();
        flushed.with_context(|| recording.place.clone())?;
        Ok(recording)
    }

    /// Appends events, each with its direction: 0 forward, 1 reverse. Events
    /// of packets that arrived before the recording started are omitted.
    ///
    /// # Errors
    /// The file cannot be written, for example because the disk is full.
    pub fn write(&mut self, events: &[(usize, usize, Event)]) -> Result<()> {
        let origin = self.origin;
        let known = events
            .iter()
            .filter_map(|&(_, direction, event)| Some((direction, event.since(origin)?)));
        for (direction, event) in known {
            let arrival = Arrival {
                at: event.arrival,
                size: event.size,
                flow: event.flow,
                header: event.header,
            };
            let left = event.at.as_picos().to_string();
            let why = event.reason.map_or("", reason);
            self.line(
                direction,
                &arrival,
                &left,
                [word(event.outcome), why],
                event.marked,
            )
            .with_context(|| self.place.clone())?;
        }
        Ok(())
    }

    /// Appends the final state: for each direction, the waiting packets and the
    /// later restarts of the random streams.
    ///
    /// # Errors
    /// As [`Recording::write`].
    pub fn conclude(
        &mut self,
        waiting: &[Vec<Arrival>; 2],
        reseeds: &[Vec<Reseed>; 2],
    ) -> Result<()> {
        let origin = self.origin;
        let since = |at: Time| at.since(origin).map(|span| Time::ZERO + span);
        for (direction, waiting) in waiting.iter().enumerate() {
            for arrival in waiting {
                let Some(at) = since(arrival.at) else {
                    continue;
                };
                let served = since(arrival.header.served).unwrap_or_default();
                let header = Header {
                    served,
                    ..arrival.header
                };
                let arrival = Arrival {
                    at,
                    header,
                    ..*arrival
                };
                self.line(direction, &arrival, "", [WAITING, ""], false)
                    .with_context(|| self.place.clone())?;
            }
        }
        self.write_reseeds(reseeds)?;
        writeln!(self.file, "{END}").with_context(|| self.place.clone())
    }

    /// Appends the restarts of the random streams that are not yet written.
    fn write_reseeds(&mut self, reseeds: &[Vec<Reseed>; 2]) -> Result<()> {
        for (direction, reseeds) in reseeds.iter().enumerate() {
            for Reseed { after, at, seed } in reseeds.iter().skip(self.reseeds[direction]) {
                let at = at.since(self.origin).unwrap_or_default().as_picos();
                writeln!(self.file, "{CHANCE}{direction} {after} {at} {}", seed.get())
                    .with_context(|| self.place.clone())?;
            }
            self.reseeds[direction] = reseeds.len();
        }
        Ok(())
    }

    fn line(
        &mut self,
        direction: usize,
        arrival: &Arrival,
        left: &str,
        [outcome, reason]: [&str; 2],
        marked: bool,
    ) -> io::Result<()> {
        let Arrival {
            at,
            size,
            flow,
            header,
        } = arrival;
        let Header {
            number,
            served,
            class,
            precedence,
            markable,
            tags,
            live,
        } = header;
        // Usually the driver was not ahead, and the value is omitted.
        let ahead = (served > at).then(|| served.as_picos().to_string());
        writeln!(
            self.file,
            "{},{left},{direction},{size},{flow},{outcome},{number},{reason},{},{class},{precedence},{},{tags},{live},{}",
            at.as_picos(),
            u8::from(marked),
            u8::from(*markable),
            ahead.unwrap_or_default(),
        )
    }

    /// Writes buffered data.
    ///
    /// # Errors
    /// As [`Recording::write`].
    pub fn finish(mut self) -> Result<()> {
        self.file.flush().with_context(|| self.place.clone())
    }

    /// Writes buffered data and returns once the file and its name survive a
    /// crash.
    ///
    /// # Errors
    /// As [`Recording::write`].
    pub(crate) fn finish_on_disk(mut self) -> Result<()> {
        self.sync().with_context(|| self.place.clone())
    }

    fn sync(&mut self) -> io::Result<()> {
        self.file.flush()?;
        self.file.get_ref().sync_all()?;
        // Sync the folder, which holds the file's name, and its parent, which
        // holds the folder's name.
        let mut folders = self.path.ancestors().skip(1).take(2);
        folders.try_for_each(|folder| files::open(folder)?.sync_all())
    }
}

#[cfg(test)]
mod tests {
    use link::{PacketOutcome, Settings};
    use queue::{Limit, Spec};
    use units::Bytes;

    use super::*;

    fn heading() -> Heading {
        let limit = Limit::Bytes(Bytes::new(1518));
        let direction = Settings::perfect(None, Spec::DropTail { limit });
        Heading {
            origin: Time::from_picos(1_000),
            directions: [direction.clone(), direction],
            reseeds: [vec![], vec![]],
        }
    }

    fn event(outcome: PacketOutcome) -> Event {
        Event {
            arrival: Time::from_picos(1_005),
            at: Time::from_picos(1_001_000),
            size: 1518,
            flow: u64::MAX,
            outcome,
            reason: None,
            marked: false,
            header: Header::default(),
        }
    }

    #[test]
    fn every_event_is_a_line_and_no_file_is_written_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("r.csv");
        let mut recording = Recording::create(&path, &heading()).unwrap();
        let events: Vec<_> = PacketOutcome::ALL
            .map(|outcome| (0, 1, event(outcome)))
            .into();
        recording.write(&events).unwrap();
        recording.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text.lines().count(), 2 + PacketOutcome::ALL.len());
        assert_eq!(
            text.lines().nth(7),
            Some("5,1000000,1,1518,18446744073709551615,too-big,0,,0,0,0,0,0,0,")
        );
        let rejection = Recording::create(&path, &heading())
            .err()
            .unwrap()
            .to_string();
        assert!(
            rejection.contains("r.csv: this file exists already"),
            "{rejection}"
        );
    }

    #[test]
    fn a_full_disk_is_an_error_with_the_files_name() {
        let created = Recording::create(Path::new("/dev/full"), &heading());
        let error = format!("{:#}", created.err().unwrap());
        assert!(
            error.contains("--record /dev/full: No space left"),
            "{error}"
        );
    }
}
