//! Sockets that send packets whole: with DF over IPv4, and as large as the interface
//! allows, whatever the kernel knows of the path [ip(7)] [ipv6(7)].

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};

use meter::departures::PathMtu;
use nix::sys::socket::ControlMessageOwned;
use units::Bytes;

use os::error::{OperationContext, Result};
use os::socket::{self, IpOption, Kind, Options};

/// Room for replies, in bytes of kernel memory: a few of the largest.
const RECEIVE_BUFFER: Bytes = Bytes::new(1 << 20);

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

impl Ends {
    /// The options of a socket of a probe.
    pub(super) fn options(&self) -> Options {
        let here = |from| zoned(SocketAddr::new(from, 0), self.zone);
        Options {
            bind: self.from.map(here),
            device: self.interface.clone(),
            path_mtu: PathMtu::Probe,
            unfragmented: true,
            path_errors: true,
            receive_buffer: Some(RECEIVE_BUFFER),
            stamps: true,
            non_blocking: true,
            ..Options::default()
        }
    }
}

/// Opens a socket of a probe.
///
/// # Errors
/// The kernel's, e.g. `EACCES` and `EPERM` without the permission.
pub(super) fn open(kind: Kind, ends: &Ends) -> Result<OwnedFd> {
    let socket = socket::open(kind, ends.to.ip(), &ends.options())?;
    // Without it, fragments are not seen.
    let _ = state_fragments(&socket, ends.to.ip());
    Ok(socket)
}

/// Makes the kernel state the size of the largest fragment of arrivals. Returns whether it
/// can: sockets of streams, and old kernels, cannot.
pub(super) fn state_fragments(socket: &OwnedFd, to: IpAddr) -> bool {
    let option = IpOption::FRAGMENT_SIZE_OF_ARRIVALS;
    option.set(socket.as_fd(), to, 1).is_ok()
}

/// The largest fragment in which a packet arrived, if this part of its control data says so.
pub(super) fn fragment_size(part: &ControlMessageOwned) -> Option<Bytes> {
    let ControlMessageOwned::Unknown(other) = part else {
        return None;
    };
    let header = other.cmsg_header;
    let is_size = matches!(
        (header.cmsg_level, header.cmsg_type),
        (libc::IPPROTO_IP, libc::IP_RECVFRAGSIZE) | (libc::IPPROTO_IPV6, libc::IPV6_RECVFRAGSIZE)
    );
    let number = other.data_bytes.first_chunk().copied();
    let number = number.filter(|_| is_size).map(i32::from_ne_bytes)?;
    u64::try_from(number).ok().map(Bytes::new)
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

/// Sets the hop limit of the next packets; `None`: the system's default.
///
/// # Errors
/// The kernel's.
pub(super) fn set_hop_limit(socket: &OwnedFd, to: SocketAddr, hops: Option<u8>) -> Result<()> {
    let value = hops.map_or(-1, libc::c_int::from);
    let set = IpOption::HOP_LIMIT.set(socket.as_fd(), to.ip(), value);
    set.during(|| "setting a hop limit")
}
