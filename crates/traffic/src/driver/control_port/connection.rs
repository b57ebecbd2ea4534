//! Control connections, with timeouts for reading and writing.

use std::io::ErrorKind;
use std::net::SocketAddr;

use units::{Span, Transport};

use os::clock;
use os::deadline::Permit;
use os::error::{Error, OperationContext, Result};
use os::socket::{Errno, KeepAlive, MsgFlags, Options, Socket};
use os::socket::{address_of, connect, open, peer_of, receive, send, set_no_delay};
use os::socket::{keep_alive, wait_to_read, wait_to_write};

/// Bytes per read: several messages.
const READ: usize = 4096;

/// The longest time for which the other end may leave output unread. The output is
/// small and fits the kernel's buffer, so a slow reader does not block it.
const UNREAD: Span = Span::from_secs(5);

/// A silent peer is lost after half a minute. The limit for data without an acknowledgement
/// counts, too: the kernel sends no probes while it retransmits [tcp(7)].
const ALIVE: KeepAlive = KeepAlive {
    idle: 10,
    interval: 5,
    probes: 4,
    unacknowledged: Span::from_secs(30),
};

/// The remedy where this host rejects a connection.
const FORBIDDEN: &str = match cfg!(target_os = "linux") {
    true => "a route or a firewall of this host forbids it; see `ip route` and `nft list ruleset`",
    false => "a route or a firewall of this host forbids it; let this program pass",
};

/// A connected control socket.
pub struct Connection {
    socket: Socket,
    peer: SocketAddr,
}

impl Connection {
    /// Connects to a control port. `absent` says what to do if nobody listens there.
    ///
    /// # Errors
    /// One line with the remedy.
    pub fn to(address: SocketAddr, wanted: &Options, timeout: Span, absent: &str) -> Result<Self> {
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
            .map_err(|error| match error.source.kind() {
                ErrorKind::PermissionDenied => Error::new(error.operation, FORBIDDEN),
                ErrorKind::ConnectionRefused => Error::new(error.operation, absent.to_owned()),
                _ => error,
            })?;
        Self::of(socket)
    }

    /// Wraps a connected socket.
    ///
    /// # Errors
    /// It has lost its peer.
    pub fn of(socket: Socket) -> Result<Self> {
        let peer = peer_of(&socket)?;
        set_no_delay(&socket)?;
        keep_alive(&socket, ALIVE)?;
        Ok(Self { socket, peer })
    }

    /// The address of the other end.
    pub fn peer(&self) -> SocketAddr {
        self.peer
    }

    /// The address of this end.
    ///
    /// # Errors
    /// The system's.
    pub fn here(&self) -> Result<SocketAddr> {
        address_of(&self.socket)
    }

    /// Reads data from the other end into `room`; empty if none arrived within `timeout`,
    /// which is short, so that the caller sees its deadline.
    ///
    /// # Errors
    /// The other end closed the connection, or it is lost.
    pub fn read<'a>(&self, room: &'a mut Room, timeout: Span, permit: Permit) -> Result<&'a [u8]> {
        let deadline = clock::monotonic() + timeout;
        if !wait_to_read(&self.socket, deadline)? {
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
    ///
    /// # Errors
    /// The other end does not read, or the connection is lost.
    pub fn write(&self, output: &mut Vec<u8>) -> Result<()> {
        let doing = || format!("writing to {}", self.peer.ip());
        let deadline = clock::monotonic() + UNREAD;
        while !output.is_empty() {
            let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
            match send(&self.socket, output, flags) {
                Ok(count) => drop(output.drain(..count)),
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN) => {
                    if !wait_to_write(&self.socket, deadline)? {
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
pub struct Room([u8; READ]);

impl Default for Room {
    fn default() -> Self {
        Self([0; READ])
    }
}
