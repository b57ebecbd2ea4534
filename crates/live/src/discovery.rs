//! Path MTU discovery of the kernel's TCP [RFC4821], for comparison.
//!
//! It discovers the path MTU beside the data of a connection, and does not say when it
//! has finished. A connection therefore carries data until the size of its packets has
//! not changed for some time.

mod tcp;

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrStorage, bind, connect, getsockname,
    listen, socket,
};
use units::{Bytes, IpVersion, Span, Time, Transport};

use crate::clock;
use crate::error::{During, Error, Result};
use crate::trial_token::{self, BACKLOG, DataPort, Token};

/// The size of packets is taken as settled if it has not changed for this long. It is
/// longer than the kernel's TCP waits for answers before it suspects a black hole.
const UNCHANGED: Span = Span::from_secs(4);

/// The time without data after which the far end takes a connection as closed: the
/// packet that closes it may be lost.
const SILENCE: Span = Span::from_secs(15);

/// The longest wait for a packet; in between the signals of the user are looked at.
const LONGEST_WAIT: Span = Span::from_millis(100);

/// TCP of Linux stops searching where less than this is to be gained:
/// `net.ipv4.tcp_probe_threshold` [LinuxDoc ip-sysctl].
pub const TCP_STEP: Bytes = Bytes::new(8);

/// A connection that discovers the MTU of its path, up to that of its interface;
/// `net.ipv4.tcp_mtu_probing` of the sender's namespace says whether it probes
/// [LinuxDoc ip-sysctl].
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Task {
    /// The address of the far end.
    pub to: IpAddr,
    /// The longest time that the connection takes.
    pub timeout: Span,
}

/// The size on which a connection settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Settled {
    /// The largest IP packet that the connection uses; `None` if it was not
    /// established.
    pub mtu: Option<Bytes>,
    /// The time from the first packet to the last change of that size.
    pub took: Span,
    /// Whether the time limit ended the connection before its size settled.
    pub is_late: bool,
}

/// The far end of a [`Task`].
pub struct FarEnd {
    task: Task,
    data_port: DataPort,
    /// The port to which the near end connects.
    pub port: u16,
}

impl FarEnd {
    /// Opens a port at the task's address, for the near end with `token`.
    ///
    /// # Errors
    /// The kernel's.
    pub fn open(task: Task, token: Token) -> Result<Self> {
        let socket = open(&task)?;
        let operation = || format!("opening a port on {}", task.to);
        let any: SockaddrStorage = SocketAddr::new(task.to, 0).into();
        bind(socket.as_raw_fd(), &any).during(operation)?;
        let port = port_of(&socket)?;
        listen(&socket, Backlog::new(BACKLOG).during(operation)?).during(operation)?;
        let data_port = DataPort::of_stream(socket, token, 1, SockFlag::SOCK_NONBLOCK)?;
        Ok(Self {
            task,
            data_port,
            port,
        })
    }

    /// Receives until the near end has closed the connection, or nothing has arrived for
    /// some time. A near end that never comes is no error: the path may carry nothing.
    /// Returns the number of unauthenticated peers.
    ///
    /// # Errors
    /// The kernel's.
    pub fn serve(mut self) -> Result<u64> {
        let Self {
            task, data_port, ..
        } = &mut self;
        let end = clock::monotonic() + task.timeout;
        match data_port.admit(task.timeout) {
            Ok(connection) => tcp::serve(&connection, end)?,
            Err(_) if clock::monotonic() >= end => {}
            Err(error) => return Err(error),
        }
        Ok(self.data_port.close())
    }
}

/// Connects to `port` of the far end and sends until the size of packets has settled.
///
/// # Errors
/// The kernel's.
pub fn settle(task: &Task, token: &Token, port: u16) -> Result<Settled> {
    let socket = open(task)?;
    let to = SocketAddr::new(task.to, port);
    let began = clock::monotonic();
    let address: SockaddrStorage = to.into();
    match connect(socket.as_raw_fd(), &address) {
        Ok(()) | Err(Errno::EINPROGRESS) => {}
        Err(error) => return Err(error).during(|| format!("connecting to {}", task.to)),
    }
    if trial_token::show(&socket, Transport::Tcp, token, to, task.timeout).is_err() {
        // The path does not even carry the token.
        return Ok(SizeHistory::new(began).settled(true));
    }
    tcp::settle(&socket, task, began)
}

/// A socket that does not block.
fn open(task: &Task) -> Result<OwnedFd> {
    let family = match task.to {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    socket(family, SockType::Stream, flags, None).during(|| "opening a socket")
}

/// Octets of the header of IP.
const fn ip_header(to: IpAddr) -> Bytes {
    match to {
        IpAddr::V4(_) => IpVersion::V4.header(),
        IpAddr::V6(_) => IpVersion::V6.header(),
    }
}

/// The port to which a socket is bound.
fn port_of(socket: &OwnedFd) -> Result<u16> {
    let bound: SockaddrStorage =
        getsockname(socket.as_raw_fd()).during(|| "reading the port of a socket")?;
    let four = bound.as_sockaddr_in().map(|address| address.port());
    let six = || bound.as_sockaddr_in6().map(|address| address.port());
    four.or_else(six)
        .ok_or_else(|| Error::new("reading the port of a socket", "it has none"))
}

/// Waits until one of `events`, `until`, or for a short time.
fn wait(socket: &OwnedFd, events: PollFlags, until: Time) -> Result<()> {
    let left = until.since(clock::monotonic()).unwrap_or_default();
    let millis = left.min(LONGEST_WAIT).as_nanos().div_ceil(1_000_000);
    let timeout = PollTimeout::from(u8::try_from(millis).unwrap_or(u8::MAX));
    let mut watched = [PollFd::new(socket.as_fd(), events)];
    match poll(&mut watched, timeout) {
        Ok(_) | Err(nix::errno::Errno::EINTR) => Ok(()),
        Err(error) => Err(error).during(|| "waiting for a socket"),
    }
}

/// The size of a connection's packets over time.
struct SizeHistory {
    began: Time,
    size: Option<Bytes>,
    changed: Time,
}

impl SizeHistory {
    const fn new(began: Time) -> Self {
        Self {
            began,
            size: None,
            changed: began,
        }
    }

    /// Takes in the size at `now`; returns whether it has settled.
    fn take(&mut self, now: Time, size: Bytes) -> bool {
        if self.size != Some(size) {
            self.size = Some(size);
            self.changed = now;
        }
        now.since(self.changed).unwrap_or_default() >= UNCHANGED
    }

    fn settled(&self, is_late: bool) -> Settled {
        Settled {
            mtu: self.size,
            took: self.changed.since(self.began).unwrap_or_default(),
            is_late,
        }
    }
}

#[cfg(test)]
mod tests;
