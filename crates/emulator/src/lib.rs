//! The link emulator: serialises every frame at the link's rate in user space, between
//! two interfaces per link.
//!
//! Frames are received and sent through packet sockets, which need no privilege beyond
//! CAP_NET_RAW. An arrival is timed by the kernel's timestamp, not by the wake-up of
//! this process. The time of a departure follows from arrivals, sizes and the rate
//! alone; its actual timing error is measured. One thread serves all links of a test network:
//! it sleeps until shortly before the next departure and polls for the rest.

mod end;
mod faults;
mod link_driver;
mod observation;
mod steering;
#[cfg(test)]
mod tests;
mod timing_error;

use std::iter;
use std::os::fd::BorrowedFd;

use link::Direction;
use link::middlebox::{Outcome, Rule};
use link::{BadSettings, Counters, Delivery, PacketOutcome, Settings};
use queue::Backlog;
use units::{Seed, Span, Time};

pub use end::End;
use faults::Faults;
use link_driver::LinkDriver;
pub use link_driver::{Cross, Crossed};
pub use observation::{Head, Observation};
use os::claim::Claim;
use os::clock;
use os::cpu_time::Process;
use os::error::{Error, Result};
use os::frames::{Frame, Pool};
use os::kernel_clock::Mapping;
use os::netlink::Route;
pub use os::pacing::Scheduling;
use os::pacing::{Poller, Round, Stop};
pub use os::port::Rejected;
use os::port::{Port, Purpose};
use os::sys::packet::BATCH;
use timing_error::TimingError;

/// The purpose of ports, for messages.
const PURPOSE: Purpose = Purpose {
    noun: "emulation",
    verb: "emulating",
};

/// The longest time for which cross traffic is left unprocessed while its link holds no
/// real frame. The backlog must be processed before the next frame, and should delay it
/// by a few microseconds at most.
const CATCH_UP: Span = Span::from_micros(250);

/// An emulated link between two interfaces.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct EmulatedLink {
    /// Names of the interfaces, in the namespace of the emulator's process.
    pub ends: [String; 2],
    /// Settings from the first interface to the second, and back.
    pub directions: [Settings; 2],
    /// The rules for packets in front of the link; from the first interface to the second
    /// is forward. Their times count from the first frame to a single host.
    pub rules: Vec<Rule>,
}

/// The counters of one direction of a link.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct DirectionReport {
    /// Packets by outcome.
    pub counters: Counters,
    /// Packets that the interface in front of it could not pass on.
    pub rejected: Rejected,
    /// Packets in its queue at the moment.
    pub backlog: Backlog,
    /// The cross traffic among its packets.
    pub crossed: Crossed,
}

impl Report {
    /// The change since `earlier`.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        let directions = self.links.iter_mut().flatten();
        for (direction, before) in directions.zip(earlier.links.iter().flatten()) {
            direction.counters = direction.counters.since(&before.counters);
            direction.rejected = direction.rejected.since(before.rejected);
            direction.crossed = direction.crossed.since(&before.crossed);
        }
        self.cpu = self.cpu - earlier.cpu;
        self
    }

    /// The change from `earlier` to this report, of which `parts` are the changes
    /// over the parts: timing error is that of the worse part.
    #[must_use]
    pub fn over(self, earlier: &Self, parts: [&Self; 2]) -> Self {
        let [one, other] = parts;
        let worse = |number: usize| one.late[number].max(other.late[number]);
        let scheduling = match one.scheduling {
            Scheduling::RealTimeInPart => one.scheduling,
            Scheduling::Ordinary | Scheduling::RealTime => other.scheduling,
        };
        Self {
            departures: one.departures + other.departures,
            late: [worse(0), worse(1), worse(2)],
            scheduling,
            ..self.since(earlier)
        }
    }

    /// The number of packets with `outcome` on all links, without cross traffic.
    pub fn of(&self, outcome: PacketOutcome) -> u64 {
        let directions = self.links.iter().flatten();
        directions
            .map(|direction| {
                direction.counters.of(outcome) - direction.crossed.counters.of(outcome)
            })
            .sum()
    }
}

/// The counters of an emulator, since its start or since the last report.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Report {
    /// Both directions of each link, since the start.
    pub links: Vec<[DirectionReport; 2]>,
    /// Processor time of the emulator's process since its start.
    pub cpu: Span,
    /// Departures since the last report.
    pub departures: u64,
    /// Timing error of departures: median, 99th percentile and maximum.
    pub late: [Span; 3],
    /// The scheduling of the emulator's thread since the last report.
    pub scheduling: Scheduling,
}

/// An emulator of one or several links.
pub struct Emulator {
    opened: Time,
    /// The first frame to a single host since the start of the faults.
    first: Option<Time>,
    poller: Poller,
    mapping: Mapping,
    links: Vec<Between>,
    pool: Pool,
    /// Departures sent with one system call; kept for its allocation.
    batch: Vec<Frame>,
    /// The due time of each of them.
    due: Vec<Time>,
    /// Notifications about oversized frames, sent back to their sources; kept for its
    /// allocation.
    answers: Vec<Frame>,
    timing_error: TimingError,
    /// Of the interfaces.
    _claims: Vec<Claim>,
}

/// A link with its two ports and two directions.
struct Between {
    ports: [Port; 2],
    faults: Faults,
    drivers: [LinkDriver; 2],
}

impl Emulator {
    /// Opens the interfaces of `links`, in the calling process's namespace.
    ///
    /// # Errors
    /// If an interface does not exist or has another emulator, or the settings of a link are
    /// invalid.
    pub fn open(links: &[EmulatedLink], seed: Seed) -> Result<Self> {
        let ends = links.iter().flat_map(|link| &link.ends);
        let claims = ends.map(|end| claim(end)).collect::<Result<_>>()?;
        let poller = Poller::new()?;
        let opened = clock::monotonic();
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
                faults: Faults::new(&link.rules, seed),
                drivers: [driver(0)?, driver(1)?],
            })
        };
        Ok(Self {
            opened,
            first: None,
            poller,
            mapping: Mapping::now(),
            links: links.iter().enumerate().map(open).collect::<Result<_>>()?,
            pool: Pool::default(),
            batch: Vec::new(),
            due: Vec::new(),
            answers: Vec::new(),
            timing_error: TimingError::new()?,
            _claims: claims,
        })
    }

    /// Gives the calling thread, which is to carry frames, real-time priority if the
    /// kernel allows it, within limits that keep other processes running;
    /// [`Report::scheduling`] tells the result. Frames then leave in time on a busy
    /// machine. However, soft interrupts that the kernel deferred to its own ordinary
    /// threads wait, and a burst of a thousand small frames can overflow in front of
    /// the emulator without being counted.
    pub fn run_first(&mut self) {
        self.poller.run_first();
    }

    /// Carries frames until `control` is readable.
    ///
    /// # Errors
    /// If an interface has disappeared.
    pub fn run(&mut self, control: BorrowedFd<'_>) -> Result<()> {
        self.carry(Stop {
            control: Some(control),
            deadline: None,
        })
    }

    /// Carries frames until [`clock::monotonic`] shows `deadline`, with a tolerance of
    /// 2 ms, or a signal interrupts a sleep.
    ///
    /// # Errors
    /// If an interface has disappeared.
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

    /// The counters so far; the statistics of timing error start anew. An interface that is
    /// down is not an error, because it may come up again.
    ///
    /// # Errors
    /// If an interface has disappeared: removed, or moved to another namespace.
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
                    // Before the counters, because this updates them.
                    crossed: driver.crossed(now),
                    counters: driver.counters(),
                    rejected: link.ports[direction].rejected(),
                    backlog: driver.backlog(),
                }
            };
            links.push([direction(0), direction(1)]);
        }
        let (departures, late) = self.timing_error.take();
        Ok(Report {
            links,
            cpu: Process::sample()?.cpu,
            departures,
            late,
            scheduling: self.poller.scheduling(),
        })
    }

    /// Timing error of departures from the start to the last report: median, 99th
    /// percentile and maximum.
    pub fn late(&self) -> [Span; 3] {
        self.timing_error.whole()
    }

    /// Receives a batch from each port. Returns whether there may be more.
    fn receive(&mut self) -> Result<bool> {
        let now = clock::monotonic();
        let mut ports = self.links.iter().flat_map(|link| &link.ports);
        let more = ports.any(Port::has_frame);
        if more {
            // Compared each time, because the wall clock may be set.
            self.mapping.renew();
        }
        for link in &mut self.links {
            let (faults, first) = (&mut link.faults, &mut self.first);
            let directions = link.ports.iter_mut().zip(&mut link.drivers);
            for (direction, (port, driver)) in Direction::BOTH.into_iter().zip(directions) {
                let mut latest = Time::ZERO;
                let full = port.receive(&self.mapping, now, &self.pool, |at, mut frame| {
                    latest = latest.max(at);
                    if faults.pass(at, first, &mut frame, direction) == Outcome::Drop {
                        return;
                    }
                    let answer = driver.receive(at, frame, &self.pool);
                    self.answers.extend(answer);
                });
                // Frames that the kernel has timestamped by now come first.
                if !full {
                    driver.catch_up(now);
                    latest = now;
                }
                driver.read_until(latest);
                port.send(&self.answers)?;
                self.answers.clear();
            }
        }
        Ok(more)
    }

    /// Sends the frames that are due. Where arrivals wait to be read, a link goes on no
    /// further than to the latest that was read: its queue must not become empty for a
    /// frame that found it full, however late that frame is read.
    fn transmit(&mut self, now: Time) -> Result<()> {
        for Between { ports, drivers, .. } in &mut self.links {
            for (direction, driver) in drivers.iter_mut().enumerate() {
                let until = match ports[direction].has_frame() {
                    true => driver.known().min(now),
                    false => now,
                };
                loop {
                    let due = iter::from_fn(|| driver.poll_transmit(until)).take(BATCH);
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
                    self.timing_error.record(begun, &self.due);
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

/// Claims an interface.
///
/// # Errors
/// If another emulator has it, or there is none of this name.
fn claim(interface: &str) -> Result<Claim> {
    Claim::of(
        &format!("emulator of {}", Route::open()?.index(interface)?),
        &format!("the interface {interface}"),
        "another emulator forwards its frames; end that one, or name other interfaces",
    )
}
