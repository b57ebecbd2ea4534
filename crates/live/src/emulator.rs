//! Links that behave like links: every frame serialised at the rate, in user
//! space, between two interfaces each.
//!
//! Frames come and go through packet sockets, so that no privilege beyond
//! CAP_NET_RAW is needed. An arrival counts from the kernel's stamp, not from
//! when this process was woken; a departure is due at an instant that follows
//! from arrivals, sizes and rate alone, and how late it really was is
//! measured. One thread serves all links of a test bed: it sleeps until
//! shortly before the next departure and waits for the rest awake.

mod end;
mod lateness;
mod link_driver;
#[cfg(test)]
mod parity;
mod steering;

use std::iter;
use std::os::fd::BorrowedFd;

use proto::link::{BadSettings, Counters, Delivery, Fate, Settings};
use queue::Backlog;
use units::{Seed, Span, Time};

use crate::clock::{self, Mapping};
use crate::error::{Error, Result};
use crate::frames::{Frame, Pool};
use crate::meter::Process;
pub use crate::pacing::Scheduling;
use crate::pacing::{Poller, Round, Stop};
pub use crate::port::Refused;
use crate::port::{Port, Purpose};
use crate::sys::packet::BATCH;
pub use end::End;
use lateness::Lateness;
use link_driver::LinkDriver;
pub use link_driver::{Cross, Crossed};

/// What ports are for here.
const PURPOSE: Purpose = Purpose {
    noun: "emulation",
    verb: "emulating",
};

/// How long cross traffic may be left alone while nobody's frame is in its
/// link: what came meanwhile has to be worked off before the next frame, and
/// that should cost it no more than some microseconds.
const CATCH_UP: Span = Span::from_micros(250);

/// What stands between two interfaces.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EmulatedLink {
    /// The interfaces, by name, in the namespace of the emulator's process.
    pub ends: [String; 2],
    /// From the first to the second, and back.
    pub directions: [Settings; 2],
}

/// What happened in one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DirectionReport {
    /// Packets by fate.
    pub counters: Counters,
    /// What the interface in front of it could not pass on.
    pub refused: Refused,
    /// What waits in its queue at the moment.
    pub backlog: Backlog,
    /// What became of the cross traffic among its packets.
    pub crossed: Crossed,
}

impl Report {
    /// What happened since `earlier`.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        let directions = self.links.iter_mut().flatten();
        for (direction, before) in directions.zip(earlier.links.iter().flatten()) {
            direction.counters = direction.counters.since(&before.counters);
            direction.refused = direction.refused.since(before.refused);
            direction.crossed = direction.crossed.since(&before.crossed);
        }
        self.cpu = self.cpu - earlier.cpu;
        self
    }

    /// How many packets met `fate`, on all links; cross traffic is left out.
    pub fn of(&self, fate: Fate) -> u64 {
        let directions = self.links.iter().flatten();
        directions
            .map(|direction| direction.counters.of(fate) - direction.crossed.counters.of(fate))
            .sum()
    }
}

/// What an emulator did since it began, or since the last report.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// Both directions of each link, since the beginning.
    pub links: Vec<[DirectionReport; 2]>,
    /// Processor time of the emulator's process since it began.
    pub cpu: Span,
    /// Departures since the last report.
    pub departures: u64,
    /// How late they were: median, 99th percentile and the latest.
    pub late: [Span; 3],
    /// How the scheduler treated it since the last report.
    pub scheduling: Scheduling,
}

/// An emulator of some links.
pub struct Emulator {
    opened: Time,
    poller: Poller,
    mapping: Mapping,
    links: Vec<Between>,
    pool: Pool,
    /// Departures that go with one call; kept for its room.
    batch: Vec<Frame>,
    /// When each of them was due.
    due: Vec<Time>,
    /// Answers to what was too big, which go back where it came from; kept for its room.
    answers: Vec<Frame>,
    lateness: Lateness,
}

/// A link with its two ports and two directions.
struct Between {
    ports: [Port; 2],
    drivers: [LinkDriver; 2],
}

impl Emulator {
    /// Opens the interfaces of `links`, in the calling process's namespace.
    ///
    /// # Errors
    /// Where one is not there, or where no link can be as asked.
    pub fn open(links: &[EmulatedLink], seed: Seed) -> Result<Self> {
        let poller = Poller::new()?;
        let open = |(number, link): (usize, &EmulatedLink)| {
            let port = |name: &String| Port::open(name, PURPOSE);
            let driver = |direction: usize| {
                LinkDriver::new(
                    link.directions[direction].clone(),
                    direction_seed(seed, number, direction),
                )
                .map_err(|bad: BadSettings| Error::new("emulating a link", bad.to_string()))
            };
            Ok(Between {
                ports: [port(&link.ends[0])?, port(&link.ends[1])?],
                drivers: [driver(0)?, driver(1)?],
            })
        };
        Ok(Self {
            opened: clock::monotonic(),
            poller,
            mapping: Mapping::now(),
            links: links.iter().enumerate().map(open).collect::<Result<_>>()?,
            pool: Pool::default(),
            batch: Vec::new(),
            due: Vec::new(),
            answers: Vec::new(),
            lateness: Lateness::new()?,
        })
    }

    /// Lets the calling thread, which is to carry frames, run before all
    /// ordinary processes where the kernel allows that, within limits that
    /// keep these alive; [`Report::scheduling`] says so. Frames leave in time on
    /// a busy machine then, but soft interrupts that the kernel left to its
    /// own ordinary threads wait, and a burst of a thousand small frames can
    /// overflow in front of the emulator, unseen by it.
    pub fn run_first(&mut self) {
        self.poller.run_first();
    }

    /// Carries frames until `control` has something to read.
    ///
    /// # Errors
    /// Where an interface is gone.
    pub fn run(&mut self, control: BorrowedFd<'_>) -> Result<()> {
        self.carry(Stop {
            control: Some(control),
            deadline: None,
        })
    }

    /// Carries frames until [`clock::monotonic`] shows `deadline`, give or
    /// take 2 ms, or a signal interrupts a sleep.
    ///
    /// # Errors
    /// Where an interface is gone.
    pub fn run_until(&mut self, deadline: Time) -> Result<()> {
        self.carry(Stop {
            control: None,
            deadline: Some(deadline),
        })
    }

    fn carry(&mut self, stop: Stop<'_>) -> Result<()> {
        loop {
            let more = self.receive()?;
            let now = clock::monotonic();
            self.transmit(now)?;
            let next = self.next_departure();
            let mut drivers = self.links.iter().flat_map(|link| &link.drivers);
            let round = Round {
                now,
                more,
                next,
                longest: drivers.any(LinkDriver::is_crossed).then_some(CATCH_UP),
            };
            let ports = self.links.iter().flat_map(|link| &link.ports);
            if self.poller.wait(ports, stop, round)? {
                return Ok(());
            }
        }
    }

    /// What happened; lateness is counted anew from here on. An interface that
    /// is down is no error: it may come up again.
    ///
    /// # Errors
    /// Where an interface is gone: removed, or moved to another namespace.
    pub fn report(&mut self) -> Result<Report> {
        let mut links = Vec::new();
        let now = clock::monotonic();
        for link in &mut self.links {
            for port in &mut link.ports {
                port.check_there()?;
                port.count_overrun()?;
            }
            let mut direction = |direction: usize| {
                let driver = &mut link.drivers[direction];
                DirectionReport {
                    // Before the counters: it brings them up to the moment.
                    crossed: driver.crossed(now),
                    counters: driver.counters(),
                    refused: link.ports[direction].refused(),
                    backlog: driver.backlog(),
                }
            };
            links.push([direction(0), direction(1)]);
        }
        let (departures, late) = self.lateness.take();
        Ok(Report {
            links,
            cpu: Process::sample()?.cpu,
            departures,
            late,
            scheduling: self.poller.scheduling(),
        })
    }

    /// How late departures were from the beginning to the last report: median,
    /// 99th percentile and the latest.
    pub fn late(&self) -> [Span; 3] {
        self.lateness.whole()
    }

    /// Takes a batch from each port; whether there may be more.
    fn receive(&mut self) -> Result<bool> {
        let now = clock::monotonic();
        let mut ports = self.links.iter().flat_map(|link| &link.ports);
        let more = ports.any(Port::has_frame);
        if more {
            // Compared anew each time: the wall clock may be set.
            self.mapping.renew();
        }
        for Between { ports, drivers } in &mut self.links {
            for (port, driver) in ports.iter_mut().zip(drivers) {
                let full = port.receive(&self.mapping, now, &self.pool, |at, frame| {
                    let answer = driver.receive(at, frame, &self.pool);
                    self.answers.extend(answer);
                });
                // Frames that the kernel has stamped by now go first.
                if !full {
                    driver.catch_up(now);
                }
                port.send(&self.answers)?;
                self.answers.clear();
            }
        }
        Ok(more)
    }

    /// Sends what is due.
    fn transmit(&mut self, now: Time) -> Result<()> {
        for Between { ports, drivers } in &mut self.links {
            for (direction, driver) in drivers.iter_mut().enumerate() {
                loop {
                    let due = iter::from_fn(|| driver.poll_transmit(now)).take(BATCH);
                    for Delivery { at, packet, copies } in due {
                        self.batch.extend((copies > 1).then(|| packet.again()));
                        self.batch.push(packet);
                        self.due.push(at);
                    }
                    if self.batch.is_empty() {
                        break;
                    }
                    let begun = clock::monotonic();
                    ports[1 - direction].send(&self.batch)?;
                    self.batch.clear();
                    self.lateness.record(begun, &self.due);
                    self.due.clear();
                }
            }
        }
        Ok(())
    }

    fn next_departure(&mut self) -> Option<Time> {
        let drivers = self.links.iter_mut().flat_map(|link| &mut link.drivers);
        drivers.filter_map(LinkDriver::next_timeout).min()
    }
}

/// The seed of one direction of a link.
fn direction_seed(seed: Seed, number: usize, direction: usize) -> Seed {
    seed.derive(&format!("wire/{number}/{direction}"))
}
