//! The two ends of a path: a socket for whole packets with their headers, and an
//! ordinary UDP socket that receives them.

use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, SocketAddrV6, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockaddrIn6, sendto};
use units::{Bytes, Span};

use super::message::{Arrived, Message};
use super::{LARGEST, LEAST_MTU};
use os::error::{Error, OperationContext, Result};
use os::socket::{self, IpOption, Kind, Options, receive_buffer, set_receive_buffer};
use os::{clock, kernel_clock};

/// The receive buffer to request, in bytes.
const ROOM: Bytes = Bytes::new(64 << 20);

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
        let options = Options {
            // Without this option the kernel does not report a lack of memory.
            path_errors: true,
            ..Options::default()
        };
        // With this protocol the program provides the headers.
        let socket = socket::open(Kind::Raw(libc::IPPROTO_RAW), to.into(), &options);
        let socket = socket.map_err(|error| Error {
            operation: "opening a raw socket, which needs CAP_NET_RAW; type sudo before the command, or leave HOST out".to_owned(),
            ..error
        })?;
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
            false => Err(io::Error::other(format!("only {sent} bytes were sent"))),
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
        let socket = udp(address, port)?;
        set_receive_buffer(socket.as_fd(), ROOM)?;
        Ok(Self {
            socket,
            buffer: vec![0; LARGEST as usize + 1],
        })
    }

    /// Size of its receive buffer in bytes, including the kernel's bookkeeping.
    ///
    /// # Errors
    /// If the kernel does not provide it.
    pub fn room(&self) -> Result<u64> {
        receive_buffer(self.socket.as_fd())
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
    /// If the kernel rejects.
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
    /// Bytes of each packet.
    pub packet: u64,
    /// Whether the packets were jumbograms.
    pub jumbogram: bool,
}

/// Sends `count` messages of `size` bytes to a host, `gap` apart.
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
            true => "and a jumbogram needs 65576; leave HOST out to send between namespaces that support it"
                .to_owned(),
            false => format!("write --message {} or less", mtu - 56),
        };
        return Err(Error::new(
            format!("--jumbogram --message {size}"),
            format!(
                "the route to {} supports packets of {mtu} bytes, {remedy}",
                to.ip()
            ),
        ));
    }
    let raw = Raw::open(*to.ip())?;
    let mut messages = 0;
    let mut due = clock::monotonic();
    while messages < count && !os::interrupt::asked() {
        kernel_clock::sleep_until(due);
        raw.send(message.stamped(messages)?)
            .map_err(|error| rejected(size, error))?;
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
pub(super) fn udp(address: IpAddr, port: u16) -> Result<UdpSocket> {
    let options = Options {
        bind: Some(SocketAddr::new(address, port)),
        v6_only: true,
        ..Options::default()
    };
    socket::open(Kind::Datagram, address, &options).map(UdpSocket::from)
}

/// The meaning of a kernel's error.
pub(super) fn rejected(size: u32, error: io::Error) -> Error {
    let why = match error.raw_os_error() {
        Some(libc::ENOBUFS | libc::ENOMEM) => {
            "the kernel has no block of memory of this size; write a smaller --message"
        }
        Some(libc::EMSGSIZE) => {
            "the link or the kind of socket does not support it; write a smaller --message, or leave --method out"
        }
        _ => "the kernel rejects it",
    };
    Error::new(format!("sending {size} bytes"), format!("{why} ({error})"))
}

/// The source address of packets to `to`, and the MTU of the route.
fn look_up_route(to: SocketAddrV6) -> Result<(Ipv6Addr, u64)> {
    let operation = || format!("looking up the route to {}", to.ip());
    let probe = udp(Ipv6Addr::UNSPECIFIED.into(), 0)?;
    probe.connect(to).during(operation)?;
    let from = match probe.local_addr().during(operation)? {
        SocketAddr::V6(address) => *address.ip(),
        SocketAddr::V4(_) => return Err(Error::new(operation(), "it is not an IPv6 address")),
    };
    let mtu = IpOption::MTU
        .value(probe.as_fd(), from.into())
        .during(operation)?;
    Ok((from, u64::try_from(mtu).unwrap_or(0)))
}
