//! The receiving end of a connection.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockFlag};
use units::Time;

use super::{Incoming, Received};
use crate::clock;
use crate::deadline::{Deadline, receive};
use crate::error::{During, Result};
use crate::socket::{Kind, Options, accept, listen, open, peer_of, reset_on_close};
use crate::sys::{option, source_filter};

/// Octets of one read.
const READ: usize = 1 << 16;

/// Reads before other connections have their turn.
const TURN: usize = 16;

/// A port, and the connection that came there.
pub(super) struct Receiving {
    listener: OwnedFd,
    /// The other end of the connection, once it is known.
    from: Option<SocketAddr>,
    connection: Option<OwnedFd>,
    /// Connections of others that the kernel let in.
    closed: u64,
    /// Whether the peer sends no more.
    is_over: bool,
    pub(super) received: Received,
}

impl Receiving {
    /// Opens the port, which nobody can connect to until [`Receiving::admit`].
    pub(super) fn open(incoming: Incoming) -> Result<Self> {
        let at = incoming.at;
        let options = Options {
            bind: Some(at),
            receive_buffer: incoming.receive_buffer,
            non_blocking: true,
            // No packet of one trial delays the next one.
            reset_on_close: true,
            reuse_address: true,
            ..Options::default()
        };
        let listener = open(Kind::Stream, at.ip(), &options)?;
        if let Some(octets) = incoming.window {
            let octets = libc::c_int::try_from(octets).unwrap_or(libc::c_int::MAX);
            let level = libc::IPPROTO_TCP;
            option::set(listener.as_fd(), level, libc::TCP_WINDOW_CLAMP, octets)
                .during(|| format!("limiting a window to {octets} octets"))?;
        }
        source_filter::limit_to(listener.as_fd(), None).during(|| format!("listening at {at}"))?;
        listen(&listener, libc::SOMAXCONN)?;
        Ok(Self {
            listener,
            from: None,
            connection: None,
            closed: 0,
            is_over: false,
            received: Received::default(),
        })
    }

    /// Lets the connection from this address and port in, and no other one.
    pub(super) fn admit(&mut self, from: SocketAddr) -> Result<()> {
        self.from = Some(from);
        source_filter::limit_to(self.listener.as_fd(), self.from)
            .during(|| format!("admitting {from}"))
    }

    /// The SYNs of others, which were refused.
    pub(super) fn refused(&self) -> Result<u64> {
        let dropped = option::dropped(self.listener.as_fd());
        let dropped = dropped.during(|| "asking how many connections were refused")?;
        Ok(u64::from(dropped) + self.closed)
    }

    /// The socket whose next event matters.
    pub(super) fn socket(&self) -> &OwnedFd {
        match (&self.connection, self.is_over) {
            (Some(connection), false) => connection,
            _ => &self.listener,
        }
    }

    /// The next connection, if it is the flow's; another one is closed.
    fn accept(&mut self) -> Option<OwnedFd> {
        let connection = accept(self.listener.as_fd(), SockFlag::SOCK_NONBLOCK).ok()?;
        // A connection that is closed in the ordinary way is a little longer in the way.
        let _ = reset_on_close(connection.as_fd());
        if !is_from(peer_of(connection.as_fd()).ok(), self.from) {
            self.closed += 1;
            return None;
        }
        // Its packets need not be looked at.
        let _ = source_filter::lift(connection.as_fd());
        Some(connection)
    }

    /// Takes the connection, and reads what has arrived.
    pub(super) fn advance(&mut self, begin: Time, deadline: &Deadline) {
        if self.connection.is_none() {
            self.connection = self.accept();
        }
        let Some(connection) = self.connection.as_ref().filter(|_| !self.is_over) else {
            return;
        };
        let mut room = [0; READ];
        for _ in 0..TURN {
            let Ok(permit) = deadline.permit() else {
                return;
            };
            match receive(connection, &mut room, MsgFlags::MSG_DONTWAIT, permit) {
                Ok(0) => self.is_over = true,
                Ok(octets) => {
                    let now = clock::monotonic().since(begin).unwrap_or_default();
                    let first = self.received.span.map_or(now, |[first, _]| first);
                    self.received.span = Some([first, now]);
                    self.received.octets += octets as u64;
                    continue;
                }
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(_) => self.is_over = true,
            }
            return;
        }
    }
}

/// Whether a peer is the one that is waited for; the scope of its address has no meaning.
fn is_from(peer: Option<SocketAddr>, from: Option<SocketAddr>) -> bool {
    let of = |one: SocketAddr| (one.ip(), one.port());
    peer.is_some() && peer.map(of) == from.map(of)
}
