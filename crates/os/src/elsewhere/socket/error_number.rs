//! Errors of calls on sockets, by their names in POSIX.

use std::io;

use rustix::io::Errno as Number;

/// The system's number of an error. Windows has numbers of its own for sockets
/// (`WSAEWOULDBLOCK` for `EAGAIN`, and so on).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Errno(i32);

impl Errno {
    pub const EAGAIN: Self = Self::of(Number::WOULDBLOCK);
    pub const EINTR: Self = Self::of(Number::INTR);
    pub const EINPROGRESS: Self = Self::of(Number::INPROGRESS);
    pub const EMFILE: Self = Self::of(Number::MFILE);
    pub const EMSGSIZE: Self = Self::of(Number::MSGSIZE);
    pub const ENOBUFS: Self = Self::of(Number::NOBUFS);
    pub const ENOTCONN: Self = Self::of(Number::NOTCONN);
    pub const ECONNABORTED: Self = Self::of(Number::CONNABORTED);
    pub const ECONNREFUSED: Self = Self::of(Number::CONNREFUSED);
    pub const ECONNRESET: Self = Self::of(Number::CONNRESET);
    pub const EHOSTUNREACH: Self = Self::of(Number::HOSTUNREACH);
    pub const ENETUNREACH: Self = Self::of(Number::NETUNREACH);
    pub const ENETDOWN: Self = Self::of(Number::NETDOWN);
    pub const EHOSTDOWN: Self = Self::of(Number::HOSTDOWN);
    pub const ETIMEDOUT: Self = Self::of(Number::TIMEDOUT);

    const fn of(number: Number) -> Self {
        Self(number.raw_os_error())
    }
}

#[cfg(not(windows))]
impl Errno {
    pub const EPERM: Self = Self::of(Number::PERM);
    pub const EPIPE: Self = Self::of(Number::PIPE);
    pub const ENFILE: Self = Self::of(Number::NFILE);
    pub const ENOMEM: Self = Self::of(Number::NOMEM);
    pub const EPROTO: Self = Self::of(Number::PROTO);
}

/// Windows says these in other words [WinsockErrors].
#[cfg(windows)]
impl Errno {
    /// `WSAEACCES`: a firewall forbids it.
    pub const EPERM: Self = Self::of(Number::ACCESS);
    /// `WSAESHUTDOWN`: this end of the stream has ended.
    pub const EPIPE: Self = Self::of(Number::SHUTDOWN);
    /// `ERROR_TOO_MANY_OPEN_FILES`.
    pub const ENFILE: Self = Self(4);
    /// `WSA_NOT_ENOUGH_MEMORY`.
    pub const ENOMEM: Self = Self(8);
    /// `WSAENETRESET`: the connection broke.
    pub const EPROTO: Self = Self::of(Number::NETRESET);
}

impl From<io::Error> for Errno {
    fn from(error: io::Error) -> Self {
        match (error.raw_os_error(), error.kind()) {
            (Some(number), _) => Self(number),
            // The standard library and `socket2` make this one themselves.
            (None, io::ErrorKind::TimedOut) => Self::ETIMEDOUT,
            (None, _) => Self::ECONNABORTED,
        }
    }
}

impl From<Errno> for io::Error {
    fn from(error: Errno) -> Self {
        Self::from_raw_os_error(error.0)
    }
}

/// Whether accepting failed because of the connection alone, or there is none.
pub fn is_of_connection(error: Errno) -> bool {
    matches!(
        error,
        Errno::EAGAIN
            | Errno::EINTR
            | Errno::ECONNABORTED
            | Errno::ECONNRESET
            | Errno::EPERM
            | Errno::EPROTO
            | Errno::ENETDOWN
            | Errno::ENETUNREACH
            | Errno::EHOSTDOWN
            | Errno::EHOSTUNREACH
            | Errno::ETIMEDOUT
    )
}
