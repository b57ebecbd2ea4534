//! Control connections, with timeouts for reading and writing.

use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, send, setsockopt, sockopt};
use units::{Span, Transport};

use os::clock;
use os::deadline::Permit;
use os::error::{Error, OperationContext, Result};
use os::socket::receive;
use os::socket::{Options, address_of, connect, open, peer_of, wait};
use os::sys::option;

/// Bytes per read: several messages.
const READ: usize = 4096;

/// The longest time for which the other end may leave output unread. The output is
/// small and fits the kernel's buffer, so a slow reader does not block it.
const UNREAD: Span = Span::from_secs(5);

/// Keep-alive settings, in seconds: idle time before a probe, interval between probes,
/// number of probes. The last value is the longest time for which data may stay
/// unacknowledged, in milliseconds, because the kernel sends no probes while it
/// retransmits [tcp(7)].
const ALIVE: [(libc::c_int, libc::c_int); 4] = [
    (libc::TCP_KEEPIDLE, 10),
    (libc::TCP_KEEPINTVL, 5),
    (libc::TCP_KEEPCNT, 4),
    (libc::TCP_USER_TIMEOUT, 30_000),
];

/// A connected control socket.
pub(super) struct Connection {
    socket: OwnedFd,
    peer: SocketAddr,
}

impl Connection {
    /// Connects to a receiver's control port.
    pub(super) fn to(address: SocketAddr, wanted: &Options, timeout: Span) -> Result<Self> {
        let doing = || format!("connecting to {} port {}", address.ip(), address.port());
        let only = Options {
            bind: wanted.bind,
            device: wanted.device.clone(),
            timeout: Some(timeout),
            ..Options::default()
        };
        let socket = open(Transport::Tcp, address.ip(), &only)?;
        connect(&socket, address)
            .map_err(|errno| match errno {
                Errno::EINPROGRESS | Errno::EAGAIN => Errno::ETIMEDOUT,
                other => other,
            })
            .during(doing)
            .map_err(|error| match error.source.raw_os_error() {
                Some(libc::EACCES | libc::EPERM) => Error::new(
                    error.operation,
                    "a route or a firewall of this host forbids it; see `ip route` and `nft list ruleset`",
                ),
                Some(libc::ECONNREFUSED) => Error::new(
                    error.operation,
                    "no receiver listens there; start `jumbolab recv` on that host, with --listen ADDRESS if it is another one",
                ),
                _ => error,
            })?;
        Self::of(socket)
    }

    /// Wraps a connected socket.
    pub(super) fn of(socket: OwnedFd) -> Result<Self> {
        let peer = peer_of(socket.as_fd())?;
        setsockopt(&socket, sockopt::TcpNoDelay, &true).during(|| "switching Nagle's algorithm")?;
        setsockopt(&socket, sockopt::KeepAlive, &true).during(|| "asking for signs of life")?;
        for (name, value) in ALIVE {
            option::set(socket.as_fd(), libc::IPPROTO_TCP, name, value)
                .during(|| "asking for signs of life")?;
        }
        Ok(Self { socket, peer })
    }

    /// The address of the other end.
    pub(super) fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The address of this end.
    pub(super) fn here(&self) -> Result<SocketAddr> {
        address_of(self.socket.as_fd())
    }

    /// Reads data from the other end into `room`; empty if none arrived within `timeout`,
    /// which is short, so that the caller sees its deadline.
    pub(super) fn read<'a>(
        &self,
        room: &'a mut Room,
        timeout: Span,
        permit: Permit,
    ) -> Result<&'a [u8]> {
        let deadline = clock::monotonic() + timeout;
        if wait(self.socket.as_fd(), PollFlags::POLLIN, deadline)?.is_empty() {
            return Ok(&[]);
        }
        match receive(&self.socket, &mut room.0, MsgFlags::MSG_DONTWAIT, permit) {
            Ok(0) => Err(Error::new(
                format!("listening to {}", self.peer.ip()),
                "it closed the connection",
            )),
            Ok(count) => Ok(&room.0[..count]),
            Err(Errno::EAGAIN | Errno::EINTR) => Ok(&[]),
            Err(error) => Err(error).during(|| format!("listening to {}", self.peer.ip())),
        }
    }

    /// Sends all of `output`, and empties it.
    pub(super) fn write(&self, output: &mut Vec<u8>) -> Result<()> {
        let doing = || format!("writing to {}", self.peer.ip());
        let deadline = clock::monotonic() + UNREAD;
        while !output.is_empty() {
            let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
            match send(self.socket.as_raw_fd(), output, flags) {
                Ok(count) => drop(output.drain(..count)),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => {
                    if wait(self.socket.as_fd(), PollFlags::POLLOUT, deadline)?.is_empty() {
                        return Err(Error::new(doing(), "it does not read"));
                    }
                }
                Err(error) => return Err(error).during(doing),
            }
        }
        Ok(())
    }
}

/// The buffer for one read.
pub(super) struct Room([u8; READ]);

impl Room {
    pub(super) fn new() -> Self {
        Self([0; READ])
    }
}
