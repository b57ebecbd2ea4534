//! Sockets without options.

use std::net::IpAddr;
use std::os::fd::OwnedFd;

use crate::error::{OperationContext, Result};
use crate::portable::socket_parts::Kind;
use crate::sys::socket;

/// A socket without options.
pub(super) fn bare(kind: Kind, address: IpAddr, non_blocking: bool) -> Result<OwnedFd> {
    let family = match address {
        IpAddr::V4(_) => libc::AF_INET,
        IpAddr::V6(_) => libc::AF_INET6,
    };
    let (kind, protocol) = match kind {
        Kind::Stream => (libc::SOCK_STREAM, 0),
        Kind::Datagram => (libc::SOCK_DGRAM, 0),
        Kind::Echo => (libc::SOCK_DGRAM, icmp(address)),
        Kind::Raw(protocol) => (libc::SOCK_RAW, protocol),
    };
    let kind = match non_blocking {
        true => kind | libc::SOCK_NONBLOCK,
        false => kind,
    };
    socket::open(family, kind, protocol).during(|| "opening a socket")
}

/// The protocol number of ICMP for the version of an address.
pub(super) const fn icmp(address: IpAddr) -> libc::c_int {
    match address {
        IpAddr::V4(_) => libc::IPPROTO_ICMP,
        IpAddr::V6(_) => libc::IPPROTO_ICMPV6,
    }
}
