//! Sockets that send packets whole: with DF over IPv4, and as large as the interface
//! allows, whatever the kernel knows of the path [ip(7)] [ipv6(7)].

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, SockaddrStorage, connect, setsockopt, socket,
    sockopt,
};

use crate::error::{During, Result};
use crate::sys::option;
use crate::traffic::bind_to;
use crate::transfer::stamp_arrivals;

/// Room for replies, in octets of kernel memory: a few of the largest.
const RECEIVE_BUFFER: usize = 1 << 20;

/// The ends of a probe's socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    /// Destination address and port.
    pub(super) to: SocketAddr,
    /// The source address; `None`: the kernel's choice.
    pub(super) from: Option<IpAddr>,
    /// The interface to which the socket is bound.
    pub(super) interface: Option<String>,
    /// Index of the interface through which packets leave: the zone of addresses of links
    /// [RFC4007 s6].
    pub(super) zone: u32,
}

/// Names of the options of an IP version.
struct Names {
    level: libc::c_int,
    discover: libc::c_int,
    errors: libc::c_int,
    hops: libc::c_int,
    fragment_size: libc::c_int,
}

const V4: Names = Names {
    level: libc::IPPROTO_IP,
    discover: libc::IP_MTU_DISCOVER,
    errors: libc::IP_RECVERR,
    hops: libc::IP_TTL,
    fragment_size: libc::IP_RECVFRAGSIZE,
};

const V6: Names = Names {
    level: libc::IPPROTO_IPV6,
    discover: libc::IPV6_MTU_DISCOVER,
    errors: libc::IPV6_RECVERR,
    hops: libc::IPV6_UNICAST_HOPS,
    fragment_size: libc::IPV6_RECVFRAGSIZE,
};

const fn names(to: SocketAddr) -> &'static Names {
    match to {
        SocketAddr::V4(_) => &V4,
        SocketAddr::V6(_) => &V6,
    }
}

/// A socket that neither blocks nor is connected.
///
/// # Errors
/// The kernel's, e.g. `EACCES` and `EPERM` without the permission.
pub(super) fn open(
    to: SocketAddr,
    kind: SockType,
    protocol: Option<SockProtocol>,
) -> nix::Result<OwnedFd> {
    let family = match to {
        SocketAddr::V4(_) => AddressFamily::Inet,
        SocketAddr::V6(_) => AddressFamily::Inet6,
    };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    socket(family, kind, flags, protocol)
}

/// Sets the options of a probe's socket, and binds it.
///
/// # Errors
/// The kernel's.
pub(super) fn prepare(socket: &OwnedFd, ends: &Ends) -> Result<()> {
    let Names {
        level,
        discover,
        errors,
        fragment_size,
        ..
    } = *names(ends.to);
    let set = |name, value| option::set(socket.as_fd(), level, name, value);
    set(discover, libc::IP_PMTUDISC_PROBE)
        .during(|| "choosing what is done about the path's MTU")?;
    set(errors, 1).during(|| "asking for errors of the path")?;
    // Sockets of streams, and old kernels, do not tell.
    let _ = set(fragment_size, 1);
    if ends.to.is_ipv6() {
        set(libc::IPV6_DONTFRAG, 1).during(|| "forbidding fragments")?;
    }
    setsockopt(socket, sockopt::RcvBuf, &RECEIVE_BUFFER)
        .during(|| "setting a receive buffer of a probe")?;
    stamp_arrivals(socket.as_fd())?;
    if let Some(interface) = &ends.interface {
        setsockopt(socket, sockopt::BindToDevice, &interface.into())
            .during(|| format!("binding to the interface {interface}"))?;
    }
    if let Some(from) = ends.from {
        bind_to(socket, zoned(SocketAddr::new(from, 0), ends.zone))?;
    }
    Ok(())
}

/// An address as the kernel takes it: without its zone, one of a link says nothing.
pub(super) fn zoned(address: SocketAddr, zone: u32) -> SocketAddr {
    match address {
        SocketAddr::V6(mut six) if six.ip().is_unicast_link_local() => {
            six.set_scope_id(zone);
            six.into()
        }
        other => other,
    }
}

/// Connects a socket. That of a stream goes on connecting after the call.
///
/// # Errors
/// The kernel's.
pub(super) fn join(socket: &OwnedFd, to: SocketAddr) -> nix::Result<()> {
    match connect(socket.as_raw_fd(), &SockaddrStorage::from(to)) {
        Ok(()) | Err(Errno::EINPROGRESS) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Sets the hop limit of the next packets; `None`: the system's default.
///
/// # Errors
/// The kernel's.
pub(super) fn set_hop_limit(socket: &OwnedFd, to: SocketAddr, hops: Option<u8>) -> Result<()> {
    let Names {
        level, hops: name, ..
    } = *names(to);
    let value = hops.map_or(-1, libc::c_int::from);
    option::set(socket.as_fd(), level, name, value).during(|| "setting a hop limit")
}
