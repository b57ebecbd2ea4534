//! The emulator of a test bed's links: a worker in the namespace where their
//! ends are, spoken to in JSON lines.

use std::io::{self, BufRead, Write};
use std::os::fd::AsFd;
use std::path::PathBuf;

use anyhow::{Context, Result, bail};
use live::emulator::{Cross, EmulatedLink, Emulator, Report};
use live::worker::Command;
use live::{Namespace, Worker, clock};
use proto::link::{self, Event, Fate};
use serde::{Deserialize, Serialize};
use units::{Bytes, Seed, Span, Time};

use crate::link_window::{LinkEvents, LinkWindow};
use crate::recording::{Heading, Recording};

/// The worker's role.
pub(crate) const ROLE: &str = "emulator";

/// How long the emulator may take to answer: it looks up every few milliseconds,
/// where it has a processor.
const TIMEOUT: Span = Span::from_secs(30);

/// How long it may take to write what it recorded, until it is on the disk.
const WRITING: Span = Span::from_secs(120);

/// What the emulator is to do.
#[derive(Serialize, Deserialize)]
struct Order {
    links: Vec<EmulatedLink>,
    seed: u64,
}

/// What it is asked while it carries frames.
#[derive(Serialize, Deserialize)]
enum Request {
    /// What it did.
    Report,
    /// What chance does begins anew, from this seed.
    Reseed(u64),
    /// A trial begins: with this cross traffic, a record of these links, and
    /// this seed of the cross traffic's chance.
    Begin(Vec<Cross>, Vec<usize>, u64),
    /// What this recorded link did in the direction from the first end to the second
    /// between two instants, in nanoseconds of the wall clock since 1970.
    Window(usize, u64, u64),
    /// It is over: no cross traffic, no record; what there is goes into a file
    /// for each link that is named.
    End(Vec<(usize, PathBuf)>),
}

/// What it answers.
#[derive(Serialize, Deserialize)]
enum Answer {
    Ready,
    Report(Report),
    Window(Option<LinkWindow>),
    Failed(String),
}

/// A running emulator; it ends when this is dropped.
pub(crate) struct Emulation {
    worker: Worker,
}

impl Emulation {
    /// Starts the emulator in `namespace` and returns when it carries frames.
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

    /// Begins a trial: cross traffic, and a record of what becomes of packets
    /// on these links.
    pub(crate) fn begin(
        &mut self,
        cross: Vec<Cross>,
        recorded: Vec<usize>,
        seed: Seed,
    ) -> Result<()> {
        self.ask(&Request::Begin(cross, recorded, seed.get()))?;
        self.ready(TIMEOUT)
    }

    /// What `link`, which is recorded, did with packets between two instants,
    /// in nanoseconds of the wall clock since 1970.
    pub(crate) fn window(&mut self, link: usize, from: u64, to: u64) -> Result<Option<LinkWindow>> {
        self.ask(&Request::Window(link, from, to))?;
        match self.answer(TIMEOUT)? {
            Answer::Window(window) => Ok(window),
            Answer::Failed(why) => bail!("the emulator gave up: {why}"),
            Answer::Ready | Answer::Report(_) => bail!("the emulator answered out of turn"),
        }
    }

    /// Ends it. When this returns, the record of each link is in its file and
    /// survives a crash.
    pub(crate) fn end(&mut self, files: Vec<(usize, PathBuf)>) -> Result<()> {
        self.ask(&Request::End(files))?;
        self.ready(WRITING)
    }

    /// Begins what chance does on its links anew.
    pub(crate) fn reseed(&mut self, seed: Seed) -> Result<()> {
        self.ask(&Request::Reseed(seed.get()))?;
        self.ready(TIMEOUT)
    }

    /// What it did; lateness since the last report.
    pub(crate) fn report(&mut self) -> Result<Report> {
        self.ask(&Request::Report)?;
        match self.answer(TIMEOUT)? {
            Answer::Report(report) => Ok(report),
            Answer::Failed(why) => bail!("the emulator gave up: {why}"),
            Answer::Ready | Answer::Window(_) => bail!("the emulator answered out of turn"),
        }
    }

    fn ask(&mut self, request: &Request) -> Result<()> {
        Ok(self.worker.send_line(&serde_json::to_string(request)?)?)
    }

    fn ready(&mut self, timeout: Span) -> Result<()> {
        match self.answer(timeout)? {
            Answer::Ready => Ok(()),
            Answer::Failed(why) => bail!("{why}"),
            Answer::Report(_) | Answer::Window(_) => bail!("the emulator answered out of turn"),
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

/// Emulates what the first line of stdin says, until stdin ends.
pub(crate) fn serve() -> Result<()> {
    let (mut lines, mut out) = (io::stdin().lock(), io::stdout().lock());
    let mut answer = |answer: &Answer| -> Result<()> {
        writeln!(out, "{}", serde_json::to_string(answer)?)?;
        Ok(out.flush()?)
    };
    let failed = |error: live::Error| Answer::Failed(error.to_string());
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let order: Order = serde_json::from_str(&line).context("reading the emulator's order")?;
    let mut emulator = match Emulator::open(&order.links, Seed::new(order.seed)) {
        Ok(emulator) => emulator,
        Err(error) => return answer(&failed(error)),
    };
    answer(&Answer::Ready)?;
    let mut begun = emulator.opened();
    let mut events = Vec::new();
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
                    // So that a record begins with chance that it can name.
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

/// The packets in the direction from the first end of a link to the second.
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

/// Writes what became of packets that came since `begun`.
fn keep(
    emulator: &Emulator,
    links: &[EmulatedLink],
    events: &[(usize, usize, Event)],
    begun: Time,
    files: &[(usize, PathBuf)],
) -> Result<()> {
    for &(link, ref path) in files {
        let described = links.get(link).context("a link that is not there")?;
        let heading = Heading {
            origin: begun,
            directions: described.directions.clone(),
        };
        let mut recording = Recording::of_trial(path, &heading)?;
        let of_link = events.iter().filter(|(number, ..)| *number == link);
        recording.write(&of_link.copied().collect::<Vec<_>>())?;
        recording.conclude(&emulator.waiting(link), &emulator.reseeds(link))?;
        recording.finish_on_disk()?;
    }
    Ok(())
}
