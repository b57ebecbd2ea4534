//! Links that behave like wires: every frame serialised at the rate, in user
//! space, between two interfaces each.
//!
//! Frames come and go through packet sockets, so that no privilege beyond
//! CAP_NET_RAW is needed. An arrival counts from the kernel's stamp, not from
//! when this process was woken; a departure is due at an instant that follows
//! from arrivals, sizes and rate alone, and how late it really was is
//! measured. One thread serves all links of a test bed: it sleeps until
//! shortly before the next departure and waits for the rest awake.

mod end;
mod frame;
mod port;

use std::os::fd::BorrowedFd;

use hdrhistogram::Histogram;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::prctl::set_timerslack;
use nix::sys::time::{TimeSpec, TimeValLike};
use proto::link::{BadSettings, Counters, Event, Fate, Link, Settings};
use queue::Backlog;
use units::{Seed, Span, Time};

use crate::clock::{self, Epoch};
use crate::error::{During, Error, Result};
use crate::meter::Process;
use crate::netlink::Route;
pub use end::End;
use frame::{Frame, Pool};
use port::Port;
pub use port::Refused;

/// Before a departure by less than this the emulator waits awake: a sleep
/// ends late by up to about so much.
const AWAKE: Span = Span::from_micros(60);

/// The longest sleep, so that whoever asks to stop is heard.
const LONGEST_SLEEP: Span = Span::from_millis(100);

/// How often the control descriptor is looked at while there is work.
const LOOK: Span = Span::from_millis(2);

/// Lateness above this is not told apart.
const LATEST_NANOS: u64 = 1_000_000_000;

/// What stands between two interfaces.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Wire {
    /// The interfaces, by name, in the namespace of the emulator's process.
    pub ends: [String; 2],
    /// From the first to the second, and back.
    pub ways: [Settings; 2],
}

/// What happened on one way of a wire.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Way {
    /// Packets by fate.
    pub counters: Counters,
    /// What the interface in front of it could not pass on.
    pub refused: Refused,
    /// What waits in its queue at the moment.
    pub backlog: Backlog,
}

impl Report {
    /// What happened since `earlier`.
    #[must_use]
    pub fn since(mut self, earlier: &Self) -> Self {
        let ways = self.wires.iter_mut().flatten();
        for (way, before) in ways.zip(earlier.wires.iter().flatten()) {
            way.counters = way.counters.since(&before.counters);
            way.refused = way.refused.since(before.refused);
        }
        self.cpu = self.cpu - earlier.cpu;
        self
    }

    /// How many packets met `fate`, on all wires.
    pub fn of(&self, fate: Fate) -> u64 {
        let ways = self.wires.iter().flatten();
        ways.map(|way| way.counters.of(fate)).sum()
    }
}

/// What an emulator did since it began, or since the last report.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Report {
    /// Both ways of each wire, since the beginning.
    pub wires: Vec<[Way; 2]>,
    /// Processor time of the emulator's process since it began.
    pub cpu: Span,
    /// Departures since the last report.
    pub departures: u64,
    /// How late they were: median, 99th percentile and the latest.
    pub late: [Span; 3],
}

/// An emulator of some wires.
pub struct Emulator {
    epoch: Epoch,
    wires: Vec<Between>,
    pool: Pool,
    /// Departures that go with one call.
    batch: Vec<Frame>,
    /// Of departures since the last report, in nanoseconds.
    lateness: Histogram<u64>,
    /// Of all departures until the last report.
    whole: Histogram<u64>,
}

/// A wire with its two ports and two ways.
struct Between {
    ports: [Port; 2],
    ways: [Link<Frame>; 2],
}

impl Emulator {
    /// Opens the interfaces of `wires`, in the calling process's namespace.
    ///
    /// # Errors
    /// Where one is not there, or where no link can be as asked.
    pub fn open(wires: &[Wire], seed: Seed) -> Result<Self> {
        // So that sleeps end when they are asked to, not 50 us later.
        set_timerslack(1).during(|| "asking for exact sleeps")?;
        let route = Route::open()?;
        let open = |(number, wire): (usize, &Wire)| {
            let port = |name: &String| Port::open(name, route.index(name)?);
            let way = |way: usize| {
                let seed = seed.derive(&format!("wire/{number}/{way}"));
                Link::new(wire.ways[way].clone(), seed)
                    .map_err(|bad: BadSettings| Error::new("emulating a link", bad.to_string()))
            };
            Ok(Between {
                ports: [port(&wire.ends[0])?, port(&wire.ends[1])?],
                ways: [way(0)?, way(1)?],
            })
        };
        let lateness = Histogram::new_with_bounds(1, LATEST_NANOS, 3)
            .map_err(|error| Error::new("keeping lateness", error.to_string()))?;
        Ok(Self {
            epoch: Epoch::now(),
            wires: wires.iter().enumerate().map(open).collect::<Result<_>>()?,
            pool: Pool::default(),
            batch: Vec::new(),
            whole: lateness.clone(),
            lateness,
        })
    }

    /// Keeps a record of what becomes of every packet.
    pub fn record(&mut self) {
        let ways = self.wires.iter_mut().flat_map(|wire| &mut wire.ways);
        ways.for_each(Link::record);
    }

    /// What became of packets since it was last asked: wire, way, event.
    pub fn take_events(&mut self) -> Vec<(usize, usize, Event)> {
        let mut all = Vec::new();
        for (number, wire) in self.wires.iter_mut().enumerate() {
            for (way, link) in wire.ways.iter_mut().enumerate() {
                let events = link.take_events();
                all.extend(events.into_iter().map(|event| (number, way, event)));
            }
        }
        all
    }

    /// Carries frames until `control` has something to read.
    ///
    /// # Errors
    /// Where an interface is gone.
    pub fn run(&mut self, control: BorrowedFd<'_>) -> Result<()> {
        self.carry(Some(control), None)
    }

    /// Carries frames until [`clock::monotonic`] shows `deadline`, give or
    /// take 2 ms, or a signal interrupts a sleep.
    ///
    /// # Errors
    /// Where an interface is gone.
    pub fn run_until(&mut self, deadline: Time) -> Result<()> {
        self.carry(None, Some(deadline))
    }

    fn carry(&mut self, control: Option<BorrowedFd<'_>>, deadline: Option<Time>) -> Result<()> {
        let mut looked = self.epoch.elapsed();
        loop {
            let more = self.receive()?;
            let now = self.epoch.elapsed();
            self.transmit(now)?;
            let next = self.next_departure();
            let awake = more || next.is_some_and(|next| next < now + AWAKE);
            if awake && now.since(looked) < Some(LOOK) {
                std::hint::spin_loop();
                continue;
            }
            let sleep = match next {
                _ if awake => Span::default(),
                None => LONGEST_SLEEP,
                Some(next) => {
                    let left = next.since(self.epoch.elapsed()).unwrap_or_default();
                    let left = if left > AWAKE {
                        left - AWAKE
                    } else {
                        Span::default()
                    };
                    left.min(LONGEST_SLEEP)
                }
            };
            looked = self.epoch.elapsed();
            let left = deadline.map(|end| end.since(clock::monotonic()).unwrap_or_default());
            if left == Some(Span::default())
                || self.wait(control, left.unwrap_or(sleep).min(sleep))?
            {
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
        let mut wires = Vec::new();
        for wire in &mut self.wires {
            for port in &mut wire.ports {
                port.check_there()?;
                port.count_overrun()?;
            }
            let way = |way: usize| Way {
                counters: wire.ways[way].counters(),
                refused: wire.ports[way].refused,
                backlog: wire.ways[way].backlog(),
            };
            wires.push([way(0), way(1)]);
        }
        let report = Report {
            wires,
            cpu: Process::sample()?.cpu,
            departures: self.lateness.len(),
            late: quantiles(&self.lateness),
        };
        // Both have the same bounds, so that nothing is out of range.
        let _ = self.whole.add(&self.lateness);
        self.lateness.reset();
        Ok(report)
    }

    /// How late departures were from the beginning to the last report: median,
    /// 99th percentile and the latest.
    pub fn late(&self) -> [Span; 3] {
        quantiles(&self.whole)
    }

    /// Takes a batch from each port; whether there may be more.
    fn receive(&mut self) -> Result<bool> {
        let mut more = false;
        for Between { ports, ways } in &mut self.wires {
            for (port, link) in ports.iter_mut().zip(ways) {
                more |= port.receive(self.epoch, &mut self.pool, |at, frame, pool| {
                    // What is too big is dropped in silence, as a wire would.
                    if let Some(frame) = link.receive(at, frame) {
                        pool.release(frame);
                    }
                })?;
            }
        }
        Ok(more)
    }

    /// Sends what is due.
    fn transmit(&mut self, now: Time) -> Result<()> {
        for Between { ports, ways } in &mut self.wires {
            for (way, link) in ways.iter_mut().enumerate() {
                while let Some(delivery) = link.poll_transmit(now) {
                    let late = self.epoch.elapsed().since(delivery.at).unwrap_or_default();
                    self.lateness
                        .saturating_record(late.as_nanos().clamp(1, LATEST_NANOS));
                    if delivery.copies > 1 {
                        let octets = delivery.packet.octets();
                        let (header, frame) = octets.split_at(crate::sys::packet::HEADER);
                        let flow = queue::Packet::view(&delivery.packet).flow;
                        self.batch.push(self.pool.keep(header, frame, flow));
                    }
                    self.batch.push(delivery.packet);
                }
                ports[1 - way].send(&self.batch)?;
                for frame in self.batch.drain(..) {
                    self.pool.release(frame);
                }
            }
        }
        Ok(())
    }

    fn next_departure(&self) -> Option<Time> {
        let ways = self.wires.iter().flat_map(|wire| &wire.ways);
        ways.filter_map(Link::next_timeout).min()
    }

    /// Waits for a frame, for `control`, or for `longest`; whether it was
    /// `control` or a signal.
    fn wait(&self, control: Option<BorrowedFd<'_>>, longest: Span) -> Result<bool> {
        let ports = self.wires.iter().flat_map(|wire| &wire.ports);
        let mut watched: Vec<PollFd<'_>> = control
            .into_iter()
            .chain(ports.map(Port::fd))
            .map(|fd| PollFd::new(fd, PollFlags::POLLIN))
            .collect();
        let nanos = i64::try_from(longest.as_nanos()).unwrap_or(i64::MAX);
        match ppoll(&mut watched, Some(TimeSpec::nanoseconds(nanos)), None) {
            Ok(_) => Ok(control.is_some() && watched[0].any().unwrap_or(false)),
            Err(Errno::EINTR) => Ok(true),
            Err(error) => Err(error).during(|| "waiting for frames"),
        }
    }
}

/// The median, the 99th percentile and the largest.
fn quantiles(nanos: &Histogram<u64>) -> [Span; 3] {
    [0.5, 0.99, 1.0].map(|quantile| Span::from_nanos(nanos.value_at_quantile(quantile)))
}
