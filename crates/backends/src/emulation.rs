//! The emulator of a test network's links: a worker in the namespace of their interfaces.

use std::collections::VecDeque;
use std::io::{self, BufRead};
use std::os::fd::AsFd;
use std::path::PathBuf;

use anyhow::{Context, Result};
use emulator::{Cross, EmulatedLink, Emulator, Observation, Report};
use link::{Event, PacketOutcome};
use os::request::{self, Reply, Request};
use os::worker::Command;
use os::{Namespace, Worker, clock, kernel_clock};
use units::{Bytes, Seed, Span, Time};

use crate::call::call;
use crate::link_window::{LinkEvents, LinkWindow};
use crate::recording::{Heading, Recording};

/// The worker's role.
pub(crate) const ROLE: &str = "emulator";

/// The timeout for writing recordings to disk.
const WRITING: Span = Span::from_secs(120);

/// The most observations in one reply, whose line has a limit.
const OBSERVATIONS: usize = 50_000;

/// The name of the worker in messages.
const NAME: &str = "emulator";

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
        call(&mut worker, NAME, &Open(links, seed.get()))?;
        Ok(Self { worker })
    }

    /// What the emulator answers to `request`.
    pub(crate) fn call<R: Request<Server = Emulating>>(
        &mut self,
        request: &R,
    ) -> Result<R::Answer> {
        call(&mut self.worker, NAME, request)
    }

    /// Hands the observations of `link` to `take`, each with the time at which
    /// CLOCK_MONOTONIC showed `begin` nanoseconds.
    pub(crate) fn observations(
        &mut self,
        link: usize,
        begin: u64,
        mut take: impl FnMut(Time, Observation),
    ) -> Result<()> {
        loop {
            let (zero, some) = self.call(&Observations(link, begin))?;
            let is_last = some.len() < OBSERVATIONS;
            some.into_iter().for_each(|one| take(zero, one));
            if is_last {
                return Ok(());
            }
        }
    }
}

/// The emulator with what it keeps of a trial.
pub(crate) struct Emulating {
    links: Vec<EmulatedLink>,
    emulator: Emulator,
    begun: Time,
    events: Vec<(usize, usize, Event)>,
    observations: VecDeque<Observation>,
}

os::requests! {
    /// Reads the first request, which opens the emulator.
    pub(crate) fn opening(opened: Option<Emulating>);

    /// Emulate these links with this seed.
    Open(links: Vec<EmulatedLink>, seed: u64) -> () {
        let emulator = Emulator::open(&links, Seed::new(seed))?;
        *opened = Some(Emulating {
            begun: emulator.opened(),
            links,
            emulator,
            events: Vec::new(),
            observations: VecDeque::new(),
        });
    }
}

os::requests! {
    /// Reads a request while the emulator carries frames.
    pub(crate) fn requests(this: Emulating);

    /// Report the counters; timing error since the last report.
    ReportCounters() -> Report { this.emulator.report().context(FAILED)? }

    /// Restart the random streams of impairments with this seed.
    Reseed(seed: u64) -> () { this.emulator.reseed(Seed::new(seed)); }

    /// Start a trial with this cross traffic, recordings of these links, and this seed for the
    /// cross traffic.
    Begin(cross: Vec<Cross>, recorded: Vec<usize>, seed: u64) -> () {
        this.begun = clock::monotonic();
        let seed = Seed::new(seed);
        recorded.iter().for_each(|&link| this.emulator.record_link(link));
        if !recorded.is_empty() {
            // A recording must start with random streams of a known seed.
            this.emulator.reseed(seed);
        }
        this.emulator.begin_cross(&cross, seed)?;
    }
    /// Report the window of a recorded link, in the direction from its first end to its
    /// second, between two times in nanoseconds of the wall clock since 1970.
    Window(link: usize, from: u64, to: u64) -> Option<LinkWindow> { this.window(link, from, to) }

    /// Keep observations of these links from now on, with the headers of packets where that is
    /// said.
    Observe(links: Vec<(usize, bool)>) -> () {
        this.observations.clear();
        for (link, heads) in links {
            this.emulator.observe(link, heads);
        }
    }
    /// Report the next observations of a link, and where CLOCK_MONOTONIC showed this many
    /// nanoseconds on their clock.
    Observations(link: usize, begin: u64) -> (Time, Vec<Observation>) {
        this.observations.extend(this.emulator.take_observations(link));
        let some = this.observations.len().min(OBSERVATIONS);
        (kernel_clock::monotonic_of(begin), this.observations.drain(..some).collect())
    }
    /// End the trial: stop cross traffic and recordings. On return the recording of each named
    /// link is in its file and survives a crash.
    End(files: Vec<(usize, PathBuf)>) within WRITING -> () {
        this.emulator.end_cross();
        this.events.extend(this.emulator.take_events());
        let events = std::mem::take(&mut this.events);
        let kept = this.keep(&events, &files);
        this.emulator.end_record();
        kept?;
    }
}

/// What a user reads when the emulator fails under way.
const FAILED: &str = "the emulator failed";

/// Emulates the links that the first line of stdin names, until stdin ends.
pub(crate) fn serve() -> Result<()> {
    let mut lines = io::stdin().lock();
    let mut line = String::new();
    lines.read_line(&mut line)?;
    let mut opened = None;
    request::answer(&line, opening, &mut opened)?;
    let Some(mut emulating) = opened else {
        return Ok(());
    };
    loop {
        if let Err(error) = emulating.emulator.run(io::stdin().as_fd()) {
            // The next request hears it.
            return Ok(request::send_reply(&Reply::<()>::Err(format!(
                "{FAILED}: {error}"
            )))?);
        }
        line.clear();
        if lines.read_line(&mut line)? == 0 {
            return Ok(());
        }
        request::answer(&line, requests, &mut emulating)?;
    }
}

impl Emulating {
    fn window(&mut self, link: usize, from: u64, to: u64) -> Option<LinkWindow> {
        self.events.extend(self.emulator.take_events());
        let direction = &self.links.get(link)?.directions[0];
        let events = link_events(&self.emulator, &self.events, link, direction);
        let (from, to) = kernel_clock::monotonic_at(from).zip(kernel_clock::monotonic_at(to))?;
        events.window(from, to)
    }

    /// Writes the outcomes of the packets of the trial.
    fn keep(&self, events: &[(usize, usize, Event)], files: &[(usize, PathBuf)]) -> Result<()> {
        for &(link, ref path) in files {
            let described = self.links.get(link).context("unknown link number")?;
            let of_link = events.iter().filter(|(number, ..)| *number == link);
            let of_link: Vec<_> = of_link.copied().collect();
            let waiting = self.emulator.waiting(link);
            let decided = of_link.iter().map(|(_, _, event)| event.arrival);
            let arrivals = decided.chain(waiting.iter().flatten().map(|arrival| arrival.at));
            let heading = Heading {
                origin: Heading::origin_of(self.begun, arrivals),
                directions: described.directions.clone(),
                reseeds: self.emulator.reseeds(link),
            };
            let mut recording = Recording::of_trial(path, &heading)?;
            recording.write(&of_link)?;
            recording.conclude(&waiting, &self.emulator.reseeds(link))?;
            recording.finish_on_disk()?;
        }
        Ok(())
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
        link.on_arrival(event.arrival);
        match event.outcome {
            PacketOutcome::Dropped | PacketOutcome::TooBig => link.drop(event.at),
            PacketOutcome::Delivered
            | PacketOutcome::Duplicated
            | PacketOutcome::Lost
            | PacketOutcome::Damaged => {
                link.begin(event.at, direction.busy(Bytes::new(event.size)));
            }
        }
    }
    let [waiting, _] = emulator.waiting(number);
    for arrival in waiting {
        link.on_arrival(arrival.at);
    }
    link
}
