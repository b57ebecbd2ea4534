//! Reports the emulator's state on a separate thread, so that a stopped
//! terminal or a busy disk does not delay frames.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::thread::{Builder, JoinHandle};

use anyhow::{Context, Error, Result, anyhow, bail};
use backends::recording::Recording;
use emulator::Report;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use link::{Arrival, Event, Reseed};
use units::Span;

use super::text;
use crate::output;

/// The maximum number of waiting reports.
const MOST_NEWS: usize = 1_024;

/// The maximum number of events to be written, about 60 MB.
const MOST_EVENTS: usize = 1 << 20;

/// The interval of lines in seconds if there is no terminal.
const PLAIN_TICKS: u64 = 10;

/// Counts at one time.
pub(super) struct Tick {
    /// The time since the start.
    pub(super) elapsed: Span,
    /// Counts since the start; timing error since the previous tick.
    pub(super) report: Report,
    /// With the last tick: the timing error over the whole run.
    pub(super) whole: Option<[Span; 3]>,
}

/// The reporting thread and the channel to it.
pub(super) struct Reporter {
    news: SyncSender<News>,
    waiting: Arc<AtomicUsize>,
    thread: JoinHandle<Result<bool>>,
}

enum News {
    Tick(Tick),
    Events(Events),
    /// The final state for a recording.
    Rest([Vec<Arrival>; 2], [Vec<Reseed>; 2]),
}

/// Events of two directions, each with the numbers of its link and its direction.
type Events = Vec<(usize, usize, Event)>;

impl Reporter {
    /// Starts the thread.
    ///
    /// # Errors
    /// The thread cannot be started.
    pub(super) fn start(
        ends: [String; 2],
        json: bool,
        recording: Option<Recording>,
    ) -> Result<Self> {
        let (news, heard) = sync_channel(MOST_NEWS);
        let waiting = Arc::new(AtomicUsize::new(0));
        let mut output_thread = Output {
            screen: (!json && io::stderr().is_terminal()).then(Screen::new),
            json,
            ends,
            before: None,
            warned: [false; 2],
            recording,
            unrecorded: None,
            waiting: Arc::clone(&waiting),
        };
        let thread = Builder::new()
            .name("reporter".into())
            .spawn(move || {
                let result = output_thread.listen(&heard);
                let recorded = output_thread.end();
                match result {
                    Err(error) if recorded || !output::is_closed_pipe(&error) => Err(error),
                    _ => Ok(recorded),
                }
            })
            .context("starting the reporting thread")?;
        Ok(Self {
            news,
            waiting,
            thread,
        })
    }

    /// Sends the outcomes of frames to the thread; returns whether it still runs.
    ///
    /// # Errors
    /// Too many events wait to be written; a recording must not have gaps.
    pub(super) fn record(&self, events: Events) -> Result<bool> {
        if events.is_empty() {
            return Ok(true);
        }
        let count = events.len();
        let waiting = self.waiting.fetch_add(count, Ordering::Relaxed) + count;
        match self.news.try_send(News::Events(events)) {
            Ok(()) if waiting <= MOST_EVENTS => Ok(true),
            Err(TrySendError::Disconnected(_)) => Ok(false),
            _ => bail!(
                "--record: frames arrive faster than the file can be written; write the file to memory (/dev/shm), or lower the rate"
            ),
        }
    }

    /// Sends the final state for a recording: the waiting packets of each
    /// direction and the restarts of the random streams.
    pub(super) fn conclude(&self, waiting: [Vec<Arrival>; 2], reseeds: [Vec<Reseed>; 2]) {
        // A thread that has ended states the reason when it is joined.
        let _ = self.news.send(News::Rest(waiting, reseeds));
    }

    /// Sends counts to the thread; returns whether it still runs. The last
    /// counts wait for room in the channel; others are dropped if it is full.
    pub(super) fn report(&self, tick: Tick) -> bool {
        match tick.whole {
            Some(_) => self.news.send(News::Tick(tick)).is_ok(),
            None => !matches!(
                self.news.try_send(News::Tick(tick)),
                Err(TrySendError::Disconnected(_))
            ),
        }
    }

    /// Waits until everything is reported. Returns whether the recording, if there is
    /// one, is complete.
    ///
    /// # Errors
    /// An error of the reporting thread.
    pub(super) fn end(self) -> Result<bool> {
        drop(self.news);
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err(anyhow!("the reporting thread panicked")))
    }
}

/// The state of the thread.
struct Output {
    ends: [String; 2],
    json: bool,
    screen: Option<Screen>,
    before: Option<Tick>,
    /// Whether super-packets were reported, by direction.
    warned: [bool; 2],
    recording: Option<Recording>,
    /// The reason why the recording stopped before its end.
    unrecorded: Option<Error>,
    waiting: Arc<AtomicUsize>,
}

impl Output {
    fn listen(&mut self, heard: &Receiver<News>) -> Result<()> {
        for news in heard {
            match news {
                News::Tick(tick) => self.report(tick)?,
                News::Events(events) => {
                    self.record(|recording| recording.write(&events));
                    self.waiting.fetch_sub(events.len(), Ordering::Relaxed);
                }
                News::Rest(waiting, reseeds) => {
                    self.record(|recording| recording.conclude(&waiting, &reseeds));
                }
            }
        }
        Ok(())
    }

    /// Lets `write` add to the recording, if there is one. Where it cannot be
    /// written, the recording stops, and the link carries on without it.
    fn record(&mut self, write: impl FnOnce(&mut Recording) -> Result<()>) {
        let Some(recording) = &mut self.recording else {
            return;
        };
        if let Err(error) = write(recording) {
            self.recording = None;
            self.info(&format!(
                "warning: {error:#}; recording stops, the link goes on"
            ));
            self.unrecorded = Some(error.context("the recording ends early"));
        }
    }

    fn info(&self, line: &str) {
        match &self.screen {
            Some(screen) => screen.info(line),
            None => output::info(line),
        }
    }

    fn report(&mut self, tick: Tick) -> Result<()> {
        self.warn(&tick);
        if self.json {
            return output::print(&format!("{}\n", text::json(&self.ends, &tick)));
        }
        if let Some(whole) = tick.whole {
            self.clear();
            return output::print(&text::summary(&self.ends, &tick, whole));
        }
        let seconds = tick.elapsed.as_picos() / Span::from_secs(1).as_picos();
        if self.screen.is_some() || seconds.is_multiple_of(PLAIN_TICKS) {
            let lines = text::table(&self.ends, &tick, self.before.as_ref());
            match &mut self.screen {
                Some(screen) => screen.show(&lines),
                None => lines.iter().for_each(|line| output::info(line)),
            }
            self.before = Some(tick);
        }
        Ok(())
    }

    /// Warns once per interface about super-packets that could not be cut.
    fn warn(&mut self, tick: &Tick) {
        for (direction, name) in self.ends.iter().enumerate() {
            let rejected = tick.report.links[0][direction].rejected.super_packets;
            if rejected > 0 && !self.warned[direction] {
                self.warned[direction] = true;
                let line = text::super_packets(name, rejected);
                match &self.screen {
                    Some(screen) => screen.info(&line),
                    None => output::info(&line),
                }
            }
        }
    }

    fn clear(&mut self) {
        if let Some(screen) = self.screen.take() {
            // Clearing the screen fails only without a reader.
            let _ = screen.all.clear();
        }
    }

    /// Completes the recording; prints the reason if it is not complete. Returns
    /// whether it is.
    fn end(&mut self) -> bool {
        self.clear();
        let finished = self.recording.take().map_or(Ok(()), Recording::finish);
        let failed = self.unrecorded.take().or_else(|| finished.err());
        if let Some(error) = &failed {
            output::report_error(error);
        }
        failed.is_none()
    }
}

/// Lines of a terminal that are updated in place.
struct Screen {
    all: MultiProgress,
    lines: Vec<ProgressBar>,
}

impl Screen {
    fn new() -> Self {
        Self {
            all: MultiProgress::new(),
            lines: Vec::new(),
        }
    }

    fn show(&mut self, lines: &[String]) {
        let style = ProgressStyle::with_template("{wide_msg}")
            .unwrap_or_else(|_| ProgressStyle::default_spinner());
        while self.lines.len() < lines.len() {
            let line = ProgressBar::no_length().with_style(style.clone());
            self.lines.push(self.all.add(line));
        }
        for (line, text) in self.lines.iter().zip(lines) {
            line.set_message(text.clone());
        }
    }

    fn info(&self, line: &str) {
        // As above.
        let _ = self.all.println(output::one_line(line));
    }
}
