//! A port for control connections: it listens on addresses that were named, and bounds the
//! connections that have not authenticated themselves.

mod admission;
mod connection;
pub mod sealed;

use std::io::ErrorKind;
use std::net::SocketAddr;

use os::clock;
use os::error::{Error, OperationContext, Result};
use os::socket::{self, Errno, Kind, Options, Socket};
use os::socket::{address_of, borrowed, is_of_connection, listen, open, readable};
use units::Span;

pub use admission::{Admission, Polling, Sessions};
pub use connection::{Connection, Room};

/// Connections that may wait to be accepted.
const WAITING: i32 = 64;

/// Number of attempts to find a port that is free at all addresses.
const MOST_PORTS: u32 = 20;

/// The wait when many connections are about to end.
const LEAVE: Span = Span::from_millis(1);

/// A port that listens.
pub struct ControlPort {
    listeners: Vec<Socket>,
    /// The addresses with their ports, including those chosen by the kernel.
    pub addresses: Vec<SocketAddr>,
}

impl ControlPort {
    /// Listens on these addresses only.
    ///
    /// # Errors
    /// If the kernel rejects one of them.
    pub fn open(wanted: &[SocketAddr]) -> Result<Self> {
        let (listeners, addresses) = listeners(wanted)?;
        Ok(Self {
            listeners,
            addresses,
        })
    }

    /// The connections that came, at the latest after `time`; none while `sessions` has no
    /// room.
    ///
    /// # Errors
    /// If the kernel rejects an ordinary call.
    pub fn accept(&self, time: Span, sessions: &Sessions) -> Result<Vec<Socket>> {
        let mut accepted = Vec::new();
        for listener in self.ready(time)? {
            if !sessions.has_room() {
                clock::sleep(LEAVE);
                break;
            }
            accepted.extend(accept_from(listener)?);
        }
        Ok(accepted)
    }

    /// The connections that came, at the latest after `time`, for a caller that bounds their
    /// number itself.
    ///
    /// # Errors
    /// If the kernel rejects an ordinary call.
    pub fn accept_all(&self, time: Span) -> Result<Vec<Socket>> {
        let mut accepted = Vec::new();
        for listener in self.ready(time)? {
            accepted.extend(accept_from(listener)?);
        }
        Ok(accepted)
    }

    /// The listeners with waiting connections.
    fn ready(&self, time: Span) -> Result<Vec<&Socket>> {
        let sockets: Vec<_> = self.listeners.iter().map(borrowed).collect();
        let ready = readable(&sockets, Some(clock::monotonic() + time))?;
        let ready = ready.into_iter().zip(&self.listeners);
        Ok(ready
            .filter(|(is_ready, _)| *is_ready)
            .map(|(_, listener)| listener)
            .collect())
    }
}

/// Listeners at all addresses, and their addresses. If the kernel chooses the port, it
/// is the same for all; if a port chosen for the first address is in use at another,
/// the kernel chooses again.
fn listeners(wanted: &[SocketAddr]) -> Result<(Vec<Socket>, Vec<SocketAddr>)> {
    let mut tries = 0;
    loop {
        tries += 1;
        match listeners_once(wanted) {
            Err(error) if tries < MOST_PORTS && is_taken(&error, wanted) => {}
            done => return done,
        }
    }
}

/// Whether a port chosen by the kernel is in use at another address.
fn is_taken(error: &Error, wanted: &[SocketAddr]) -> bool {
    let is_chosen = wanted.iter().any(|address| address.port() == 0);
    is_chosen && error.source.kind() == ErrorKind::AddrInUse
}

fn listeners_once(wanted: &[SocketAddr]) -> Result<(Vec<Socket>, Vec<SocketAddr>)> {
    let mut listeners: Vec<Socket> = Vec::new();
    let mut addresses: Vec<SocketAddr> = Vec::new();
    for address in wanted {
        let mut address = *address;
        if let (0, Some(first)) = (address.port(), addresses.first()) {
            address.set_port(first.port());
        }
        let listener = listener(address)?;
        addresses.push(address_of(&listener)?);
        listeners.push(listener);
    }
    Ok((listeners, addresses))
}

fn listener(address: SocketAddr) -> Result<Socket> {
    let options = Options {
        bind: Some(address),
        v6_only: true,
        // The peer may close before its connection is accepted, so accepting must not
        // block.
        non_blocking: true,
        reuse_address: true,
        ..Options::default()
    };
    let socket = open(Kind::Stream, address.ip(), &options)?;
    listen(&socket, WAITING)?;
    Ok(socket)
}

/// The next connection, if it is still open.
fn accept_from(listener: &Socket) -> Result<Option<Socket>> {
    match socket::accept(listener, true) {
        Ok(socket) => Ok(Some(socket)),
        Err(error) if is_of_connection(error) => Ok(None),
        // No descriptors are left: waits until other connections release theirs.
        Err(Errno::EMFILE | Errno::ENFILE | Errno::ENOBUFS | Errno::ENOMEM) => {
            clock::sleep(Span::from_millis(50));
            Ok(None)
        }
        Err(error) => Err(error).during(|| "accepting a sender"),
    }
}
