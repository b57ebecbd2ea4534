//! Path MTU discovery of the kernel's TCP [RFC4821], for comparison.
//!
//! It discovers the path MTU beside the data of a connection, and does not say when it
//! has finished. A connection therefore carries data until the size of its packets has
//! not changed for some time.

mod tcp;

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

use nix::poll::PollFlags;
use units::{Bytes, IpVersion, Span, Time, Transport};

use crate::driver::trial_token::{self, DataPort, Token};
use os::clock;
use os::error::{During, Result};
use os::socket::{self, Kind, Options, begin_to_connect, open};

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
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Task {
    /// The address of the far end.
    pub to: IpAddr,
    /// The longest time that the connection takes.
    pub timeout: Span,
}

/// The size on which a connection settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
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
        let options = Options {
            non_blocking: true,
            ..Options::default()
        };
        let data_port = DataPort::open(Transport::Tcp, task.to, options, token, 1)?;
        Ok(Self {
            port: data_port.port,
            task,
            data_port,
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
    let options = Options {
        non_blocking: true,
        ..Options::default()
    };
    let socket = open(Kind::Stream, task.to, &options)?;
    let to = SocketAddr::new(task.to, port);
    let began = clock::monotonic();
    begin_to_connect(&socket, to).during(|| format!("connecting to {}", task.to))?;
    if trial_token::show(&socket, Transport::Tcp, token, to, task.timeout).is_err() {
        // The path does not even carry the token.
        return Ok(SizeHistory::new(began).settled(true));
    }
    tcp::settle(&socket, task, began)
}

/// Octets of the header of IP.
const fn ip_header(to: IpAddr) -> Bytes {
    match to {
        IpAddr::V4(_) => IpVersion::V4.header(),
        IpAddr::V6(_) => IpVersion::V6.header(),
    }
}

/// Waits until one of `events`, `until`, or for a short time.
fn wait(connection: &OwnedFd, events: PollFlags, until: Time) -> Result<()> {
    let soon = until.min(clock::monotonic() + LONGEST_WAIT);
    socket::wait(connection.as_fd(), events, soon).map(drop)
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
