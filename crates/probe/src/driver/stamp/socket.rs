//! A socket that tells where packets came from and went to, and sends replies whole.

use std::io::{IoSlice, IoSliceMut};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use meter::departures::PathMtu;
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg, sendmsg, setsockopt,
    sockopt,
};
use units::{Bytes, IpVersion};

use crate::driver::socket::{fragment_size, state_fragments};
use os::deadline::Permit;
use os::error::{OperationContext, Result};
use os::kernel_clock;
use os::socket::{
    IpOption, Kind, Options, SocketRef, address_of, bind_to, borrowed, connect, open, plain,
};

/// Room for a burst of large packets.
const RECEIVE_BUFFER: Bytes = Bytes::new(4 << 20);

/// Bytes of UDP's header [RFC768].
const UDP_HEADER: usize = 8;

/// A socket of a reflector.
#[derive(Debug)]
pub(super) struct Socket {
    socket: OwnedFd,
    /// Sends what may wait for a neighbour, so that it fills no send buffer but its own.
    waiting: OwnedFd,
    /// Whether the kernel states the largest fragment of a packet.
    states_fragments: bool,
    pub(super) address: SocketAddr,
}

/// The outcome of a read.
#[derive(Debug)]
pub(super) enum Received {
    Nothing,
    /// A packet that gets no reply.
    Other,
    Packet(Packet),
}

/// A packet, without its bytes.
#[derive(Debug)]
pub(super) struct Packet {
    pub(super) from: SocketAddr,
    pub(super) length: usize,
    /// The kernel's timestamp, in nanoseconds since 1970.
    pub(super) unix_nanos: Option<u64>,
    /// Its TTL or hop limit; 0 if the kernel does not say.
    pub(super) hop_limit: u8,
    /// The largest piece in which it arrived: a fragment, or the whole IP packet without
    /// options; `None` if the kernel does not say.
    pub(super) piece: Option<Bytes>,
    /// The own address to which it went.
    to: Local,
}

impl Packet {
    /// Index of the interface on which it arrived.
    pub(super) fn interface(&self) -> u32 {
        match self.to {
            Local::V4(info) => u32::try_from(info.ipi_ifindex).unwrap_or(0),
            Local::V6(info) => info.ipi6_ifindex,
        }
    }
}

/// An own address, as the kernel states it and takes it.
#[derive(Clone, Copy)]
enum Local {
    V4(libc::in_pktinfo),
    V6(libc::in6_pktinfo),
}

impl std::fmt::Debug for Local {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.address())
    }
}

impl Local {
    fn address(&self) -> IpAddr {
        match self {
            Self::V4(info) => Ipv4Addr::from(u32::from_be(info.ipi_addr.s_addr)).into(),
            Self::V6(info) => Ipv6Addr::from(info.ipi6_addr.s6_addr).into(),
        }
    }

    /// The address without the interface: the routing table chooses it, unless the address
    /// has a meaning on that interface only.
    const fn routed(mut self) -> Self {
        match &mut self {
            Self::V4(info) => info.ipi_ifindex = 0,
            Self::V6(info) => {
                // fe80::/10 [RFC4291 s2.5.6].
                let [first, second, ..] = info.ipi6_addr.s6_addr;
                if first != 0xfe || second & 0xc0 != 0x80 {
                    info.ipi6_ifindex = 0;
                }
            }
        }
        self
    }

    /// Whether it is the address of this host alone. A packet to many hosts would cause
    /// many replies.
    fn is_unicast(&self) -> bool {
        match self {
            // The kernel would reply to a broadcast from another address.
            Self::V4(info) => info.ipi_addr.s_addr == info.ipi_spec_dst.s_addr,
            Self::V6(_) => !self.address().is_multicast(),
        }
    }
}

impl Socket {
    /// Opens a socket at `address`.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn open(address: SocketAddr) -> Result<Self> {
        let doing = || format!("reflecting on {} port {}", address.ip(), address.port());
        let options = Options {
            receive_buffer: Some(RECEIVE_BUFFER),
            stamps: true,
            ..whole_packets()
        };
        let socket = open(Kind::Datagram, address.ip(), &options)?;
        for option in [
            IpOption::DESTINATION_OF_ARRIVALS,
            IpOption::HOP_LIMIT_OF_ARRIVALS,
        ] {
            let set = option.set(socket.as_fd(), address.ip(), 1);
            set.during(doing)?;
        }
        let states_fragments = state_fragments(&socket, address.ip());
        bind_to(&socket, address)?;
        let address = address_of(socket.as_fd())?;
        let waiting = match beside(&socket, address) {
            Ok(waiting) => waiting,
            // Without a second one the first does both.
            Err(_) => socket.try_clone().during(doing)?,
        };
        Ok(Self {
            socket,
            waiting,
            states_fragments,
            address,
        })
    }

    /// What to wait for.
    pub(super) fn handle(&self) -> SocketRef<'_> {
        borrowed(&self.socket)
    }

    /// Reads the next packet, if one waits.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn receive(&self, room: &mut [u8], _permit: Permit) -> Result<Received> {
        let mut control = nix::cmsg_space!(
            [nix::sys::time::TimeSpec; 3],
            libc::in6_pktinfo,
            libc::in_pktinfo,
            [libc::c_int; 2],
            libc::c_int
        );
        let mut pieces = [IoSliceMut::new(room)];
        let flags = MsgFlags::MSG_DONTWAIT;
        let message = match recvmsg::<SockaddrStorage>(
            self.socket.as_raw_fd(),
            &mut pieces,
            Some(&mut control),
            flags,
        ) {
            Ok(message) => message,
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(Received::Nothing),
            // Without memory for this packet.
            Err(Errno::ENOMEM | Errno::ENOBUFS) => return Ok(Received::Other),
            Err(error) => return Err(error).during(|| "receiving a test packet"),
        };
        let from = message.address.as_ref().and_then(plain);
        let (mut unix_nanos, mut hop_limit, mut to, mut fragment) = (None, 0, None, None);
        for part in message.cmsgs().during(|| "receiving a test packet")? {
            match part {
                ControlMessageOwned::ScmTimestampsns(stamps) => {
                    unix_nanos = kernel_clock::unix_nanos(stamps.system);
                }
                ControlMessageOwned::Ipv4PacketInfo(info) => to = Some(Local::V4(info)),
                ControlMessageOwned::Ipv6PacketInfo(info) => to = Some(Local::V6(info)),
                ControlMessageOwned::Ipv4Ttl(hops) | ControlMessageOwned::Ipv6HopLimit(hops) => {
                    hop_limit = u8::try_from(hops).unwrap_or(0);
                }
                part => fragment = fragment.or_else(|| fragment_size(&part)),
            }
        }
        let length = message.bytes;
        let header = match self.address {
            SocketAddr::V4(_) => IpVersion::V4.header(),
            SocketAddr::V6(_) => IpVersion::V6.header(),
        };
        let whole = header + Bytes::new((UDP_HEADER + length) as u64);
        let piece = self.states_fragments.then(|| fragment.unwrap_or(whole));
        Ok(match (from, to.filter(Local::is_unicast)) {
            (Some(from), Some(to)) if from.port() > 0 => Received::Packet(Packet {
                from,
                length,
                unix_nanos,
                hop_limit,
                piece,
                to,
            }),
            _ => Received::Other,
        })
    }

    /// Sends a reply to a packet, from the address to which that went. `is_resolved` says
    /// whether it leaves at once.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn send(&self, bytes: &[u8], to: &Packet, is_resolved: bool) -> nix::Result<()> {
        let pieces = [IoSlice::new(bytes)];
        let address = SockaddrStorage::from(to.from);
        let local = to.to.routed();
        let control = match &local {
            Local::V4(info) => ControlMessage::Ipv4PacketInfo(info),
            Local::V6(info) => ControlMessage::Ipv6PacketInfo(info),
        };
        let flags = MsgFlags::MSG_DONTWAIT;
        let socket = match is_resolved {
            true => self.socket.as_raw_fd(),
            false => self.waiting.as_raw_fd(),
        };
        sendmsg(socket, &pieces, &[control], flags, Some(&address)).map(drop)
    }
}

/// The options of a socket for whole packets.
fn whole_packets() -> Options {
    Options {
        path_mtu: PathMtu::Probe,
        unfragmented: true,
        v6_only: true,
        non_blocking: true,
        ..Options::default()
    }
}

/// Another socket at the address of a socket, which sends only: it is connected to this
/// address, from which no packet comes, so that all others go to the first one.
fn beside(first: &OwnedFd, address: SocketAddr) -> Result<OwnedFd> {
    let doing = || "sharing an address";
    let second = open(Kind::Datagram, address.ip(), &whole_packets())?;
    let share = |socket: &OwnedFd, value: bool| {
        setsockopt(socket, sockopt::ReuseAddr, &value).during(doing)
    };
    share(first, true)?;
    let shared = share(&second, true).and_then(|()| {
        bind_to(&second, address)?;
        let mut own = address;
        match address.ip() {
            ip if !ip.is_unspecified() => {}
            IpAddr::V4(_) => own.set_ip(Ipv4Addr::LOCALHOST.into()),
            IpAddr::V6(_) => own.set_ip(Ipv6Addr::LOCALHOST.into()),
        }
        connect(&second, own).during(doing)?;
        share(&second, false)
    });
    // Nobody else may share the address.
    share(first, false)?;
    shared.map(|()| second)
}
