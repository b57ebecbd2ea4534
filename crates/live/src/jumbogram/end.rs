//! The two ends of a path: a socket for whole packets with their headers, and an
//! ordinary UDP socket that receives them.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType, SockaddrIn6, SockaddrStorage, bind,
    getsockopt, sendto, setsockopt, socket, sockopt,
};
use units::Span;

use super::message::{Arrived, Message};
use super::{LARGEST, LEAST_MTU};
use crate::clock;
use crate::error::{During, Error, Result};
use crate::sys::option;

/// The receive buffer to request, in octets.
const ROOM: usize = 64 << 20;

/// Number of attempts to send a packet for which the kernel has no memory.
const TRIES: u32 = 200;

/// The source port of jumbograms; no socket listens on it.
pub(super) const FROM: u16 = 7_771;

/// A socket for whole packets.
pub(super) struct Raw {
    socket: OwnedFd,
    to: SockaddrIn6,
}

impl Raw {
    /// Opens the socket in the calling thread's namespace.
    ///
    /// # Errors
    /// One line with the remedy if privilege is missing.
    pub(super) fn open(to: Ipv6Addr) -> Result<Self> {
        // With this protocol the program provides the headers.
        let socket = socket(
            AddressFamily::Inet6,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            SockProtocol::Raw,
        )
        .during(|| "opening a raw socket, which needs CAP_NET_RAW; type sudo before the command, or leave HOST out")?;
        // Without this option the kernel does not report a lack of memory.
        let (level, name) = (libc::IPPROTO_IPV6, libc::IPV6_RECVERR);
        option::set(socket.as_fd(), level, name, 1).during(|| "asking for errors")?;
        Ok(Self {
            socket,
            to: SocketAddrV6::new(to, 0, 0, 0).into(),
        })
    }

    /// Sends a packet.
    ///
    /// # Errors
    /// The kernel's error.
    pub(super) fn send(&self, packet: &[u8]) -> io::Result<()> {
        let mut tries = 0;
        let sent = loop {
            let flags = MsgFlags::empty();
            match sendto(self.socket.as_raw_fd(), packet, &self.to, flags) {
                // Large blocks of memory become free with time.
                Err(Errno::ENOBUFS | Errno::ENOMEM) if tries < TRIES => {
                    tries += 1;
                    clock::sleep(Span::from_millis(1));
                }
                sent => break sent?,
            }
        };
        match sent == packet.len() {
            true => Ok(()),
            false => Err(io::Error::other(format!("only {sent} octets were sent"))),
        }
    }
}

/// An ordinary UDP socket that receives datagrams of any length.
pub struct Listener {
    pub(super) socket: UdpSocket,
    buffer: Vec<u8>,
}

impl Listener {
    /// Opens the socket in the calling thread's namespace.
    ///
    /// # Errors
    /// If the port is in use.
    pub fn open(address: IpAddr, port: u16) -> Result<Self> {
        let socket = udp(address, port).during(|| format!("listening on {address} port {port}"))?;
        // A size above the machine's limit needs privilege.
        if setsockopt(&socket, sockopt::RcvBufForce, &ROOM).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &ROOM).during(|| "asking for a buffer")?;
        }
        Ok(Self {
            socket,
            buffer: vec![0; LARGEST as usize + 1],
        })
    }

    /// Size of its receive buffer in octets, including the kernel's bookkeeping.
    ///
    /// # Errors
    /// If the kernel does not provide it.
    pub fn room(&self) -> Result<usize> {
        getsockopt(&self.socket, sockopt::RcvBuf).during(|| "reading the size of a buffer")
    }

    /// The local port.
    ///
    /// # Errors
    /// If the kernel does not provide it.
    pub fn port(&self) -> Result<u16> {
        let address = self.socket.local_addr();
        Ok(address.during(|| "reading a port")?.port())
    }

    /// The next message of this program, and its sender; `None` after `timeout` or a
    /// signal.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub fn next(&mut self, timeout: Span, hash: bool) -> Result<Option<(Arrived, SocketAddr)>> {
        self.wait_at_most(timeout)?;
        self.take(hash)
    }

    /// The same with the timeout of the last call.
    ///
    /// # Errors
    /// As [`Listener::next`].
    pub(super) fn take(&mut self, hash: bool) -> Result<Option<(Arrived, SocketAddr)>> {
        let Some((length, from)) = self.receive()? else {
            return Ok(None);
        };
        let arrived = Arrived::read(&self.buffer[..length], hash);
        Ok(arrived.map(|arrived| (arrived, from)))
    }

    fn wait_at_most(&self, timeout: Span) -> Result<()> {
        let timeout = Duration::from_nanos(timeout.as_nanos().max(1_000));
        let set = self.socket.set_read_timeout(Some(timeout));
        set.during(|| "setting a deadline")
    }

    fn receive(&mut self) -> Result<Option<(usize, SocketAddr)>> {
        match self.socket.recv_from(&mut self.buffer) {
            Ok(received) => Ok(Some(received)),
            Err(error) => match error.kind() {
                io::ErrorKind::WouldBlock
                | io::ErrorKind::TimedOut
                | io::ErrorKind::Interrupted => Ok(None),
                _ => Err(error).during(|| "receiving"),
            },
        }
    }
}

/// The messages sent to a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Number of messages.
    pub messages: u64,
    /// Octets of each packet.
    pub packet: u64,
    /// Whether the packets were jumbograms.
    pub jumbogram: bool,
}

/// Sends `count` messages of `size` octets to a host, `gap` apart.
///
/// # Errors
/// If privilege is missing, or a link on the route does not carry the packets: one line
/// with the remedy.
pub fn send(to: SocketAddrV6, size: u32, count: u64, gap: Span) -> Result<Sent> {
    let (from, mtu) = look_up_route(to)?;
    let mut message = Message::new([from, *to.ip()], [FROM, to.port()], size);
    let packet = message.packet_len();
    if packet > mtu {
        let remedy = match mtu < LEAST_MTU.into() {
            true => "and a jumbogram needs 65576; leave HOST out to have a world that carries it"
                .to_owned(),
            false => format!("write --jumbogram {} or less", mtu - 56),
        };
        return Err(Error::new(
            format!("--jumbogram {size}"),
            format!(
                "the route to {} carries packets of {mtu} octets, {remedy}",
                to.ip()
            ),
        ));
    }
    let raw = Raw::open(*to.ip())?;
    let mut messages = 0;
    let mut due = clock::monotonic();
    while messages < count && !crate::interrupt::asked() {
        clock::sleep_until(due);
        raw.send(message.stamped(messages)?)
            .map_err(|error| refused(size, error))?;
        messages += 1;
        due += gap;
    }
    Ok(Sent {
        messages,
        packet,
        jumbogram: message.is_jumbogram(),
    })
}

/// An ordinary UDP socket in the calling thread's namespace. With an IPv6 address it
/// receives IPv6 only: the unspecified address would otherwise stand for IPv4 as well
/// [ipv6(7)].
pub(super) fn udp(address: IpAddr, port: u16) -> io::Result<UdpSocket> {
    let family = match address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    };
    let socket = socket(family, SockType::Datagram, SockFlag::SOCK_CLOEXEC, None)?;
    if address.is_ipv6() {
        setsockopt(&socket, sockopt::Ipv6V6Only, &true)?;
    }
    let address = SockaddrStorage::from(SocketAddr::new(address, port));
    bind(socket.as_raw_fd(), &address)?;
    Ok(socket.into())
}

/// The meaning of a kernel's error.
pub(super) fn refused(size: u32, error: io::Error) -> Error {
    let why = match error.raw_os_error() {
        Some(libc::ENOBUFS | libc::ENOMEM) => {
            "the kernel has no block of memory of this size; write a smaller --jumbogram"
        }
        Some(libc::EMSGSIZE) => {
            "the link or the kind of socket does not carry it; write a smaller --jumbogram, or leave --by out"
        }
        _ => "the kernel refuses it",
    };
    Error::new(format!("sending {size} octets"), format!("{why} ({error})"))
}

/// The source address of packets to `to`, and the MTU of the route.
fn look_up_route(to: SocketAddrV6) -> Result<(Ipv6Addr, u64)> {
    let operation = || format!("looking up the route to {}", to.ip());
    let probe = udp(Ipv6Addr::UNSPECIFIED.into(), 0).during(operation)?;
    probe.connect(to).during(operation)?;
    let from = match probe.local_addr().during(operation)? {
        SocketAddr::V6(address) => *address.ip(),
        SocketAddr::V4(_) => return Err(Error::new(operation(), "it is not an IPv6 address")),
    };
    let mtu = option::number(probe.as_fd(), libc::IPPROTO_IPV6, libc::IPV6_MTU);
    let mtu = mtu.during(operation)?;
    Ok((from, u64::try_from(mtu).unwrap_or(0)))
}
