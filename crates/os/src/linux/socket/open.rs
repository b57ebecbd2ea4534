//! Opening of sockets and ports.

use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, OwnedFd};

use nix::sys::socket::Backlog;

use super::address::address_of;
use super::kind::{bare, icmp};
use super::options::apply;
use crate::error::{Error, OperationContext, Result};
use crate::portable::socket_parts::{Kind, Options};
use crate::sys::option;

/// The remedy where echo requests are not allowed.
pub const NO_ECHOES: &str = "this user may not send echo requests; type: sudo sysctl net.ipv4.ping_group_range='0 2147483647'";

/// A socket with options, for packets to or from `address`.
///
/// # Errors
/// The kernel rejects the socket or an option.
pub fn open(kind: impl Into<Kind>, address: IpAddr, options: &Options) -> Result<OwnedFd> {
    let kind = kind.into();
    let socket = bare(kind, address, options.non_blocking)?;
    apply(options, &socket, kind, address)?;
    Ok(socket)
}

/// A socket for echo requests, and whether it is raw. Ordinary users may open the kernel's
/// own kind only, and only if their group is in a list.
///
/// # Errors
/// The user may open neither, or the kernel rejects an option.
pub fn open_for_echoes(address: IpAddr, options: &Options) -> Result<(OwnedFd, bool)> {
    for kind in [Kind::Echo, Kind::Raw(icmp(address))] {
        if let Ok(socket) = bare(kind, address, options.non_blocking) {
            apply(options, &socket, kind, address)?;
            return Ok((socket, kind != Kind::Echo));
        }
    }
    Err(Error::new("opening a socket for echoes", NO_ECHOES))
}

/// Makes a raw socket for ICMP of IPv4 receive messages of this type alone [raw(7)].
///
/// # Errors
/// The kernel's.
pub fn receive_icmp_only(socket: &OwnedFd, kind: u8) -> Result<()> {
    /// [LinuxUapi icmp.h]
    const ICMP_FILTER: libc::c_int = 1;
    // A set bit drops messages of its number, of which 32 can be dropped.
    let dropped = !1_u32.checked_shl(kind.into()).unwrap_or(0);
    let set = option::set(
        socket.as_fd(),
        libc::SOL_RAW,
        ICMP_FILTER,
        dropped.cast_signed(),
    );
    set.during(|| "selecting ICMP messages")
}

/// A socket of the calling thread's network namespace, for ioctls on its interfaces.
///
/// # Errors
/// The kernel rejects it.
pub fn control() -> Result<OwnedFd> {
    bare(Kind::Datagram, IpAddr::V4(Ipv4Addr::UNSPECIFIED), false)
}

/// Makes a bound socket take connections, of which at most `waiting` may wait.
///
/// # Errors
/// The kernel's.
pub fn listen(socket: &OwnedFd, waiting: i32) -> Result<()> {
    let doing = || match address_of(socket.as_fd()) {
        Ok(address) => format!("listening on {address}"),
        Err(_) => "listening".to_owned(),
    };
    let waiting = Backlog::new(waiting).during(doing)?;
    nix::sys::socket::listen(socket, waiting).during(doing)
}
