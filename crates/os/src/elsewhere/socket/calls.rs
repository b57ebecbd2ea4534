//! Calls on sockets.

use std::io::{self, Read as _};
use std::net::{SocketAddr, UdpSocket};
use std::ops::BitOr;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use rustix::event::PollFlags;
use socket2::{SockAddr, Type};
use units::Span;

use super::error_number::Errno;
use super::waiting::wait;
use crate::clock;
use crate::deadline::Permit;
use crate::error::{Error, OperationContext, Result};

/// The longest time for a connection that has no limit of its own.
const CONNECT: Duration = Duration::from_secs(120);

/// A socket, which closes when it is dropped.
#[derive(Debug)]
pub struct Socket {
    pub(super) inner: socket2::Socket,
    patience: Arc<Patience>,
}

/// The longest time of a call that waits, in nanoseconds: zero if none waits.
#[derive(Debug)]
pub(super) struct Patience(AtomicU64);

impl Patience {
    const WITHOUT_END: u64 = u64::MAX;
    const NONE: u64 = 0;

    pub(super) fn new(non_blocking: bool) -> Arc<Self> {
        let nanos = match non_blocking {
            true => Self::NONE,
            false => Self::WITHOUT_END,
        };
        Arc::new(Self(AtomicU64::new(nanos)))
    }

    fn nanos(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, nanos: u64) {
        self.0.store(nanos, Ordering::Relaxed);
    }
}

/// A socket of somebody else.
pub type SocketRef<'a> = &'a Socket;

/// Borrows a socket.
pub fn borrowed(socket: &Socket) -> SocketRef<'_> {
    socket
}

/// Flags of a call on a socket, with the names of POSIX.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MsgFlags(u8);

impl MsgFlags {
    /// The call does not wait.
    pub const MSG_DONTWAIT: Self = Self(1);
    /// A stream that the other end has closed raises no signal: here no call does.
    pub const MSG_NOSIGNAL: Self = Self(2);

    /// The call leaves in the socket what it reads.
    pub const MSG_PEEK: Self = Self(4);

    /// None of them.
    pub const fn empty() -> Self {
        Self(0)
    }

    const fn peeks(self) -> bool {
        self.0 & Self::MSG_PEEK.0 != 0
    }

    const fn waits(self) -> bool {
        self.0 & Self::MSG_DONTWAIT.0 == 0
    }
}

impl BitOr for MsgFlags {
    type Output = Self;

    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl Socket {
    /// Takes a socket of the system.
    pub(super) fn new(inner: socket2::Socket, non_blocking: bool) -> io::Result<Self> {
        inner.set_nonblocking(true)?;
        Ok(Self {
            inner,
            patience: Patience::new(non_blocking),
        })
    }

    /// Another handle of the same socket.
    ///
    /// # Errors
    /// The system has none left.
    pub fn try_clone(&self) -> io::Result<Self> {
        Ok(Self {
            inner: self.inner.try_clone()?,
            patience: Arc::clone(&self.patience),
        })
    }

    pub(super) fn patience(&self) -> &Patience {
        &self.patience
    }

    fn is_of_datagrams(&self) -> bool {
        self.inner.r#type().is_ok_and(|kind| kind == Type::DGRAM)
    }

    /// Repeats `call` when the socket is ready for it, as long as the socket waits.
    pub(super) fn repeated<T>(
        &self,
        flags: MsgFlags,
        event: PollFlags,
        mut call: impl FnMut() -> io::Result<T>,
    ) -> std::result::Result<T, Errno> {
        let mut deadline = None;
        loop {
            let error = match call() {
                Ok(done) => return Ok(done),
                Err(error) => Errno::from(error),
            };
            let nanos = self.patience.nanos();
            if error != Errno::EAGAIN || !flags.waits() || nanos == Patience::NONE {
                return Err(self.as_on_linux(error));
            }
            let until = deadline.get_or_insert_with(|| match nanos {
                Patience::WITHOUT_END => None,
                nanos => Some(clock::monotonic() + Span::from_nanos(nanos)),
            });
            match wait(self, event, *until) {
                Ok(true) => {}
                Ok(false) => return Err(Errno::EAGAIN),
                Err(error) => return Err(Errno::from(error.source)),
            }
        }
    }

    /// Windows says of datagrams that their connection was reset, when an ICMP error told that
    /// no program listens.
    fn as_on_linux(&self, error: Errno) -> Errno {
        match error {
            Errno::ECONNRESET if self.is_of_datagrams() => Errno::ECONNREFUSED,
            other => other,
        }
    }
}

/// Connects a socket.
///
/// # Errors
/// The system's; `ETIMEDOUT` if the other end does not answer in the socket's time.
pub fn connect(socket: &Socket, to: SocketAddr) -> std::result::Result<(), Errno> {
    let to = SockAddr::from(to);
    if socket.is_of_datagrams() {
        return Ok(socket.inner.connect(&to)?);
    }
    let limit = match socket.patience.nanos() {
        Patience::WITHOUT_END | Patience::NONE => CONNECT,
        nanos => Duration::from_nanos(nanos),
    };
    let connected = socket.inner.connect_timeout(&to, limit);
    // It makes the socket wait again.
    socket.inner.set_nonblocking(true)?;
    Ok(connected?)
}

/// Connects a socket without waiting. That of a stream goes on connecting after the call.
///
/// # Errors
/// The system's.
pub fn begin_to_connect(socket: &Socket, to: SocketAddr) -> std::result::Result<(), Errno> {
    match socket
        .inner
        .connect(&SockAddr::from(to))
        .map_err(Errno::from)
    {
        // Windows says that the call would wait.
        Err(Errno::EINPROGRESS | Errno::EAGAIN) => Ok(()),
        result => result,
    }
}

/// Takes the error that waits in a socket.
///
/// # Errors
/// That error.
pub fn take_error(socket: &Socket) -> io::Result<()> {
    match socket.inner.take_error()? {
        Some(error) => Err(error),
        None => Ok(()),
    }
}

/// Makes a bound socket take connections, of which at most `waiting` may wait.
///
/// # Errors
/// The system's.
pub fn listen(socket: &Socket, waiting: i32) -> Result<()> {
    socket
        .inner
        .listen(waiting)
        .during(|| match address_of(socket) {
            Ok(address) => format!("listening on {address}"),
            Err(_) => "listening".to_owned(),
        })
}

/// Accepts a connection if one waits. Whether no call on it waits is in `non_blocking`.
///
/// # Errors
/// The system's; `EAGAIN` if none waits.
pub fn accept(listener: &Socket, non_blocking: bool) -> std::result::Result<Socket, Errno> {
    let (socket, _) = listener.inner.accept()?;
    Ok(Socket::new(socket, non_blocking)?)
}

/// The local address of a socket.
///
/// # Errors
/// The system's.
pub fn address_of(socket: &Socket) -> Result<SocketAddr> {
    let doing = || "reading a socket's address";
    let address = socket.inner.local_addr().during(doing)?;
    let address = address.as_socket();
    address.ok_or_else(|| Error::new(doing(), "it is no IP address"))
}

/// The address of the other end of a connected socket.
///
/// # Errors
/// The system's.
pub fn peer_of(socket: &Socket) -> Result<SocketAddr> {
    let doing = || "reading the other end's address";
    let address = socket.inner.peer_addr().during(doing)?;
    let address = address.as_socket();
    address.ok_or_else(|| Error::new(doing(), "it is no IP address"))
}

/// Writes to a connected socket. Returns the bytes that the system took.
///
/// # Errors
/// The system's.
pub fn send(socket: &Socket, bytes: &[u8], flags: MsgFlags) -> std::result::Result<usize, Errno> {
    socket.repeated(flags, PollFlags::OUT, || socket.inner.send(bytes))
}

/// Sends a datagram to an address.
///
/// # Errors
/// The system's.
pub fn send_to(socket: &Socket, bytes: &[u8], to: SocketAddr) -> std::result::Result<usize, Errno> {
    let to = SockAddr::from(to);
    socket.repeated(MsgFlags::MSG_DONTWAIT, PollFlags::OUT, || {
        socket.inner.send_to(bytes, &to)
    })
}

/// Reads once from a socket.
///
/// # Errors
/// The system's; on Windows `EMSGSIZE` if a datagram is larger than the room.
pub fn receive(
    socket: &Socket,
    room: &mut [u8],
    flags: MsgFlags,
    _permit: Permit,
) -> std::result::Result<usize, Errno> {
    socket.repeated(flags, PollFlags::IN, || (&socket.inner).read(room))
}

/// Reads a datagram and its source. One that is longer than the room is cut. One thread reads
/// from the socket.
///
/// # Errors
/// The system's.
pub fn receive_from(
    socket: &Socket,
    room: &mut [u8],
    flags: MsgFlags,
    _permit: Permit,
) -> std::result::Result<(usize, Option<SocketAddr>), Errno> {
    let length = room.len();
    socket.repeated(flags, PollFlags::IN, || {
        let from = socket.inner.peek_sender()?;
        let read = match flags.peeks() {
            true => UdpSocket::from(socket.inner.try_clone()?).peek(room),
            false => (&socket.inner).read(room),
        };
        let read = match read.map_err(Errno::from) {
            // Windows says so of a datagram that was cut.
            Err(Errno::EMSGSIZE) => length,
            read => read?,
        };
        Ok((read, from.as_socket()))
    })
}

/// Ends this end of a stream: the other end reads what was written, and then the end.
///
/// # Errors
/// The system's.
pub fn end_stream(socket: &Socket) -> std::result::Result<(), Errno> {
    Ok(socket.inner.shutdown(std::net::Shutdown::Write)?)
}

/// Ends a connection: the other end is told at once that nothing more comes, and with the last
/// handle of the socket that the data on their way are dropped.
///
/// # Errors
/// The system's.
pub fn reset(socket: &Socket) -> io::Result<()> {
    socket.inner.set_linger(Some(Duration::ZERO))?;
    socket.inner.shutdown(std::net::Shutdown::Both)
}
