//! The emulator of a test bed's links: a worker in the namespace of their
//! interfaces, controlled by lines of JSON.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use emulator::{Cross, EmulatedLink, Emulator, Observation, Report};
use link::{Event, Fate};
use os::worker::Command;
use os::{Namespace, Worker, clock};
use serde::{Deserialize, Serialize};
use units::{Bytes, Seed, Span, Time};

use crate::link_window::{LinkEvents, LinkWindow};
use crate::recording::{Heading, Recording};

/// The worker's role.
pub(crate) const ROLE: &str = "emulator";

/// The timeout of replies. The emulator checks for requests every few
/// milliseconds if it has a CPU.
const TIMEOUT: Span = Span::from_secs(30);

/// The timeout for writing recordings to disk.
const WRITING: Span = Span::from_secs(120);

/// The most observations in one reply, whose line has a limit.
const OBSERVATIONS: usize = 50_000;

/// The configuration of the emulator.
#[derive(Serialize, Deserialize)]
struct Order {
    links: Vec<EmulatedLink>,
    seed: u64,
}

/// A request while the emulator carries frames.
#[derive(Serialize, Deserialize)]
enum Request {
    /// Report the counters.
    Report,
    /// Restart the random streams of impairments with this seed.
    Reseed(u64),
    /// Start a trial with this cross traffic, recordings of these links, and
    /// this seed for the cross traffic.
    Begin(Vec<Cross>, Vec<usize>, u64),
    /// Report the window of a recorded link, in the direction from its first
    /// end to its second, between two instants in nanoseconds of the wall clock
    /// since 1970.
    Window(usize, u64, u64),
    /// Keep observations of these links from now on, with the headers of packets where
    /// that is said.
    Observe(Vec<(usize, bool)>),
    /// Report the next observations of a link, and where CLOCK_MONOTONIC showed this many
    /// nanoseconds on their clock.
    Observations(usize, u64),
    /// End the trial: stop cross traffic and recordings, and write the
    /// recording of each named link to its file.
    End(Vec<(usize, PathBuf)>),
}

/// A reply of the emulator.
#[derive(Serialize, Deserialize)]
enum Answer {
    Ready,
    Report(Report),
    Window(Option<LinkWindow>),
    Observations(Time, Vec<Observation>),
    Failed(String),
}

/// A running emulator; dropping it ends the process.
pub(crate) struct Emulation {
    worker: Worker,
}

impl Emulation {
    /// Starts the emulator in `namespace`; returns once it carries frames.
    pub(crate) fn start(
        namespace: &Namespace,
        links: Vec<EmulatedLink>,
        seed: Seed,
    ) -> Result<Self> {
        let mut worker = Worker::spawn(Command::local(Some(namespace), ROLE))?;
        let order = Order {
            links,
            seed: seed.get(),
        };
        worker.send_line(&serde_json::to_string(&order)?)?;
        let mut emulation = Self { worker };
        emulation.ready(TIMEOUT)?;
        Ok(emulation)
    }

    /// Starts a trial with cross traffic and recordings of these links.
    pub(crate) fn begin(
        &mut self,
        cross: Vec<Cross>,
        recorded: Vec<usize>,
        seed: Seed,
    ) -> Result<()> {
        self.ask(&Request::Begin(cross, recorded, seed.get()))?;
        self.ready(TIMEOUT)
    }

    /// The window metrics of the recorded `link` between two instants, in
    /// nanoseconds of the wall clock since 1970.
    pub(crate) fn window(&mut self, link: usize, from: u64, to: u64) -> Result<Option<LinkWindow>> {
        self.ask(&Request::Window(link, from, to))?;
        match self.answer(TIMEOUT)? {
            Answer::Window(window) => Ok(window),
            Answer::Failed(why) => bail!("the emulator failed: {why}"),
            _ => bail!("unexpected reply of the emulator"),
        }
    }

    /// Keeps observations of `links` from now on, with the headers of packets where that
    /// is said.
    pub(crate) fn observe(&mut self, links: Vec<(usize, bool)>) -> Result<()> {
        self.ask(&Request::Observe(links))?;
        self.ready(TIMEOUT)
    }

    /// Hands the observations of `link` to `take`, each with the instant at which
    /// CLOCK_MONOTONIC showed `begin` nanoseconds.
    pub(crate) fn observations(
        &mut self,
        link: usize,
        begin: u64,
        mut take: impl FnMut(Time, Observation),
    ) -> Result<()> {
        loop {
            self.ask(&Request::Observations(link, begin))?;
            let (zero, some) = match self.answer(TIMEOUT)? {
                Answer::Observations(zero, some) => (zero, some),
                Answer::Failed(why) => bail!("the emulator failed: {why}"),
                _ => bail!("unexpected reply of the emulator"),
            };
            let is_last = some.len() < OBSERVATIONS;
            some.into_iter().for_each(|one| take(zero, one));
            if is_last {
                return Ok(());
            }
        }
    }

    /// Ends the trial. On return the recording of each link is in its file and
    /// survives a crash.
    pub(crate) fn end(&mut self, files: Vec<(usize, PathBuf)>) -> Result<()> {
        self.ask(&Request::End(files))?;
        self.ready(WRITING)
    }

    /// Restarts the random streams of the links' impairments.
    pub(crate) fn reseed(&mut self, seed: Seed) -> Result<()> {
        self.ask(&Request::Reseed(seed.get()))?;
        self.ready(TIMEOUT)
    }

    /// The counters; lateness since the last report.
    pub(crate) fn report(&mut self) -> Result<Report> {
        self.ask(&Request::Report)?;
        match self.answer(TIMEOUT)? {
            Answer::Report(report) => Ok(report),
            Answer::Failed(why) => bail!("the emulator failed: {why}"),
            _ => bail!("unexpected reply of the emulator"),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<()> {
        Ok(self.worker.send_line(&serde_json::to_string(request)?)?)
    }

    fn ready(&mut self, timeout: Span) -> Result<()> {
        match self.answer(timeout)? {
            Answer::Ready => Ok(()),
            Answer::Failed(why) => bail!("{why}"),
            _ => bail!("unexpected reply of the emulator"),
        }
    }

    fn answer(&mut self, timeout: Span) -> Result<Answer> {
        let line = self
            .worker
            .receive_line(clock::monotonic() + timeout)?
            .context("the emulator does not answer")?;
        Ok(serde_json::from_str(&line)?)
    }
}

/// Emulates the links described by the first line of stdin, until stdin ends.
pub(crate) fn serve() -> Result<()> {
    let (mut lines, mut out) = (io::stdin().lock(), io::stdout().lock());
    let mut answer = |answer: &Answer| -> Result<()> {
        writeln!(out, "{}", serde_json::to_string(answer)?)?;
        Ok(out.flush()?)
    };
    let failed = |error: os::Error| Answer::Failed(error.to_string());
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let order: Order =
        serde_json::from_str(&line).context("reading the configuration of the emulator")?;
    let mut emulator = match Emulator::open(&order.links, Seed::new(order.seed)) {
        Ok(emulator) => emulator,
        Err(error) => return answer(&failed(error)),
    };
    answer(&Answer::Ready)?;
    let mut begun = emulator.opened();
    let mut events = Vec::new();
    let mut observations = VecDeque::new();
    loop {
        if let Err(error) = emulator.run(io::stdin().as_fd()) {
            return answer(&failed(error));
        }
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let request = serde_json::from_str(&line).context("reading a request")?;
        answer(&match request {
            Request::Report => emulator.report().map_or_else(failed, Answer::Report),
            Request::Reseed(seed) => {
                emulator.reseed(Seed::new(seed));
                Answer::Ready
            }
            Request::Begin(cross, recorded, seed) => {
                begun = clock::monotonic();
                let seed = Seed::new(seed);
                recorded.iter().for_each(|&link| emulator.record_link(link));
                if !recorded.is_empty() {
                    // A recording must start with random streams of a known
                    // seed.
                    emulator.reseed(seed);
                }
                let crossed = emulator.begin_cross(&cross, seed);
                crossed.map_or_else(failed, |()| Answer::Ready)
            }
            Request::Window(link, from, to) => {
                events.extend(emulator.take_events());
                let direction = order.links.get(link).map(|link| &link.directions[0]);
                let link =
                    direction.map(|direction| link_events(&emulator, &events, link, direction));
                let between = clock::monotonic_at(from).zip(clock::monotonic_at(to));
                let window = link
                    .zip(between)
                    .and_then(|(link, (from, to))| link.window(from, to));
                Answer::Window(window)
            }
            Request::Observe(links) => {
                observations.clear();
                for (link, heads) in links {
                    emulator.observe(link, heads);
                }
                Answer::Ready
            }
            Request::Observations(link, begin) => {
                observations.extend(emulator.take_observations(link));
                let some = observations.len().min(OBSERVATIONS);
                let some = observations.drain(..some).collect();
                Answer::Observations(clock::monotonic_of(begin), some)
            }
            Request::End(files) => {
                emulator.end_cross();
                events.extend(emulator.take_events());
                let events = std::mem::take(&mut events);
                let kept = keep(&emulator, &order.links, &events, begun, &files);
                emulator.end_record();
                kept.map_or_else(
                    |error| Answer::Failed(format!("{error:#}")),
                    |()| Answer::Ready,
                )
            }
        })?;
    }
}

/// The events of packets in the direction from the first end of a link to the
/// second.
fn link_events(
    emulator: &Emulator,
    events: &[(usize, usize, Event)],
    number: usize,
    direction: &link::Settings,
) -> LinkEvents {
    let mut link = LinkEvents::default();
    let of_direction = events
        .iter()
        .filter(|(index, direction, _)| (*index, *direction) == (number, 0));
    for (_, _, event) in of_direction {
        link.come(event.arrival);
        match event.fate {
            Fate::Dropped | Fate::TooBig => link.drop(event.at),
            Fate::Delivered | Fate::Duplicated | Fate::Lost | Fate::Damaged => {
                link.begin(event.at, direction.busy(Bytes::new(event.size)));
            }
        }
    }
    let [waiting, _] = emulator.waiting(number);
    for arrival in waiting {
        link.come(arrival.at);
    }
    link
}

/// Writes the fates of the packets in records that began at `begun`.
fn keep(
    emulator: &Emulator,
    links: &[EmulatedLink],
    events: &[(usize, usize, Event)],
    begun: Time,
    files: &[(usize, PathBuf)],
) -> Result<()> {
    for &(link, ref path) in files {
        let described = links.get(link).context("unknown link number")?;
        let of_link = events.iter().filter(|(number, ..)| *number == link);
        let of_link: Vec<_> = of_link.copied().collect();
        let waiting = emulator.waiting(link);
        let decided = of_link.iter().map(|(_, _, event)| event.arrival);
        let arrivals = decided.chain(waiting.iter().flatten().map(|arrival| arrival.at));
        let heading = Heading {
            origin: Heading::origin_of(begun, arrivals),
            directions: described.directions.clone(),
            reseeds: emulator.reseeds(link),
        };
        let mut recording = Recording::of_trial(path, &heading)?;
        recording.write(&of_link)?;
        recording.conclude(&waiting, &emulator.reseeds(link))?;
        recording.finish_on_disk()?;
    }
    Ok(())
}
