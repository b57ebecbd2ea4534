//! Writes recordings on a thread of their own, so that a slow disk does not delay packets.

use std::fs::File;
use std::io::{ErrorKind, Write as _};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};

use anyhow::{Context as _, Result, anyhow, bail};
use os::clock;
use units::Time;
use wire::bundle::RECORDING;

use super::line::write_event;
use super::{Described, END, FORMAT, FirstLine, SETTINGS};
use crate::driver::{Recorded, Recorder};

/// Parts that wait to be written: with all their packets about 100 MB.
const WAITING: usize = 128;

/// The thread that writes a recording.
#[derive(Debug)]
pub struct RecordingFile {
    thread: JoinHandle<Result<()>>,
}

/// The way to the thread.
struct Parts(SyncSender<Recorded>);

impl Recorder for Parts {
    fn take(&mut self, part: Recorded) -> bool {
        // A gap cannot be replayed: a recording that falls behind ends.
        match self.0.try_send(part) {
            Ok(()) => true,
            Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => false,
        }
    }
}

impl RecordingFile {
    /// Creates the file and the thread that writes it. Events go to the recorder.
    ///
    /// # Errors
    /// The file exists or cannot be created.
    pub fn create(path: &Path) -> Result<(Self, Box<dyn Recorder>)> {
        let place = format!("--record {}", path.display());
        let file = files::open_sink(path).map_err(|error| match error.kind() {
            ErrorKind::AlreadyExists => {
                anyhow!("{place}: this file exists already; give another name or remove it")
            }
            _ => anyhow::Error::from(error).context(place.clone()),
        })?;
        let origin = clock::monotonic();
        let (parts, heard) = sync_channel(WAITING);
        let thread = Builder::new()
            .name("recording".into())
            .spawn(move || write(file, origin, &heard).context(place))
            .context("starting the recording thread")?;
        Ok((Self { thread }, Box::new(Parts(parts))))
    }

    /// Whether it is written no more.
    pub fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Waits for the end of the thread, which comes with that of the recorder.
    ///
    /// # Errors
    /// The file could not be written.
    pub fn end(self) -> Result<()> {
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err(anyhow!("the recording thread panicked")))
    }
}

/// Writes what is heard, each part as a whole.
fn write(mut file: File, origin: Time, heard: &Receiver<Recorded>) -> Result<()> {
    let first = FirstLine {
        format: FORMAT,
        origin_ps: origin.as_picos(),
    };
    writeln!(file, "{RECORDING}{}", serde_json::to_string(&first)?)?;
    let mut text = String::new();
    for part in heard {
        text.clear();
        match part {
            Recorded::Settings(settings) => {
                text += SETTINGS;
                text += &serde_json::to_string(&Described::of(&settings))?;
                text.push('\n');
            }
            Recorded::Events(events) => {
                for event in &events {
                    write_event(event, origin, &mut text);
                }
            }
            Recorded::End => {
                writeln!(file, "{END}")?;
                return Ok(());
            }
        }
        file.write_all(text.as_bytes())?;
    }
    bail!(
        "packets arrived faster than they could be written; it ends there, and can be replayed up to this point"
    )
}
