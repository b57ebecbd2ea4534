//! The sockets of an investigation.

use std::collections::BTreeMap;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::sync::Arc;

use crate::machine::{HopProbes, Probe, Reflector, Target, TcpProbes};
use link::Protocol;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;
use units::{Seed, Span, Time};
use wire::probe::ProbePacket;

use super::capture::Capture;
use super::connect::Connects;
use super::format::{Arrived, Key};
use super::fragments::Fragmenter;
use super::outgoing::Outgoing;
use super::probe_socket::{ProbeSocket, Reading};
use super::quotes::Quotes;
use super::receive::Room;
use super::socket::{self, Ends};
use super::{Task, datagram, echo, segment, test_packet};
use os::clock;
use os::deadline::Deadline;
use os::error::{OperationContext, Result};
use os::kernel_clock::Mapping;

/// The longest wait, after which signals are seen.
const LOOK: Span = Span::from_millis(50);

/// The most sockets that are open at a time; those of the lowest flows are closed for
/// others.
const MOST_LINES: usize = 128;

/// The first port of datagrams that are to meet a closed port, as in traceroute.
const CLOSED_PORT: u16 = 33_434;

/// The port of connection attempts: that of HTTPS, which networks let pass most often
/// [RFC9110 s4.2.2].
pub(super) const TCP_PORT: u16 = 443;

/// The longest investigation, unless [`Driver::ends_after`] says otherwise.
const LONGEST: Span = Span::from_secs(60);

/// The hop limit of packets whose header this program writes, as Linux has it.
const HOP_LIMIT: u8 = 64;

/// The sockets of an investigation.
pub(super) struct Driver {
    to: SocketAddr,
    ports: [u16; 2],
    source: Option<IpAddr>,
    interface: Option<String>,
    outgoing: Outgoing,
    tcp: TcpProbes,
    can_echo: bool,
    probe_sockets: BTreeMap<Key, ProbeSocket>,
    connects: Connects,
    fragmenter: Option<Fragmenter>,
    quotes: Option<Quotes>,
    /// The port of the far end's reflector.
    pub(super) reflector: Option<u16>,
    capture: Option<Capture>,
    room: Room,
    mapping: Mapping,
    deadline: Deadline,
    arrived: Vec<Arrived>,
    /// Numbers of echoes and of fragmented packets.
    pub(super) seed: Seed,
    fragmented: u64,
}

impl Driver {
    /// Opens the sockets that every investigation needs.
    ///
    /// # Errors
    /// There is no route, or the kernel rejects: one line with the remedy.
    pub(super) fn open(task: &Task, seed: Seed) -> Result<Self> {
        let outgoing = Outgoing::toward(task.to, task.interface.as_deref(), task.address)?;
        let mut to = task.to;
        to.set_port(0);
        let wants = |protocol| task.protocols.contains(&protocol);
        let ports = [CLOSED_PORT, TCP_PORT].map(|port| task.port.unwrap_or(port));
        let ends = Ends {
            to,
            from: task.address,
            interface: task.interface.clone(),
            zone: outgoing.index,
        };
        let tcp = match wants(Protocol::Tcp) {
            true if segment::is_allowed(to) => TcpProbes::Any,
            true => TcpProbes::Connect,
            false => TcpProbes::None,
        };
        let mut tcp_ends = ends.clone();
        tcp_ends.to.set_port(ports[1]);
        let capture = task.capture.as_deref();
        let capture = capture
            .map(|path| Capture::begin(path, &outgoing, to.ip()))
            .transpose()?;
        Ok(Self {
            to,
            ports,
            source: task.address,
            interface: task.interface.clone(),
            tcp,
            can_echo: echo::is_allowed(to),
            probe_sockets: BTreeMap::new(),
            connects: Connects::new(tcp_ends, outgoing.address, outgoing.mtu),
            fragmenter: Fragmenter::open(&ends)?,
            quotes: Quotes::open(&ends),
            reflector: None,
            capture,
            outgoing,
            room: Room::new(),
            mapping: Mapping::now(),
            deadline: Deadline::new(clock::monotonic() + LONGEST, &Arc::default()),
            arrived: Vec::new(),
            seed,
            fragmented: 0,
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
        self.can_echo
    }

    /// The TCP segments that can be sent.
    pub(super) const fn tcp(&self) -> TcpProbes {
        self.tcp
    }

    /// The probes with hop limits that show a router.
    pub(super) const fn hop_probes(&self) -> HopProbes {
        HopProbes::Any
    }

    /// Whether fragments of any size can be sent.
    pub(super) const fn can_fragment(&self) -> bool {
        self.fragmenter.is_some()
    }

    /// UDP probes go to a port that should be closed.
    pub(super) fn without_reflector(&mut self) -> Result<Reflector> {
        self.reflector = None;
        self.probe_sockets
            .retain(|key, _| key.protocol != Protocol::Udp);
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
    /// The kernel's, other than those about the packet or the path.
    pub(super) fn send(&mut self, probe: &Probe) -> Result<()> {
        if probe.protocol == Protocol::Tcp && self.tcp == TcpProbes::Connect {
            return self.connects.send(probe.id, probe.hop_limit);
        }
        let key = Key {
            protocol: probe.protocol,
            to: match probe.to {
                Target::FarEnd => self.to.ip(),
                Target::Router(router) => router,
            },
            flow: probe.flow,
        };
        if !self.probe_sockets.contains_key(&key) {
            let probe_socket = self.open_socket(key)?;
            if self.probe_sockets.len() >= MOST_LINES {
                self.probe_sockets.pop_first();
            }
            self.probe_sockets.insert(key, probe_socket);
        }
        let Some(probe_socket) = self.probe_sockets.get_mut(&key) else {
            return Ok(());
        };
        let mut reading = Reading {
            room: &mut self.room,
            mapping: &self.mapping,
            deadline: &self.deadline,
            arrived: &mut self.arrived,
        };
        match (probe.fragment_size, &mut self.fragmenter) {
            // A raw socket sends fragments, and an ordinary one gets the answer.
            (Some(size), Some(fragmenter)) => {
                self.fragmented += 1;
                let number = self.seed.with(self.fragmented).get() & u64::from(u32::MAX);
                let identification = u32::try_from(number).unwrap_or(0);
                let (transport, data) = probe_socket.transport(probe)?;
                let packet = ProbePacket {
                    addresses: probe_socket.addresses()?,
                    hop_limit: probe.hop_limit.unwrap_or(HOP_LIMIT),
                    flow_label: 0,
                    identification: u16::try_from(number & 0xffff).unwrap_or(0),
                    dont_fragment: false,
                    transport,
                    data: &data,
                    size: u32::try_from(probe.size.get()).unwrap_or(u32::MAX),
                };
                let size = usize::try_from(size.get()).unwrap_or(usize::MAX);
                fragmenter.send(&packet, size, identification)
            }
            _ => probe_socket.send(probe, &mut reading),
        }
    }

    fn open_socket(&self, key: Key) -> Result<ProbeSocket> {
        let mut to = self.to;
        to.set_ip(key.to);
        let mut to = socket::zoned(to, self.outgoing.index);
        to.set_port(match key.protocol {
            Protocol::Icmp => 0,
            Protocol::Udp => self.reflector.unwrap_or(self.ports[0]),
            Protocol::Tcp => self.ports[1],
        });
        let ends = Ends {
            to,
            from: self.source,
            interface: self.interface.clone(),
            zone: self.outgoing.index,
        };
        let here = self.outgoing.address;
        match key.protocol {
            Protocol::Icmp => echo::open(ends, here, self.echo_identifier(key.flow)),
            Protocol::Udp if self.reflector.is_some() => test_packet::open(ends, here),
            Protocol::Udp => datagram::open(ends, here),
            Protocol::Tcp => segment::open(ends, here, self.outgoing.mtu),
        }
    }

    /// The identifier of a flow of echo requests.
    fn echo_identifier(&self, flow: u16) -> u16 {
        let number = self.seed.derive("echo").with(flow.into()).get();
        u16::try_from(number & 0xffff).unwrap_or(0)
    }

    /// Waits for answers until `until`, or shortly, and reads them.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn wait(&mut self, until: Option<Time>) -> Result<()> {
        let now = clock::monotonic();
        let look = now + LOOK;
        let until = until.map_or(look, |until| until.min(look));
        let span = until.since(now).unwrap_or_default();
        let nanos = i64::try_from(span.as_nanos()).unwrap_or(0);
        let sockets = self.probe_sockets.values().map(ProbeSocket::socket);
        let sockets: Vec<&OwnedFd> = sockets.collect();
        let replies = sockets.iter().map(|socket| (socket, PollFlags::POLLIN));
        let mut watched: Vec<PollFd<'_>> = replies
            .map(|(socket, flags)| PollFd::new(socket.as_fd(), flags))
            .collect();
        let connecting = self.connects.sockets();
        watched.extend(connecting.map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLOUT)));
        match ppoll(&mut watched, Some(TimeSpec::new(0, nanos)), None) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error).during(|| "waiting for answers"),
        }
        let ready: Vec<bool> = watched
            .iter()
            .map(|watched| watched.revents().is_some_and(|flags| !flags.is_empty()))
            .collect();
        drop(watched);
        self.mapping.renew();
        let mut reading = Reading {
            room: &mut self.room,
            mapping: &self.mapping,
            deadline: &self.deadline,
            arrived: &mut self.arrived,
        };
        for (probe_socket, _) in self
            .probe_sockets
            .values_mut()
            .zip(&ready)
            .filter(|(_, ready)| **ready)
        {
            probe_socket.read(&mut reading)?;
        }
        if ready
            .iter()
            .skip(self.probe_sockets.len())
            .any(|ready| *ready)
        {
            self.connects.read(&mut reading)?;
        }
        if let Some(quotes) = &self.quotes {
            quotes.add_to(&mut reading)?;
        }
        self.write_capture()
    }

    fn write_capture(&mut self) -> Result<()> {
        match &mut self.capture {
            Some(capture) => capture.drain(&mut self.room, &self.mapping, &self.deadline),
            None => Ok(()),
        }
    }

    /// Writes the rest of the capture.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn finish(mut self) -> Result<Outgoing> {
        self.write_capture()?;
        Ok(self.outgoing)
    }

    /// The socket of the first flow of echo requests, and its identifier.
    #[cfg(test)]
    pub(super) fn echo_socket(&mut self) -> Option<(&mut ProbeSocket, u16)> {
        let identifier = self.echo_identifier(0);
        let mut probe_sockets = self.probe_sockets.iter_mut();
        let (_, probe_socket) =
            probe_sockets.find(|(key, _)| key.protocol == Protocol::Icmp && key.flow == 0)?;
        Some((probe_socket, identifier))
    }

    /// A socket of each format.
    #[cfg(test)]
    pub(super) fn sockets_of_all_formats(&self) -> Vec<ProbeSocket> {
        let ends = Ends {
            to: self.to,
            from: None,
            interface: None,
            zone: self.outgoing.index,
        };
        let here = self.outgoing.address;
        let probe_sockets = [
            echo::open(ends.clone(), here, 7),
            datagram::open(ends.clone(), here),
            test_packet::open(ends.clone(), here),
            segment::open(ends, here, self.outgoing.mtu),
        ];
        // An ordinary user has no raw socket.
        probe_sockets.into_iter().flatten().collect()
    }
}
