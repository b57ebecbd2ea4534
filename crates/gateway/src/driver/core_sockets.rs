//! The path toward the core: sockets whose payloads are bundles, and frames with labels.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use crate::machine::Encapsulation;
use meter::departures::PathMtu;
use nix::errno::Errno;
use nix::net::if_::if_indextoname;
use units::Bytes;
use wire::bundle::{PORT, PROTOCOL};

use super::burst::Burst;
use super::labels::Labels;
use os::claim::Claim;
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::netlink::Route;
use os::pacing::Source;
use os::socket::{self, IpOption, Options, bind_to, connect, next_error, take_error};
use os::sys::datagrams::{self, Datagrams, Outgoing};
use os::sys::option;

/// Bytes of arrivals that may wait in a socket; the kernel may grant less.
const RECEIVE_BUFFER: Bytes = Bytes::new(8 << 20);

/// Bytes of the largest payload.
const LARGEST: usize = 65_535;

/// Bytes of the header of IPv4, which raw sockets of it deliver [raw(7)].
const LONGEST_HEADER: usize = wire::protocol::ipv4::LONGEST_HEADER;

/// The kernel's answer to a packet toward a peer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Sent {
    /// It went out.
    Yes,
    /// It is larger than the path carries, as far as the kernel knows.
    TooBig,
    /// The kernel rejects what it was asked for.
    Rejected,
    /// It did not go out.
    No,
}

/// A bundle that did not go out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Unsent {
    /// The number of its peer.
    pub(super) peer: usize,
    /// Packets in it.
    pub(super) packets: u64,
    /// Whether it is larger than the path carries, as far as the kernel knows.
    pub(super) too_big: bool,
}

/// The sockets toward all peers.
pub(super) struct CoreSockets {
    sockets: Vec<CoreSocket>,
    labels: Option<Labels>,
    /// The way to each peer.
    peers: Vec<CoreRoute>,
    datagrams: Datagrams,
    /// Datagrams that wait for [`CoreSockets::flush`].
    burst: Burst,
    unsent: Vec<Unsent>,
    /// Where probes find the path MTU: the kernel's routes, for the interface to a peer, and
    /// the interface through which bundles leave in any case.
    links: Option<(Route, Option<String>)>,
}

/// The way to a peer.
#[derive(Clone, Copy, Debug)]
enum CoreRoute {
    /// Through the socket of this number to this address.
    Socket { number: usize, to: SocketAddr },
    /// Through frames with labels.
    Labels,
}

/// One socket: all bundles to one local address in one encapsulation.
struct CoreSocket {
    kind: Kind,
    socket: OwnedFd,
    /// Whether it takes several datagrams in one piece.
    takes_bursts: bool,
    /// Of a raw socket: the kernel hands each packet to all that have its address.
    _claim: Option<Claim>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Kind {
    here: IpAddr,
    is_udp: bool,
}

impl CoreSockets {
    /// Opens the sockets for peers with these encapsulations, bound to `interface` if one is
    /// given. Labels need the `interface` and the next hop of each peer.
    /// Where `probes` find the path MTU, the sockets send whatever routers reported.
    ///
    /// # Errors
    /// If the kernel rejects, or an address is not of this host.
    pub(super) fn open(
        encapsulations: &[Encapsulation],
        next_hops: &[Option<IpAddr>],
        interface: Option<&str>,
        probes: bool,
    ) -> Result<Self> {
        let links = match probes {
            true => Some((Route::open()?, interface.map(str::to_owned))),
            false => None,
        };
        let mut sockets: Vec<CoreSocket> = Vec::new();
        let mut peers = Vec::new();
        let mut labelled = false;
        for encapsulation in encapsulations {
            let (addresses, is_udp) = match encapsulation {
                Encapsulation::Ip { addresses } => (addresses, false),
                Encapsulation::Udp { addresses, .. } => (addresses, true),
                Encapsulation::Label { .. } => {
                    labelled = true;
                    peers.push(CoreRoute::Labels);
                    continue;
                }
            };
            let [here, there] = addresses.ends();
            let kind = Kind { here, is_udp };
            let number = match sockets.iter().position(|one| one.kind == kind) {
                Some(number) => number,
                None => {
                    let claim = (!is_udp).then(|| claim(here)).transpose()?;
                    let socket = open(kind, interface, probes)?;
                    sockets.push(CoreSocket {
                        kind,
                        socket,
                        takes_bursts: is_udp,
                        _claim: claim,
                    });
                    sockets.len() - 1
                }
            };
            let port = if is_udp { PORT } else { 0 };
            let to = SocketAddr::new(there, port);
            peers.push(CoreRoute::Socket { number, to });
        }
        let labels = match (labelled, interface) {
            (true, Some(interface)) => Some(Labels::open(interface, next_hops)?),
            (true, None) => {
                let problem = "labels need the interface toward the core; name it";
                return Err(Error::new("opening the path to the core", problem));
            }
            (false, _) => None,
        };
        Ok(Self {
            sockets,
            labels,
            peers,
            datagrams: Datagrams::new(0, LARGEST),
            burst: Burst::default(),
            unsent: Vec::new(),
            links,
        })
    }

    /// The file descriptors to poll.
    pub(super) fn sources(&self) -> impl Iterator<Item = &dyn Source> {
        let sockets = self.sockets.iter().map(|socket| socket as &dyn Source);
        sockets.chain(self.labels.iter().map(|labels| labels as &dyn Source))
    }

    /// Receives a batch from each socket: `take` gets the ends (source and destination),
    /// the service byte and the payload; `take_labelled` gets label stacks with what is
    /// behind them. Returns whether there may be more.
    ///
    /// # Errors
    /// If an interface is gone.
    pub(super) fn receive(
        &mut self,
        deadline: &Deadline,
        mut take: impl FnMut([IpAddr; 2], u8, &[u8]),
        take_labelled: impl FnMut(&[u8]),
    ) -> Result<bool> {
        let mut more = false;
        for CoreSocket { kind, socket, .. } in &self.sockets {
            let Ok(permit) = deadline.permit() else {
                return Ok(false);
            };
            let received = self.datagrams.receive(socket.as_fd(), permit, |datagram| {
                let ends = [datagram.from.ip(), kind.here];
                let each = datagram.each.unwrap_or(LARGEST);
                // One without a byte is counted, too.
                let first = datagram.bytes.is_empty().then_some(&[][..]);
                for bytes in first.into_iter().chain(datagram.bytes.chunks(each)) {
                    if let Some(payload) = payload_of(*kind, bytes) {
                        take(ends, datagram.service, payload);
                    }
                }
            });
            // Errors of the path wait in front of datagrams; they are counted later.
            more |= received.unwrap_or(true);
        }
        if let Some(labels) = &mut self.labels {
            more |= labels.receive(take_labelled);
        }
        Ok(more)
    }

    /// Sends a packet to `peer`, at the latest at the next [`CoreSockets::flush`]: the payload
    /// of the encapsulation for a socket, `bytes` as they are for labels. It has `packets`
    /// packets from inside.
    ///
    /// # Errors
    /// If an interface is gone.
    pub(super) fn send(
        &mut self,
        (peer, packets): (usize, u64),
        bytes: &[u8],
        payload: usize,
        service: u8,
    ) -> Result<()> {
        let sent = match (self.peers.get(peer).copied(), &mut self.labels) {
            (Some(CoreRoute::Labels), Some(labels)) => labels.send(peer, bytes)?,
            (Some(CoreRoute::Socket { number, to }), _) => {
                let (way, load) = ((number, to, service), (peer, packets));
                let bytes = &bytes[payload.min(bytes.len())..];
                // A probe may be too large for the path, which then drops the whole piece.
                let joins = packets > 0 && self.sockets[number].takes_bursts;
                if !joins || !self.burst.push(way, bytes, load) {
                    self.send_burst();
                    self.burst.push(way, bytes, load);
                }
                if !joins {
                    self.send_burst();
                }
                return Ok(());
            }
            (Some(CoreRoute::Labels) | None, _) => Sent::No,
        };
        self.note((peer, packets), sent);
        Ok(())
    }

    /// Sends what waits. Returns what did not go out since the latest call.
    pub(super) fn flush(&mut self) -> impl Iterator<Item = Unsent> + use<> {
        self.send_burst();
        std::mem::take(&mut self.unsent).into_iter()
    }

    /// Sends the datagrams that wait, in one piece if the kernel takes it. It does not if they
    /// are too big, or if the interface toward the peer computes no checksums.
    fn send_burst(&mut self) {
        let mut burst = std::mem::take(&mut self.burst);
        if let Some((number, whole)) = burst.whole() {
            let sent = self.send_datagram(number, whole);
            if whole.each.is_none() || sent == Sent::Yes {
                burst.loads().for_each(|load| self.note(load, sent));
            } else {
                let mut all = true;
                for (load, outgoing) in burst.datagrams() {
                    let sent = self.send_datagram(number, outgoing);
                    all &= sent == Sent::Yes;
                    self.note(load, sent);
                }
                // It was not their size.
                self.sockets[number].takes_bursts &= !(all && sent == Sent::Rejected);
            }
        }
        burst.clear();
        self.burst = burst;
    }

    fn note(&mut self, (peer, packets): (usize, u64), sent: Sent) {
        if sent != Sent::Yes {
            self.unsent.push(Unsent {
                peer,
                packets,
                too_big: sent == Sent::TooBig,
            });
        }
    }

    /// Sends one datagram. An error that waits in the socket, because an earlier packet
    /// met it, is told once and says nothing of this one. A forged report of a router is
    /// such an error, too: only one that is told again is of this datagram.
    fn send_datagram(&self, number: usize, outgoing: Outgoing<'_>) -> Sent {
        const TRIES: usize = 4;
        let socket = self.sockets[number].socket.as_fd();
        let mut too_big = false;
        for _ in 0..TRIES {
            match datagrams::send(socket, std::iter::once(outgoing)) {
                Ok(_) => return Sent::Yes,
                Err(error) => match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
                    Errno::EMSGSIZE if too_big => return Sent::TooBig,
                    Errno::EMSGSIZE => too_big = true,
                    // Several datagrams that are too big, or an interface without checksums.
                    Errno::EINVAL | Errno::EIO => return Sent::Rejected,
                    Errno::EINTR | Errno::ECONNREFUSED | Errno::EHOSTUNREACH | Errno::EPROTO => {}
                    _ => return Sent::No,
                },
            }
        }
        Sent::No
    }

    /// Reads the errors of the path that wait: for each, the peer whose packet met it.
    pub(super) fn errors(&self, mut met: impl FnMut(usize)) {
        /// The most errors of a socket at a time.
        const MOST: usize = 256;
        for (number, CoreSocket { socket, .. }) in self.sockets.iter().enumerate() {
            for _ in 0..MOST {
                match next_error(socket.as_fd()) {
                    Ok(Some(error)) => {
                        let behind = |way: &CoreRoute| match *way {
                            CoreRoute::Socket { number: own, to } => {
                                own == number && error.to.is_some_and(|met| met.ip() == to.ip())
                            }
                            CoreRoute::Labels => false,
                        };
                        self.peers
                            .iter()
                            .position(behind)
                            .into_iter()
                            .for_each(&mut met);
                    }
                    Err(Errno::EINTR) => {}
                    Ok(None) | Err(_) => break,
                }
            }
        }
    }

    /// Datagrams that the kernel dropped because a socket had no room, since it was
    /// opened.
    pub(super) fn overrun(&mut self) -> Result<u64> {
        let mut dropped = 0;
        for CoreSocket { socket, .. } in &self.sockets {
            let count = option::dropped(socket.as_fd());
            dropped += u64::from(count.during(|| "asking a socket what it dropped")?);
        }
        if let Some(labels) = &mut self.labels {
            dropped += labels.overrun()?;
        }
        Ok(dropped)
    }

    /// The largest packet that the kernel knows to pass to `peer`; `None` for labels, and
    /// while there is no route. Where probes find the path MTU, it is the MTU of the interface:
    /// the kernel also believes routers, whose reports anybody can forge.
    pub(super) fn path_mtu(&self, peer: usize) -> Option<u32> {
        match (*self.peers.get(peer)?, &self.links) {
            (CoreRoute::Labels, _) => None,
            (CoreRoute::Socket { to, .. }, None) => known_path_mtu(to).ok(),
            (CoreRoute::Socket { .. }, Some((route, Some(name)))) => route.mtu(name).ok(),
            (CoreRoute::Socket { to, .. }, Some((route, None))) => {
                let index = route.choose(to.ip(), None, None).ok()?.interface;
                let name = if_indextoname(index).ok()?;
                route.mtu(name.to_str().ok()?).ok()
            }
        }
    }

    /// Looks again where the next hops of labels are.
    ///
    /// # Errors
    /// If the kernel does not tell.
    pub(super) fn renew(&mut self) -> Result<()> {
        self.labels.as_mut().map_or(Ok(()), Labels::renew)
    }
}

/// The payload of what a socket of this kind received.
fn payload_of(kind: Kind, bytes: &[u8]) -> Option<&[u8]> {
    match kind {
        Kind {
            here: IpAddr::V4(_),
            is_udp: false,
        } => {
            let header = wire::protocol::ipv4::Header::of(bytes).header_len().ok()?;
            debug_assert!(header <= LONGEST_HEADER);
            bytes.get(header..)
        }
        _ => Some(bytes),
    }
}

/// Claims the address of a raw socket.
fn claim(here: IpAddr) -> Result<Claim> {
    Claim::of(
        &format!("gateway at {here}"),
        &format!("IP packets of protocol {PROTOCOL} to {here}"),
        "another gateway takes them, too; end that one, or give this one another address (local)",
    )
}

fn open(kind: Kind, interface: Option<&str>, probes: bool) -> Result<OwnedFd> {
    let options = Options {
        device: interface.map(str::to_owned),
        // Packets are never fragmented; with probes the kernel's path MTU is ignored [ip(7)].
        path_mtu: match probes {
            true => PathMtu::Probe,
            false => PathMtu::Do,
        },
        unfragmented: true,
        path_errors: true,
        // Counts tell what did not fit.
        receive_buffer: Some(RECEIVE_BUFFER),
        non_blocking: true,
        ..Options::default()
    };
    let transport = match kind.is_udp {
        true => socket::Kind::Datagram,
        false => socket::Kind::Raw(PROTOCOL.into()),
    };
    let socket = socket::open(transport, kind.here, &options)?;
    IpOption::SERVICE_OF_ARRIVALS
        .set(socket.as_fd(), kind.here, 1)
        .during(|| format!("opening a socket at {} for bundles", kind.here))?;
    let port = if kind.is_udp { PORT } else { 0 };
    bind_to(&socket, SocketAddr::new(kind.here, port))?;
    if kind.is_udp {
        // A kernel that cannot hands over one datagram at a time.
        let _ = datagrams::merge(socket.as_fd());
    }
    Ok(socket)
}

/// The path MTU to an address as the kernel knows it at the moment.
fn known_path_mtu(to: SocketAddr) -> Result<u32> {
    let doing = || format!("looking up the path MTU to {}", to.ip());
    let socket = socket::open(socket::Kind::Datagram, to.ip(), &Options::default())?;
    connect(&socket, SocketAddr::new(to.ip(), PORT)).during(doing)?;
    let mtu = IpOption::MTU.value(socket.as_fd(), to.ip()).during(doing)?;
    u32::try_from(mtu).map_err(|_| Error::new(doing(), "the kernel states none"))
}

impl AsFd for CoreSocket {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for CoreSocket {
    /// Errors of the path are read with their destinations; the socket goes on.
    fn clear_error(&self) -> Result<()> {
        let _ = take_error(self.socket.as_fd());
        Ok(())
    }
}
