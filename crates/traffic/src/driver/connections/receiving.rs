//! The receiving end of a connection.

use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::MsgFlags;
use units::Time;

use super::{Incoming, Received};
use os::clock;
use os::deadline::Deadline;
use os::error::{OperationContext, Result};
use os::socket::receive;
use os::socket::{Kind, Options, accept, listen, open, reset_on_close};
use os::sys::option;

/// Bytes of one read.
const READ: usize = 1 << 16;

/// Reads before other connections have their turn.
const TURN: usize = 16;

/// A port, and the connection that came there.
pub(super) struct Receiving {
    listener: OwnedFd,
    connection: Option<OwnedFd>,
    /// Whether the peer sends no more.
    is_over: bool,
    pub(super) received: Received,
}

impl Receiving {
    /// Opens the port.
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
        if let Some(bytes) = incoming.window {
            let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
            let level = libc::IPPROTO_TCP;
            option::set(listener.as_fd(), level, libc::TCP_WINDOW_CLAMP, bytes)
                .during(|| format!("limiting a window to {bytes} bytes"))?;
        }
        listen(&listener, libc::SOMAXCONN)?;
        Ok(Self {
            listener,
            connection: None,
            is_over: false,
            received: Received::default(),
        })
    }

    /// The socket whose next event matters.
    pub(super) fn socket(&self) -> &OwnedFd {
        match (&self.connection, self.is_over) {
            (Some(connection), false) => connection,
            _ => &self.listener,
        }
    }

    /// The connection, once it has come.
    fn accept(&self) -> Option<OwnedFd> {
        let connection = accept(&self.listener, true).ok()?;
        // A connection that is closed in the ordinary way is a little longer in the way.
        let _ = reset_on_close(connection.as_fd());
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
                Ok(bytes) => {
                    let now = clock::monotonic().since(begin).unwrap_or_default();
                    let first = self.received.span.map_or(now, |[first, _]| first);
                    self.received.span = Some([first, now]);
                    self.received.bytes += bytes as u64;
                    continue;
                }
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(_) => self.is_over = true,
            }
            return;
        }
    }
}
