//! The driver of a gateway [`proto::gateway`]: packets of hosts inside travel in bundles
//! to other gateways.
//!
//! One thread receives in batches, decides and sends; it sleeps until shortly before the
//! next bundle is due. Another one follows the kernel's routes, if the egress table is to
//! be theirs.

mod configuration;
mod core_sockets;
mod delivery;
mod holds;
mod inside;
mod labels;
mod recorder;
mod table;

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use proto::gateway::{Carriage, Counts, Settings, Traffic, Transmit, Waiting};
use queue::Backlog;
use units::{IpMtu, IpVersion, Span, Time};

use crate::clock;
use crate::deadline::Deadline;
use crate::error::{Error, Result};
use crate::meter::Process;
pub use crate::netlink::{KernelRoute, RouteFilter};
use crate::pacing::{Poller, Round, Source, Stop};
use crate::port::Purpose;
use crate::random::random;
pub use configuration::{Configuration, Follow, InsidePath, NextAs, TableSource};
use core_sockets::{CoreSockets, Sent};
pub use holds::Holds;
use inside::Inside;
pub use inside::InsideCounts;
pub use recorder::{Recorded, Recorder};
use table::EgressTable;

/// The purpose of ports, for messages.
const PURPOSE: Purpose = Purpose {
    noun: "a gateway",
    verb: "forwarding",
};

/// The interval of what is not done for each packet: path MTUs, neighbours, errors.
const LOOK: Span = Span::from_millis(200);

/// The longest time for packets that wait when a gateway ends or changes its settings.
const DRAIN: Span = Span::from_secs(2);

/// Batches from each side before anything is sent: what arrived together travels
/// together.
const BATCHES: usize = 4;

/// The time between two rounds in which nothing needs an answer at once: packets from
/// inside while others wait for company anyway, and timers. A wake-up costs as much as
/// the work on several packets.
const GRAIN: Span = Span::from_micros(50);

/// The driver's counts for a peer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerCounts {
    /// Packets in bundles that the kernel did not send.
    pub unsent: u64,
    /// Bundles for which it did not.
    pub unsent_bundles: u64,
    /// Errors of the path toward the peer, which routers or the peer's host sent.
    pub path_errors: u64,
    /// The largest packet that passes.
    pub path_mtu: u64,
    /// Whether bundles to it can be sealed; `None` without a secret.
    pub has_key: Option<bool>,
}

/// A report of a gateway.
#[derive(Clone, Debug)]
pub struct Report {
    /// The names of the peers.
    pub names: Vec<String>,
    /// The counters of the gateway without I/O, since the start.
    pub counts: Counts,
    /// The packets that wait.
    pub waiting: Waiting,
    /// The backlog of the uplink, and the average on which its queue decides.
    pub uplink: Option<(Backlog, Option<f64>)>,
    /// The counters of each peer that the driver keeps.
    pub peers: Vec<PeerCounts>,
    /// The counters of the path to the inside.
    pub inside: InsideCounts,
    /// Datagrams and frames from the core that the kernel dropped for lack of room.
    pub core_overrun: u64,
    /// Number of prefixes in the egress table.
    pub prefixes: usize,
    /// The time that packets waited in bundles, since the last report.
    pub holds: Holds,
    /// Processor time of the process since its start.
    pub cpu: Span,
    /// Problems since the last report.
    pub problems: Vec<String>,
}

/// The arrivals of a round.
#[derive(Clone, Copy, Debug, Default)]
struct Came {
    /// Whether there may be more.
    more: bool,
    /// Whether packets came from inside.
    from_inside: bool,
}

/// A gateway with its sockets.
pub struct Gateway {
    configuration: Configuration,
    core: proto::gateway::Gateway,
    inside: Inside,
    sockets: CoreSockets,
    table: EgressTable,
    poller: Poller,
    peers: Vec<PeerCounts>,
    prefixes: usize,
    holds: Holds,
    problems: Vec<String>,
    /// The instant of the next look at what is not done for each packet.
    look: Time,
    /// Counters of settings that were replaced, by the name of the peer; those of no peer
    /// have the empty name.
    past: Vec<(String, Traffic, PeerCounts)>,
    past_errors: [u64; 2],
    past_overrun: u64,
    recorder: Option<Box<dyn Recorder>>,
    /// For the deadlines of reads: the loop itself sees every stop.
    stop: Arc<AtomicBool>,
}

impl Gateway {
    /// Opens all interfaces and sockets in the calling process's namespace. Arrivals and
    /// decisions toward the core go to `recorder`, if there is one.
    ///
    /// # Errors
    /// If the kernel refuses, or the settings cannot be.
    pub fn open(configuration: Configuration, recorder: Option<Box<dyn Recorder>>) -> Result<Self> {
        let bad = |error: proto::gateway::BadSettings| {
            Error::new("setting up the gateway", error.to_string())
        };
        let settings = completed(&configuration)?;
        let core = proto::gateway::Gateway::new(settings).map_err(bad)?;
        let sockets = open_sockets(&configuration)?;
        let inside = Inside::open(&configuration.inside)?;
        let table = EgressTable::open(configuration.table.clone(), tun_of(&configuration))?;
        let mut gateway = Self {
            core,
            inside,
            sockets,
            table,
            poller: Poller::sleeping()?,
            peers: vec![PeerCounts::default(); configuration.names.len()],
            prefixes: 0,
            holds: Holds::default(),
            problems: Vec::new(),
            look: clock::monotonic(),
            past: Vec::new(),
            past_errors: [0; 2],
            past_overrun: 0,
            recorder,
            stop: Arc::default(),
            configuration,
        };
        gateway.begin_record();
        gateway.look_around(clock::monotonic())?;
        Ok(gateway)
    }

    /// Forwards packets until [`clock::monotonic`] shows `until`, the egress table changes,
    /// or a signal interrupts a sleep.
    ///
    /// # Errors
    /// If an interface has disappeared.
    pub fn run_until(&mut self, until: Time) -> Result<()> {
        loop {
            let came = self.receive()?;
            let now = clock::monotonic();
            self.transmit(now)?;
            if now >= self.look {
                self.look = now + LOOK;
                let before = self.prefixes;
                self.look_around(now)?;
                if self.prefixes != before {
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

    /// Waits for the next round. Returns whether the loop is to stop.
    fn wait(&mut self, stop: Stop<'_>, now: Time, came: Came) -> Result<bool> {
        let next = self.core.next_timeout(now);
        let is_link_busy = self.configuration.settings.uplink.is_some();
        let rests = came.from_inside && !came.more && self.core.waiting().outward > 0;
        let round = Round {
            now,
            more: came.more,
            // The uplink alone is served on time.
            next: next.map(|next| match is_link_busy {
                true => next,
                false => next.max(now + GRAIN),
            }),
            longest: Some(if rests { GRAIN } else { LOOK }),
        };
        let inside = match rests {
            true => Vec::new(),
            false => self.inside.sources(),
        };
        let sources: Vec<&dyn Source> = inside.into_iter().chain(self.sockets.sources()).collect();
        self.poller.wait(sources, stop, round)
    }

    /// Sends everything that waits, within two seconds; nothing more is received.
    /// Returns what is left.
    ///
    /// # Errors
    /// If an interface has disappeared.
    pub fn drain(&mut self) -> Result<Waiting> {
        let end = clock::monotonic() + DRAIN;
        self.core.flush(clock::monotonic());
        loop {
            let now = clock::monotonic();
            self.transmit(now)?;
            let waiting = self.core.waiting();
            if waiting == Waiting::default() || now >= end {
                return Ok(waiting);
            }
            let next = self.core.next_timeout(now).unwrap_or(end);
            clock::sleep_until(next.min(end));
        }
    }

    /// Continues with another configuration. What waits is sent by the old one first;
    /// arrivals wait in the kernel meanwhile. The paths and sockets stay open where they
    /// are the same.
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
            return Err(Error::new("reading the configuration again", problem));
        }
        let settings = completed(&configuration)?;
        let mut core = proto::gateway::Gateway::new(settings)
            .map_err(|bad| Error::new("reading the configuration again", bad.to_string()))?;
        let same_peers = carriages(&configuration) == carriages(old)
            && configuration.label_next_hops == old.label_next_hops;
        let left = self.drain()?;
        if left != Waiting::default() {
            self.problems.push(format!(
                "{} packets that waited when the configuration was replaced were dropped",
                left.outward + left.inward
            ));
        }
        self.keep_past()?;
        if !same_peers {
            // Two sockets cannot have the same address and port.
            self.sockets = CoreSockets::open(&[], &[], None)?;
            self.sockets = open_sockets(&configuration)?;
        }
        self.table.replace(configuration.table.clone())?;
        self.hand_over();
        core.succeed(&mut self.core);
        self.core = core;
        self.peers = vec![PeerCounts::default(); configuration.names.len()];
        self.configuration = configuration;
        self.begin_record();
        self.look_around(clock::monotonic())
    }

    /// The names of the peers.
    pub fn names(&self) -> Vec<String> {
        self.configuration.names.clone()
    }

    /// The names of the peers with a secret.
    pub fn sealed(&self) -> Vec<String> {
        let names = self.configuration.names.iter().enumerate();
        let sealed = names.filter(|(number, _)| self.core.has_key(*number).is_some());
        sealed.map(|(_, name)| name.clone()).collect()
    }

    /// Number of prefixes in the egress table.
    pub const fn prefixes(&self) -> usize {
        self.prefixes
    }

    /// The counters so far; hold times and problems start anew.
    ///
    /// # Errors
    /// If an interface has disappeared.
    pub fn report(&mut self) -> Result<Report> {
        self.hand_over();
        let mut counts = self.core.counts().clone();
        let mut peers = self.peers.clone();
        for (number, counts) in peers.iter_mut().enumerate() {
            counts.has_key = self.core.has_key(number);
        }
        for (name, traffic, driver) in &self.past {
            let known = self.configuration.names.iter().position(|own| own == name);
            match known {
                Some(number) => {
                    counts.peers[number].add(traffic);
                    peers[number].add(driver);
                }
                None => counts.other.add(traffic),
            }
        }
        let [errors, withheld] = self.past_errors;
        counts.errors += errors;
        counts.errors_withheld += withheld;
        Ok(Report {
            names: self.configuration.names.clone(),
            counts,
            waiting: self.core.waiting(),
            uplink: self.core.uplink(),
            peers,
            inside: self.inside.counts()?,
            core_overrun: self.past_overrun + self.sockets.overrun()?,
            prefixes: self.prefixes,
            holds: std::mem::take(&mut self.holds),
            cpu: Process::sample()?.cpu,
            problems: std::mem::take(&mut self.problems),
        })
    }

    /// Receives from both sides.
    fn receive(&mut self) -> Result<Came> {
        let mut came = Came::default();
        for _ in 0..BATCHES {
            let now = clock::monotonic();
            let deadline = Deadline::of_owner(now + LOOK, &self.stop);
            let core = std::cell::RefCell::new(&mut self.core);
            came.more = self.sockets.receive(
                &deadline,
                |ends, service, payload| {
                    core.borrow_mut()
                        .receive_payload(now, ends, service, payload);
                },
                |octets| core.borrow_mut().receive_labelled(now, octets),
            )?;
            came.more |= self.inside.receive(|packet| {
                came.from_inside = true;
                core.borrow_mut().receive_inside(now, packet);
            })?;
            if !came.more {
                break;
            }
        }
        Ok(came)
    }

    /// Sends what is due.
    fn transmit(&mut self, now: Time) -> Result<()> {
        self.core.handle_timeout(now);
        loop {
            match self.core.poll_transmit(now) {
                None => break,
                Some(Transmit::Inside { octets }) => self.inside.send(now, octets)?,
                Some(Transmit::Core {
                    peer,
                    octets,
                    payload,
                    service,
                    packets,
                }) => {
                    self.holds.record(octets, payload);
                    let sent = self.sockets.send(peer, octets, payload, service)?;
                    if sent != Sent::Yes
                        && let Some(counts) = self.peers.get_mut(peer)
                    {
                        counts.unsent += packets;
                        counts.unsent_bundles += u64::from(packets > 0);
                        if sent == Sent::TooBig {
                            self.look_at_path(now, peer);
                        }
                    }
                }
            }
        }
        if self.core.events() >= recorder::TOGETHER {
            self.hand_over();
        }
        self.inside.flush()
    }

    /// Does what is not done for each packet.
    fn look_around(&mut self, now: Time) -> Result<()> {
        if let Some((rows, problems)) = self.table.take() {
            self.prefixes = rows.len();
            self.core.set_table(&rows);
            self.problems.extend(problems);
            self.inside.forget_ways();
        }
        for peer in 0..self.peers.len() {
            self.look_at_path(now, peer);
        }
        self.sockets.renew()?;
        let peers = &mut self.peers;
        self.sockets.errors(|peer| {
            if let Some(counts) = peers.get_mut(peer) {
                counts.path_errors += 1;
            }
        });
        Ok(())
    }

    /// Adopts the path MTU to a peer that the kernel knows.
    fn look_at_path(&mut self, now: Time, peer: usize) {
        let known = self.sockets.path_mtu(peer);
        let known = known.and_then(|mtu| IpMtu::new(mtu.into(), IpVersion::V4).ok());
        if let Some(mtu) = known {
            self.core.set_path_mtu(now, peer, mtu);
        }
        if let (Some(counts), Some((mtu, _))) = (self.peers.get_mut(peer), self.core.path_mtu(peer))
        {
            counts.path_mtu = mtu.get();
        }
    }

    /// Keeps the counters of a configuration that is replaced.
    fn keep_past(&mut self) -> Result<()> {
        let report = self.report()?;
        self.problems = report.problems;
        self.holds = report.holds;
        self.past_errors = [report.counts.errors, report.counts.errors_withheld];
        self.past_overrun = report.core_overrun;
        // Those of no peer hold what is known of peers that are no more.
        self.past.clear();
        self.past
            .push((String::new(), report.counts.other, PeerCounts::default()));
        let counts = report.counts.peers.into_iter().zip(report.peers);
        for (name, (traffic, driver)) in report.names.into_iter().zip(counts) {
            self.past.push((name, traffic, driver));
        }
        Ok(())
    }
}

impl PeerCounts {
    const fn add(&mut self, other: &Self) {
        self.unsent += other.unsent;
        self.unsent_bundles += other.unsent_bundles;
        self.path_errors += other.path_errors;
    }
}

/// The settings with the addresses of the interfaces inside, unless they are stated, and
/// with entropy for secrets: each time anew, so that no nonce is drawn twice.
fn completed(configuration: &Configuration) -> Result<Settings> {
    let mut settings = configuration.settings.clone();
    settings.entropy = random()?;
    let found = match &configuration.inside {
        InsidePath::Packet { interfaces, .. } => inside::own_addresses(interfaces)?,
        InsidePath::Tun { .. } => [None, None],
    };
    let of_core: Vec<IpAddr> = settings
        .peers
        .iter()
        .filter_map(|peer| here(&peer.carriage))
        .collect();
    for (place, (stated, found)) in settings.inside.iter_mut().zip(found).enumerate() {
        let of_version = |address: &&IpAddr| usize::from(address.is_ipv6()) == place;
        let core = of_core.iter().find(of_version).copied();
        *stated = stated.or(found).or(core);
    }
    Ok(settings)
}

/// The address of this gateway in a carriage.
fn here(carriage: &Carriage) -> Option<IpAddr> {
    match carriage {
        Carriage::Ip { addresses } | Carriage::Udp { addresses, .. } => Some(addresses.ends()[0]),
        Carriage::Label { .. } => None,
    }
}

fn carriages(configuration: &Configuration) -> Vec<Carriage> {
    let peers = configuration.settings.peers.iter();
    peers.map(|peer| peer.carriage).collect()
}

fn open_sockets(configuration: &Configuration) -> Result<CoreSockets> {
    CoreSockets::open(
        &carriages(configuration),
        &configuration.label_next_hops,
        configuration.core.as_deref(),
    )
}

fn tun_of(configuration: &Configuration) -> Option<String> {
    let name = configuration.inside.tun();
    configuration.installs_routes.then(|| name.to_owned())
}
