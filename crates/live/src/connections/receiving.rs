//! The receiving end of a connection.

use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, Backlog, MsgFlags, SockFlag, SockType, SockaddrStorage, accept4, bind,
    getpeername, listen, setsockopt, socket, sockopt,
};
use units::{Bytes, Time};

use super::{Incoming, Received};
use crate::clock;
use crate::deadline::{Deadline, receive};
use crate::error::{During, Result};
use crate::sockets::plain;
use crate::sys::option;

/// Octets of one read.
const READ: usize = 1 << 16;

/// Reads before other connections have their turn.
const TURN: usize = 16;

/// A port, and the connection that came there.
pub(super) struct Receiving {
    listener: OwnedFd,
    from: IpAddr,
    connection: Option<OwnedFd>,
    /// Whether the peer sends no more.
    is_over: bool,
    pub(super) received: Received,
}

impl Receiving {
    pub(super) fn open(incoming: Incoming) -> Result<Self> {
        let at = incoming.at;
        let listener = stream(at.is_ipv6())?;
        let operation = || format!("listening at {at}");
        if let Some(octets) = incoming.window {
            let octets = libc::c_int::try_from(octets).unwrap_or(libc::c_int::MAX);
            let level = libc::IPPROTO_TCP;
            option::set(listener.as_fd(), level, libc::TCP_WINDOW_CLAMP, octets)
                .during(|| format!("limiting a window to {octets} octets"))?;
        }
        if let Some(size) = incoming.receive_buffer {
            setsockopt(&listener, sockopt::RcvBuf, &octets(size)).during(operation)?;
        }
        setsockopt(&listener, sockopt::ReuseAddr, &true).during(operation)?;
        bind(listener.as_raw_fd(), &SockaddrStorage::from(at)).during(operation)?;
        listen(&listener, Backlog::MAXCONN).during(operation)?;
        Ok(Self {
            listener,
            from: incoming.from,
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

    /// Takes the connection, and reads what has arrived.
    pub(super) fn advance(&mut self, begin: Time, deadline: &Deadline) {
        if self.connection.is_none() {
            self.connection = accepted(&self.listener, self.from);
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

/// A TCP socket that does not block, and is reset when it is closed.
pub(super) fn stream(is_v6: bool) -> Result<OwnedFd> {
    let family = match is_v6 {
        true => AddressFamily::Inet6,
        false => AddressFamily::Inet,
    };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(family, SockType::Stream, flags, None).during(|| "opening a socket")?;
    reset_on_close(&socket).during(|| "setting up a socket")?;
    Ok(socket)
}

/// Makes the socket discard unsent octets when it is closed, so that no packet of one trial
/// delays the next one.
fn reset_on_close(socket: &OwnedFd) -> nix::Result<()> {
    let linger = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    setsockopt(socket, sockopt::Linger, &linger)
}

/// The next connection, if it comes from this address; another one is closed.
fn accepted(listener: &OwnedFd, from: IpAddr) -> Option<OwnedFd> {
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let raw = accept4(listener.as_raw_fd(), flags).ok()?;
    #[expect(unsafe_code, reason = "nix returns a bare number")]
    // SAFETY: the kernel has just made this descriptor, which nobody else owns.
    let connection = unsafe { OwnedFd::from_raw_fd(raw) };
    let peer = getpeername::<SockaddrStorage>(connection.as_raw_fd()).ok()?;
    if plain(&peer)?.ip() != from {
        return None;
    }
    // A connection that is closed in the ordinary way is a little longer in the way.
    let _ = reset_on_close(&connection);
    Some(connection)
}

/// The argument of a socket option.
pub(super) fn octets(size: Bytes) -> usize {
    usize::try_from(size.get()).unwrap_or(usize::MAX)
}
