//! Addresses of sockets, and of their peers.

use std::io::{self, ErrorKind};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    SockType, SockaddrStorage, bind, getpeername, getsockname, getsockopt, sockopt,
};

use crate::error::{Error, OperationContext, Result};
use crate::linux::port_owner::port_owner;

/// Binds a socket to an address, including the zone of a link-local one.
pub fn bind_to(socket: &OwnedFd, address: SocketAddr) -> Result<()> {
    bind(socket.as_raw_fd(), &SockaddrStorage::from(address))
        .during(|| format!("binding to {address}"))
        .map_err(|error| {
            let kind = error.source.kind();
            let remedy = match kind {
                ErrorKind::AddrInUse => in_use(socket, address.port()),
                ErrorKind::AddrNotAvailable => {
                    "this host has no such address; `ip address` shows those that it has".to_owned()
                }
                ErrorKind::PermissionDenied => {
                    "ports below 1024 are for root; choose another port, or use `sudo`".to_owned()
                }
                _ => return error,
            };
            // The error keeps its kind: callers tolerate some ports and addresses.
            let source = io::Error::new(kind, remedy);
            Error { source, ..error }
        })
}

/// Who has the port, and the remedy.
fn in_use(socket: &OwnedFd, port: u16) -> String {
    let protocol = match getsockopt(socket, sockopt::SockType) {
        Ok(SockType::Stream) => "tcp",
        _ => "udp",
    };
    let owner = port_owner(protocol, port);
    let owner = owner.as_deref().unwrap_or("another program");
    format!(
        "the port is in use by {owner}; end it, or choose another port where the command has --port"
    )
}

/// Connects a socket.
pub fn connect(socket: &OwnedFd, to: SocketAddr) -> nix::Result<()> {
    nix::sys::socket::connect(socket.as_raw_fd(), &SockaddrStorage::from(to))
}

/// Connects a socket that does not block. That of a stream goes on connecting after the
/// call.
pub fn begin_to_connect(socket: &OwnedFd, to: SocketAddr) -> nix::Result<()> {
    match connect(socket, to) {
        Err(Errno::EINPROGRESS) => Ok(()),
        result => result,
    }
}

/// The local address of a socket.
pub fn address_of(socket: impl AsFd) -> Result<SocketAddr> {
    let address: SockaddrStorage =
        getsockname(socket.as_fd().as_raw_fd()).during(|| "reading a socket's address")?;
    plain(&address).ok_or_else(|| Error::new("reading a socket's address", "it is no IP address"))
}

/// The address of the other end of a connected socket.
pub fn peer_of(socket: impl AsFd) -> Result<SocketAddr> {
    let doing = || "reading the other end's address";
    let address: SockaddrStorage = getpeername(socket.as_fd().as_raw_fd()).during(doing)?;
    plain(&address).ok_or_else(|| Error::new(doing(), "it is not an IP address"))
}

/// Converts a socket address to the type of the standard library.
pub fn plain(address: &SockaddrStorage) -> Option<SocketAddr> {
    let four = address
        .as_sockaddr_in()
        .map(|four| SocketAddr::V4((*four).into()));
    four.or_else(|| {
        address
            .as_sockaddr_in6()
            .map(|six| SocketAddr::V6((*six).into()))
    })
}
