//! The driver of a gateway [`crate::machine`]: packets of hosts inside travel in bundles
//! to other gateways.
//!
//! One thread receives in batches, decides and sends; it sleeps until shortly before the
//! next bundle is due. Another one follows the kernel's routes, if the egress table is to
//! be theirs.

mod arrivals;
mod burst;
mod configuration;
mod core_sockets;
mod delivery;
mod holds;
mod host;
mod inside;
mod labels;
mod outlet;
mod recorder;
mod report;
mod table;
mod through_kernel;
mod waiting;

use std::cell::{Cell, RefCell};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::machine::{Transmit, Waiting};
use units::{IpMtu, IpVersion, Span, Time};
use wire::ip_packet::addresses;

use arrivals::Arrivals;
pub use configuration::{
    Configuration, Follow, InsidePath, NextAs, Processor, Sending, TableSource,
};
use core_sockets::{CoreSockets, Unsent};
pub use holds::Holds;
pub use host::{Host, forwards_twice, problems};
use inside::Inside;
pub use inside::InsideCounts;
use os::deadline::Deadline;
use os::error::{Error, Result};
pub use os::netlink::{KernelRoute, RouteFilter};
use os::pacing::{Poller, Stop};
use os::{clock, kernel_clock};
pub use recorder::{Recorded, Recorder};
use report::Past;
pub use report::{PeerCounts, Report};
use table::EgressTable;
use waiting::{GRAIN, RoundArrivals};

/// The interval of what is not done for each packet: path MTUs, neighbours, errors.
const LOOK: Span = Span::from_millis(200);

/// The longest time for packets that wait when a gateway ends or changes its settings.
const DRAIN: Span = Span::from_secs(2);

/// Batches from each side before anything is sent: what arrived together travels
/// together.
const BATCHES: usize = 4;

/// The most paths to peers that are looked at in an interval, each with a few system calls.
const MOST_PATHS: usize = 256;

/// The operation of a reload, for messages.
const RELOADING: &str = "reading the configuration again";

/// Packets sent at once of which a sender is told that they were too big for an inside link;
/// there are no more than ten errors at once.
const MOST_TOLD: usize = 10;

/// A gateway with its sockets.
pub struct Gateway {
    configuration: Configuration,
    core: crate::machine::Gateway,
    inside: Inside,
    sockets: CoreSockets,
    table: EgressTable,
    poller: Poller,
    arrivals: Arrivals,
    peers: Vec<PeerCounts>,
    prefixes: usize,
    holds: Holds,
    problems: Vec<String>,
    /// The time of the next look at what is not done for each packet.
    look: Time,
    past: Past,
    recorder: Option<Box<dyn Recorder>>,
    /// When something came last, from either side.
    came: Time,
    /// For the deadlines of reads: the loop itself sees every stop.
    stop: Arc<AtomicBool>,
    /// The peer whose path was looked at last.
    looked_at: usize,
    /// What takes the place of this configuration once its egress table is ready.
    next: Option<Next>,
    /// What became of the last reload.
    reloaded: Option<Result<()>>,
}

/// A configuration that is to be adopted.
struct Next {
    configuration: Configuration,
    core: crate::machine::Gateway,
}

impl Gateway {
    /// Opens all interfaces and sockets in the calling process's namespace. Arrivals and
    /// decisions toward the core go to `recorder`, if there is one.
    ///
    /// # Errors
    /// If the kernel rejects, or the settings cannot be.
    pub fn open(configuration: Configuration, recorder: Option<Box<dyn Recorder>>) -> Result<Self> {
        let bad = |error: crate::machine::BadSettings| {
            Error::new("setting up the gateway", error.to_string())
        };
        let settings = configuration.completed()?;
        let core = crate::machine::Gateway::new(settings).map_err(bad)?;
        let sockets = open_sockets(&configuration)?;
        let (inside, problems) = Inside::open(&configuration.inside)?;
        let (table, news) = EgressTable::open(configuration.table.clone(), tun_of(&configuration))?;
        let mut gateway = Self {
            core,
            inside,
            sockets,
            table,
            poller: Poller::sleeping()?,
            arrivals: Arrivals::new(clock::monotonic()),
            peers: vec![PeerCounts::default(); configuration.names.len()],
            prefixes: 0,
            holds: Holds::default(),
            problems,
            look: clock::monotonic(),
            past: Past::default(),
            recorder,
            came: Time::ZERO,
            stop: Arc::default(),
            looked_at: 0,
            next: None,
            reloaded: None,
            configuration,
        };
        gateway.begin_record();
        gateway.adopt(news);
        gateway.look_around(clock::monotonic())?;
        gateway.take_turn();
        Ok(gateway)
    }

    /// Forwards packets until [`clock::monotonic`] shows `until`, the egress table changes,
    /// another configuration is adopted or rejected, or a signal interrupts a sleep.
    ///
    /// # Errors
    /// If an interface has disappeared.
    pub fn run_until(&mut self, until: Time) -> Result<()> {
        loop {
            let came = self.receive()?;
            let now = clock::monotonic();
            self.arrivals.end(now);
            self.transmit(now)?;
            if now >= self.look {
                self.look = now + LOOK;
                let before = self.prefixes;
                self.look_around(now)?;
                if self.prefixes != before || self.reloaded.is_some() {
                    return Ok(());
                }
            }
            let stop = Stop {
                control: None,
                deadline: Some(until),
            };
            if self.wait(stop, now, came)? {
                return Ok(());
            }
        }
    }

    /// Sends everything that waits, within two seconds; nothing more is received. Also
    /// waits for interfaces without room if it is to end. Returns what is left.
    fn drain(&mut self, ends: bool) -> Result<Waiting> {
        let end = clock::monotonic() + DRAIN;
        self.core.flush(clock::monotonic());
        loop {
            let now = clock::monotonic();
            self.transmit(now)?;
            let waiting = self.core.waiting();
            let is_stuck = ends && self.inside.has_waiting();
            if waiting == Waiting::default() && !is_stuck || now >= end {
                return Ok(waiting);
            }
            let next = self.core.next_timeout(now).unwrap_or(end);
            let soon = if is_stuck { now + GRAIN } else { end };
            kernel_clock::sleep_until(next.min(soon));
        }
    }

    /// Ends it: sends everything that waits, within two seconds, and counts what an
    /// interface did not take. Returns the last counters, and how many packets of its own
    /// were left.
    ///
    /// # Errors
    /// If an interface has disappeared.
    pub fn end(mut self) -> Result<(Report, u64)> {
        let left = self.drain(true)?;
        self.end_record();
        self.inside.abandon();
        Ok((self.report()?, left.outward + left.inward))
    }

    /// Continues with another configuration once a thread has made its egress table; packets
    /// are forwarded meanwhile. [`Gateway::reloaded`] tells what became of it. What waits then
    /// is sent by the old configuration first, while arrivals wait in the kernel. The paths
    /// and sockets stay open where they are the same.
    ///
    /// # Errors
    /// If the new configuration cannot be; the old one is then still in force. Another
    /// path to the inside needs a new start.
    pub fn reload(&mut self, configuration: Configuration) -> Result<()> {
        let old = &self.configuration;
        if configuration.inside != old.inside
            || configuration.core != old.core
            || configuration.installs_routes != old.installs_routes
        {
            let problem = "the interfaces have changed; start the gateway again";
            return Err(Error::new(RELOADING, problem));
        }
        let core = crate::machine::Gateway::new(configuration.completed()?)
            .map_err(|bad| Error::new(RELOADING, bad.to_string()))?;
        self.table.replace(configuration.table.clone())?;
        self.next = Some(Next {
            configuration,
            core,
        });
        Ok(())
    }

    /// What became of the last [`Gateway::reload`], once.
    pub fn reloaded(&mut self) -> Option<Result<()>> {
        self.reloaded.take()
    }

    /// Continues with `next`. If its sockets cannot be opened, the old ones are opened again.
    fn swap(&mut self, next: Next) -> Result<Result<()>> {
        let Next {
            configuration,
            mut core,
        } = next;
        let old = &self.configuration;
        let same_sockets = configuration.encapsulations() == old.encapsulations()
            && configuration.label_next_hops == old.label_next_hops
            && configuration.settings.probe.is_some() == old.settings.probe.is_some();
        let left = self.drain(false)?;
        let past = self.counted()?;
        if !same_sockets {
            // Two sockets cannot have the same address and port.
            self.sockets = CoreSockets::open(&[], &[], None, false)?;
            match open_sockets(&configuration) {
                Ok(sockets) => self.sockets = sockets,
                Err(error) => {
                    self.sockets = open_sockets(&self.configuration)?;
                    return Ok(Err(error));
                }
            }
        }
        if left != Waiting::default() {
            self.problems.push(format!(
                "{} packets that waited when the configuration was replaced were dropped",
                left.outward + left.inward
            ));
        }
        self.past = past;
        self.hand_over();
        core.succeed(&mut self.core);
        self.core = core;
        self.peers = vec![PeerCounts::default(); configuration.names.len()];
        let processor = self.configuration.processor;
        self.configuration = configuration;
        if self.configuration.processor != processor {
            self.take_turn();
        }
        self.begin_record();
        Ok(Ok(()))
    }

    /// The names of the peers.
    pub fn names(&self) -> Vec<String> {
        self.configuration.names.clone()
    }

    /// The names of the peers to which bundles are sealed once keys are agreed.
    pub fn keyed(&self) -> Vec<String> {
        let names = self.configuration.names.iter().enumerate();
        let sealed = names.filter(|(number, _)| self.core.has_key(*number).is_some());
        sealed.map(|(_, name)| name.clone()).collect()
    }

    /// The interfaces inside, each with the path of packets to it: `tun`, `packet` or
    /// `xdp`.
    pub fn inside_paths(&self) -> Vec<(String, &'static str)> {
        self.inside.paths()
    }

    /// Number of prefixes in the egress table.
    pub const fn prefixes(&self) -> usize {
        self.prefixes
    }

    /// Receives from both sides.
    fn receive(&mut self) -> Result<RoundArrivals> {
        let mut came = RoundArrivals::default();
        for _ in 0..BATCHES {
            self.arrivals.begin(clock::monotonic());
            let core = &mut self.core;
            let more = self.inside.receive(&mut self.arrivals, |at, packet| {
                came.from_inside = true;
                core.receive_inside(at, packet);
            })?;
            came.more = more;
            if !more {
                break;
            }
        }
        for _ in 0..BATCHES {
            let now = clock::monotonic();
            self.arrivals.end(now);
            let deadline = Deadline::of_owner(now + LOOK, &self.stop);
            let core = RefCell::new(&mut self.core);
            let from_core = Cell::new(false);
            let more = self.sockets.receive(
                &deadline,
                |ends, service, payload| {
                    from_core.set(true);
                    core.borrow_mut()
                        .receive_payload(now, ends, service, payload);
                },
                |bytes| {
                    from_core.set(true);
                    core.borrow_mut().receive_labelled(now, bytes);
                },
            )?;
            came.from_core |= from_core.get();
            if !more {
                break;
            }
            came.more = more;
        }
        Ok(came)
    }

    /// Sends what is due, and errors about packets that no host can get.
    fn transmit(&mut self, now: Time) -> Result<()> {
        self.core.handle_timeout(now);
        loop {
            let too_big = self.send_due(now)?;
            if too_big.is_empty() {
                break;
            }
            for (packet, mtu) in too_big {
                let host = addresses(&packet).ok().map(|addresses| addresses.ends()[1]);
                let from = host.and_then(|host| self.inside.address_toward(host));
                if let Some(from) = from {
                    self.core.tell_sender(now, &packet, mtu, from);
                }
            }
        }
        if self.core.events() >= recorder::TOGETHER {
            self.hand_over();
        }
        self.inside.flush()
    }

    /// Sends what is due. Returns the first packets that are larger than the link to their
    /// host takes, each with its MTU.
    fn send_due(&mut self, now: Time) -> Result<Vec<(Vec<u8>, u32)>> {
        let mut too_big = Vec::new();
        loop {
            match self.core.poll_transmit(now) {
                None => break,
                Some(Transmit::Inside { bytes }) => {
                    let mtu = self.inside.send(now, bytes)?;
                    if let Some(mtu) = mtu.filter(|_| too_big.len() < MOST_TOLD) {
                        too_big.push((bytes.to_vec(), mtu));
                    }
                }
                Some(Transmit::Error { bytes }) => self.inside.send_error(bytes),
                Some(Transmit::Core {
                    peer,
                    bytes,
                    payload,
                    service,
                    packets,
                }) => {
                    self.holds.record(bytes, payload);
                    let load = (peer, packets);
                    self.sockets.send(load, bytes, payload, service)?;
                }
            }
        }
        for unsent in self.sockets.flush() {
            self.note_unsent(now, unsent);
        }
        Ok(too_big)
    }

    /// Counts a bundle that the kernel did not take.
    fn note_unsent(&mut self, now: Time, unsent: Unsent) {
        if let Some(counts) = self.peers.get_mut(unsent.peer) {
            counts.unsent += unsent.packets;
            counts.unsent_bundles += u64::from(unsent.packets > 0);
        }
        if unsent.too_big {
            self.look_at_path(now, unsent.peer);
        }
    }

    /// Does what is not done for each packet.
    fn look_around(&mut self, now: Time) -> Result<()> {
        if let Some(news) = self.table.take() {
            self.adopt_news(news)?;
        }
        for _ in 0..self.peers.len().min(MOST_PATHS) {
            self.looked_at = (self.looked_at + 1) % self.peers.len();
            self.look_at_path(now, self.looked_at);
        }
        self.inside.look();
        self.sockets.renew()?;
        let (peers, core) = (&mut self.peers, &mut self.core);
        self.sockets.errors(|peer| {
            if let Some(counts) = peers.get_mut(peer) {
                counts.path_errors += 1;
                core.doubt_path(now, peer);
            }
        });
        Ok(())
    }

    /// Adopts a new table, and the configuration that it belongs to.
    fn adopt_news(&mut self, news: Result<table::News>) -> Result<()> {
        let next = self.next.take();
        let is_reload = next.is_some();
        let outcome = match (news, next) {
            (Err(error), _) => Err(error),
            (Ok(news), None) => Ok(news),
            (Ok(news), Some(next)) => self.swap(next)?.map(|()| news),
        };
        let outcome = match outcome {
            Ok(news) => {
                self.adopt(news);
                Ok(())
            }
            Err(error) if is_reload => {
                self.table.replace(self.configuration.table.clone())?;
                Err(error)
            }
            Err(error) => return Err(error),
        };
        if is_reload {
            self.reloaded = Some(outcome);
        }
        Ok(())
    }

    fn adopt(&mut self, news: table::News) {
        self.prefixes = news.prefixes;
        self.core.set_table(news.table);
        self.problems.extend(news.problems);
        self.inside.forget_ways();
    }

    /// Adopts the path MTU to a peer that the kernel knows.
    fn look_at_path(&mut self, now: Time, peer: usize) {
        let known = self.sockets.path_mtu(peer);
        let known = known.and_then(|mtu| IpMtu::new(mtu.into(), IpVersion::V4).ok());
        if let Some(mtu) = known {
            self.core.set_path_mtu(now, peer, mtu);
        }
        if let (Some(counts), Some(mtu)) = (self.peers.get_mut(peer), self.core.path_mtu(peer)) {
            counts.path_mtu = mtu.get();
        }
    }
}

fn open_sockets(configuration: &Configuration) -> Result<CoreSockets> {
    CoreSockets::open(
        &configuration.encapsulations(),
        &configuration.label_next_hops,
        configuration.core.as_deref(),
        configuration.settings.probe.is_some(),
    )
}

fn tun_of(configuration: &Configuration) -> Option<String> {
    let name = configuration.inside.tun();
    configuration.installs_routes.then(|| name.to_owned())
}
