//! Sockets without options.

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::OwnedFd;

use nix::errno::Errno;

use crate::error::{Error, Result};
use crate::portable::socket_parts::Kind;
use crate::sys::socket;

/// A socket without options.
pub(super) fn bare(kind: Kind, address: IpAddr, non_blocking: bool) -> Result<OwnedFd> {
    let family = match address {
        IpAddr::V4(_) => libc::AF_INET,
        IpAddr::V6(_) => libc::AF_INET6,
    };
    let (of_system, protocol) = match kind {
        Kind::Stream => (libc::SOCK_STREAM, 0),
        Kind::Datagram => (libc::SOCK_DGRAM, 0),
        Kind::Echo => (libc::SOCK_DGRAM, icmp(address)),
        Kind::Raw(protocol) => (libc::SOCK_RAW, protocol),
        Kind::UdpLite { .. } => (libc::SOCK_DGRAM, libc::IPPROTO_UDPLITE),
        Kind::Sctp { .. } => (libc::SOCK_STREAM, libc::IPPROTO_SCTP),
    };
    let of_system = match non_blocking {
        true => of_system | libc::SOCK_NONBLOCK,
        false => of_system,
    };
    socket::open(family, of_system, protocol).map_err(|error| {
        let source = match (error, remedy(kind)) {
            (Errno::EPROTONOSUPPORT | Errno::ESOCKTNOSUPPORT, Some(remedy)) => {
                io::Error::new(ErrorKind::Unsupported, remedy)
            }
            _ => error.into(),
        };
        Error {
            operation: "opening a socket".to_owned(),
            source,
        }
    })
}

/// Why this system has no sockets of a kind, with a remedy; `None` if it has them.
pub fn missing(kind: Kind) -> Option<String> {
    let error = bare(kind, Ipv4Addr::LOCALHOST.into(), false).err()?.source;
    (error.kind() == ErrorKind::Unsupported).then(|| error.to_string())
}

/// The remedy where a kernel was built without a kind of sockets, or without its module.
const fn remedy(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Sctp { .. } => Some(
            "this kernel has no SCTP: load its module (`modprobe sctp`), which Debian has in linux-image-amd64",
        ),
        Kind::UdpLite { .. } => {
            Some("this kernel has no UDP-Lite: Linux 2.6.20 to 7.0 can have it; write udp instead")
        }
        Kind::Stream | Kind::Datagram | Kind::Echo | Kind::Raw(_) => None,
    }
}

/// The protocol number of ICMP for the version of an address.
pub(super) const fn icmp(address: IpAddr) -> libc::c_int {
    match address {
        IpAddr::V4(_) => libc::IPPROTO_ICMP,
        IpAddr::V6(_) => libc::IPPROTO_ICMPV6,
    }
}
