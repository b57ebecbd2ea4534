//! The sockets of an investigation on systems other than Linux, and their service for echo
//! requests.
//!
//! These systems hand no ICMP error to the socket of a probe. What they do with one shows
//! twice: they reject packets that are larger than a router has said, and they name the sender
//! of an error about an echo request. An echo request therefore goes ahead of the first
//! datagram of each size, and tells which router it was.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;

use crate::machine::{Answer, AnswerKind, HopProbes, Probe, Reflector, Target, TcpProbes};
use link::Protocol;
use units::{Bytes, Seed, Span, Time};

use super::connect::Connects;
use super::error::version;
use super::format::{Arrived, Key};
use super::outgoing::Outgoing;
use super::probe_socket::{Handed, ProbeSocket};
use super::socket::{self, Ends, largest_sent};
use super::{Task, datagram, test_packet};
use os::clock;
use os::deadline::Deadline;
use os::echoes::{EchoAnswer, EchoKind, EchoRequest, Echoes};
use os::error::{Error, Result};
use os::socket::{borrowed, readable};

/// The longest wait, after which signals are seen; and while echo requests or connections are
/// under way, of which nothing wakes the program.
const LOOK: Span = Span::from_millis(50);
const SHORT_LOOK: Span = Span::from_millis(1);

/// The longest wait for the router that rejects a packet.
const REJECTER: Span = Span::from_millis(300);

/// The longest wait for the answer to an echo request before the datagram follows.
const AHEAD: Span = Span::from_millis(100);

/// The most sockets that are open at a time; those of the lowest flows are closed for
/// others.
const MOST_LINES: usize = 128;

/// The most sockets of single datagrams.
const MOST_SINGLE: usize = 32;

/// The first port of datagrams that are to meet a closed port, as in traceroute.
const CLOSED_PORT: u16 = 33_434;

/// The port of connection attempts: that of HTTPS, which networks let pass most often
/// [RFC9110 s4.2.2].
const TCP_PORT: u16 = 443;

/// The longest investigation, unless [`Driver::ends_after`] says otherwise.
const LONGEST: Span = Span::from_secs(60);

/// Bytes of ICMP's header of an echo [RFC792] [RFC4443 s4.1].
const ECHO_HEADER: Bytes = Bytes::new(8);

/// The sockets of an investigation.
pub(super) struct Driver {
    to: SocketAddr,
    ports: [u16; 2],
    source: Option<IpAddr>,
    outgoing: Outgoing,
    tcp: TcpProbes,
    probe_sockets: BTreeMap<Key, ProbeSocket>,
    /// Sockets that have sent one datagram each.
    single: VecDeque<ProbeSocket>,
    connects: Connects,
    echoes: Option<Echoes>,
    requests: Requests,
    /// The largest packet that the system sends: less than the MTU of the interface if a router
    /// said so.
    largest: Bytes,
    /// The latest router that said that an echo request is too big.
    rejecter: Option<IpAddr>,
    /// The port of the far end's reflector.
    pub(super) reflector: Option<u16>,
    deadline: Deadline,
    arrived: Vec<Arrived>,
    /// Numbers of probes that look for a reflector.
    pub(super) seed: Seed,
}

/// Echo requests under way.
#[derive(Debug, Default)]
struct Requests {
    /// Those that are probes, with their sizes.
    probes: BTreeMap<u64, Bytes>,
    /// Those ahead of datagrams, with their sizes.
    ahead: BTreeMap<u64, Bytes>,
    /// The sizes that were sent ahead.
    sizes: BTreeSet<Bytes>,
}

impl Driver {
    /// Opens the sockets that every investigation needs.
    ///
    /// # Errors
    /// There is no route, this system lacks what is asked for, or it rejects: one line with the
    /// remedy.
    pub(super) fn open(task: &Task, seed: Seed) -> Result<Self> {
        if task.capture.is_some() {
            let problem = "capturing needs Linux; leave it out";
            return Err(Error::new("--capture", problem));
        }
        let outgoing = Outgoing::toward(task.to, task.interface.as_deref(), task.address)?;
        let mut to = task.to;
        to.set_port(0);
        let wants = |protocol| task.protocols.contains(&protocol);
        let ports = [CLOSED_PORT, TCP_PORT].map(|port| task.port.unwrap_or(port));
        let mut tcp_to = to;
        tcp_to.set_port(ports[1]);
        let tcp_ends = Ends {
            to: tcp_to,
            from: task.address,
            zone: outgoing.index,
        };
        let echoes = Echoes::open(to.ip()).ok();
        Ok(Self {
            to,
            ports,
            source: task.address,
            tcp: match wants(Protocol::Tcp) {
                true => TcpProbes::Connect,
                false => TcpProbes::None,
            },
            probe_sockets: BTreeMap::new(),
            single: VecDeque::new(),
            connects: Connects::new(tcp_ends),
            echoes: echoes.filter(|_| wants(Protocol::Icmp)),
            requests: Requests::default(),
            largest: outgoing.mtu,
            rejecter: None,
            reflector: None,
            outgoing,
            deadline: Deadline::new(clock::monotonic() + LONGEST, &Arc::default()),
            arrived: Vec::new(),
            seed,
        })
    }

    /// Ends the reading of answers after `span`.
    pub(super) fn ends_after(&mut self, span: Span) {
        self.deadline = Deadline::new(clock::monotonic() + span, &Arc::default());
    }

    /// The interface through which the probes leave.
    pub(super) const fn outgoing(&self) -> &Outgoing {
        &self.outgoing
    }

    /// The address that is probed.
    pub(super) const fn far_end(&self) -> IpAddr {
        self.to.ip()
    }

    /// Whether echo requests can be sent.
    pub(super) const fn can_echo(&self) -> bool {
        self.echoes.is_some()
    }

    /// The TCP segments that can be sent.
    pub(super) const fn tcp(&self) -> TcpProbes {
        self.tcp
    }

    /// Whether fragments of any size can be sent.
    pub(super) const fn can_fragment(&self) -> bool {
        false
    }

    /// The probes with hop limits that show a router: these systems do not tell where a
    /// datagram ended.
    pub(super) const fn hop_probes(&self) -> HopProbes {
        match self.can_echo() {
            true => HopProbes::Echo,
            false => HopProbes::None,
        }
    }

    /// UDP probes go to a port that should be closed.
    pub(super) fn without_reflector(&mut self) -> Result<Reflector> {
        self.reflector = None;
        self.probe_sockets.clear();
        Ok(Reflector::None)
    }

    /// The answers that have arrived.
    pub(super) fn arrived(&mut self) -> Vec<Arrived> {
        let mut arrived = std::mem::take(&mut self.arrived);
        arrived.sort_by_key(|(at, _)| *at);
        arrived
    }

    /// Whether the time is over, or the user stopped the program.
    pub(super) fn is_over(&self) -> bool {
        self.deadline.permit().is_err()
    }

    /// Sends a probe.
    ///
    /// # Errors
    /// The system's, other than those about the packet or the path.
    pub(super) fn send(&mut self, probe: &Probe) -> Result<()> {
        match probe.protocol {
            Protocol::Tcp => self.connects.send(probe.id, probe.hop_limit),
            Protocol::Icmp => self.send_echo(probe),
            Protocol::Udp => self.send_datagram(probe),
        }
    }

    fn send_echo(&mut self, probe: &Probe) -> Result<()> {
        // Some systems would send it in fragments.
        if probe.size > self.largest && probe.to == Target::FarEnd {
            self.reject(probe);
            return Ok(());
        }
        self.requests.probes.insert(probe.id, probe.size);
        let to = match probe.to {
            Target::FarEnd => self.to.ip(),
            Target::Router(router) => router,
        };
        self.request(probe.id, to, probe.size, probe.hop_limit)
    }

    fn request(&mut self, number: u64, to: IpAddr, size: Bytes, hops: Option<u8>) -> Result<()> {
        let headers = version(to).header() + ECHO_HEADER;
        let length = size.get().saturating_sub(headers.get());
        match &mut self.echoes {
            Some(echoes) => echoes.send(EchoRequest {
                number,
                to,
                length: usize::try_from(length).unwrap_or(usize::MAX),
                hop_limit: hops,
            }),
            None => Ok(()),
        }
    }

    fn send_datagram(&mut self, probe: &Probe) -> Result<()> {
        if self.reflector.is_some() && probe.hop_limit.is_none() {
            self.send_ahead(probe.size)?;
        }
        let handed = match self.reflector {
            Some(port) => {
                let key = Key {
                    protocol: probe.protocol,
                    to: self.to.ip(),
                    flow: probe.flow,
                };
                if !self.probe_sockets.contains_key(&key) {
                    let opened = test_packet::open(self.ends(port), self.outgoing.address)?;
                    if self.probe_sockets.len() >= MOST_LINES {
                        self.probe_sockets.pop_first();
                    }
                    self.probe_sockets.insert(key, opened);
                }
                match self.probe_sockets.get_mut(&key) {
                    Some(probe_socket) => probe_socket.send(probe)?,
                    None => return Ok(()),
                }
            }
            // An error about a closed port names its socket alone: each probe has its own.
            None => {
                let mut opened = datagram::open(self.ends(self.ports[0]), self.outgoing.address)?;
                let handed = opened.send(probe)?;
                if self.single.len() >= MOST_SINGLE {
                    self.single.pop_front();
                }
                self.single.push_back(opened);
                handed
            }
        };
        match handed {
            Handed::Over => {}
            Handed::TooLarge => {
                self.learn(probe.size)?;
                self.reject(probe);
            }
            Handed::Rejected(kind) => self.answer(probe.id, self.outgoing.address, kind),
        }
        Ok(())
    }

    fn ends(&self, port: u16) -> Ends {
        let mut to = socket::zoned(self.to, self.outgoing.index);
        to.set_port(port);
        Ends {
            to,
            from: self.source,
            zone: self.outgoing.index,
        }
    }

    /// Sends an echo request ahead of the first datagram of a size: the system names the router
    /// that rejects it.
    fn send_ahead(&mut self, size: Bytes) -> Result<()> {
        if self.echoes.is_none() || size > self.largest || !self.requests.sizes.insert(size) {
            return Ok(());
        }
        let number = self.seed.derive("ahead").with(size.get()).get();
        self.requests.ahead.insert(number, size);
        self.request(number, self.to.ip(), size, None)?;
        // It leaves first: otherwise the system obeys the answer to the datagram, and is silent.
        let until = clock::monotonic() + AHEAD;
        while self.requests.ahead.contains_key(&number) && clock::monotonic() < until {
            self.wait(Some(until))?;
        }
        Ok(())
    }

    /// Looks how large packets may be now that the system rejects one of this size, and who
    /// said so.
    fn learn(&mut self, size: Bytes) -> Result<()> {
        if size > self.largest {
            return Ok(());
        }
        let largest = largest_sent(&self.ends(self.ports[0]))?;
        let largest = largest.map_or(self.largest, |largest| Bytes::new(largest.into()));
        self.largest = largest.min(Bytes::new(size.get().saturating_sub(1)));
        let until = clock::monotonic() + REJECTER;
        let is_ahead = |requests: &Requests| requests.ahead.values().any(|ahead| *ahead == size);
        while is_ahead(&self.requests) && clock::monotonic() < until {
            self.read_echoes();
            clock::sleep(SHORT_LOOK);
        }
        Ok(())
    }

    /// Answers a probe that the system rejects for its size.
    fn reject(&mut self, probe: &Probe) {
        let here = self.outgoing.address;
        let (from, kind) = match probe.size > self.outgoing.mtu {
            true => (
                here,
                AnswerKind::LocallyTooBig {
                    mtu: self.outgoing.mtu,
                },
            ),
            false => (
                self.rejecter.unwrap_or_else(|| unknown(here)),
                AnswerKind::TooBig {
                    announced: self.largest,
                    quoted: probe.size,
                },
            ),
        };
        self.answer(probe.id, from, kind);
    }

    fn answer(&mut self, id: u64, from: IpAddr, kind: AnswerKind) {
        let answer = Answer { id, from, kind };
        self.arrived.push((clock::monotonic(), answer));
    }

    /// Waits for answers until `until`, or shortly, and reads them.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn wait(&mut self, until: Option<Time>) -> Result<()> {
        let is_polled = self.connects.is_waiting()
            || self.echoes.as_ref().is_some_and(Echoes::is_waiting)
            || !self.arrived.is_empty();
        let look = clock::monotonic() + if is_polled { SHORT_LOOK } else { LOOK };
        let until = until.map_or(look, |until| until.min(look));
        let sockets = self.probe_sockets.values().chain(&self.single);
        let sockets: Vec<_> = sockets.map(|one| borrowed(one.socket())).collect();
        let ready = match sockets.is_empty() {
            true => {
                let left = until.since(clock::monotonic()).unwrap_or_default();
                clock::sleep(left);
                Vec::new()
            }
            false => readable(&sockets, Some(until))?,
        };
        let (lines, single) = ready.split_at(self.probe_sockets.len().min(ready.len()));
        for (probe_socket, is_ready) in self.probe_sockets.values_mut().zip(lines) {
            if *is_ready {
                probe_socket.read(&self.deadline, &mut self.arrived)?;
            }
        }
        for (probe_socket, is_ready) in self.single.iter_mut().zip(single) {
            if *is_ready && probe_socket.read(&self.deadline, &mut self.arrived)? {
                let closed = probe_socket.closed();
                let at = clock::monotonic();
                self.arrived.extend(closed.map(|answer| (at, answer)));
            }
        }
        self.connects.read(&mut self.arrived)?;
        self.read_echoes();
        Ok(())
    }

    fn read_echoes(&mut self) {
        let answers = self.echoes.as_mut().map(Echoes::arrived);
        for answer in answers.unwrap_or_default() {
            let EchoAnswer { number, from, kind } = answer;
            let is_router = kind == EchoKind::TooBig && from != self.outgoing.address;
            if is_router && !from.is_unspecified() {
                self.rejecter = Some(from);
            }
            if self.requests.ahead.remove(&number).is_some() {
                continue;
            }
            let Some(size) = self.requests.probes.remove(&number) else {
                continue;
            };
            let kind = match kind {
                EchoKind::Reply { length } => AnswerKind::Reply {
                    size: version(from).header() + ECHO_HEADER + Bytes::new(length as u64),
                    fragment_size: None,
                    mss: None,
                    is_unreachable: false,
                    reflected: None,
                },
                EchoKind::HopLimitExceeded => AnswerKind::HopLimitExceeded { quoted: None },
                // The message's MTU is not told: the system obeys it from now on.
                EchoKind::TooBig => {
                    let largest = largest_sent(&self.ends(self.ports[0])).ok().flatten();
                    let announced = largest.map_or(Bytes::ZERO, |size| Bytes::new(size.into()));
                    let below = Bytes::new(size.get().saturating_sub(1));
                    self.largest = announced.min(below).min(self.largest);
                    AnswerKind::TooBig {
                        announced,
                        quoted: size,
                    }
                }
                EchoKind::Unreachable => AnswerKind::Unreachable {
                    code: 0,
                    prohibited: false,
                },
            };
            self.answer(number, from, kind);
        }
    }

    /// Ends it.
    ///
    /// # Errors
    /// None on these systems.
    pub(super) fn finish(self) -> Result<Outgoing> {
        Ok(self.outgoing)
    }
}

/// The address of a router that the system does not name.
const fn unknown(here: IpAddr) -> IpAddr {
    match here {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        IpAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    }
}
