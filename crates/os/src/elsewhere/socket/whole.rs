//! Packets that no router may divide: with DF over IPv4, and never divided by this host over
//! IPv6.

use std::io;
use std::net::IpAddr;

use meter::departures::PathMtu;

use super::calls::Socket;
use super::option::{self, Names, WHOLE, WHOLE_DO, WHOLE_DONT};
use crate::portable::socket_parts::Kind;

/// Whether this system has a mode for sockets of this kind. A packet that is larger than what
/// the system knows of the path is rejected; Windows alone may ignore what it knows.
pub fn has_path_mtu(path_mtu: PathMtu, kind: impl Into<Kind>) -> bool {
    let kind = kind.into();
    let is_of_datagrams = kind == Kind::Datagram || kind == Kind::Echo && cfg!(unix);
    match path_mtu {
        PathMtu::Machine => true,
        PathMtu::Do | PathMtu::Dont => is_of_datagrams,
        PathMtu::Probe => is_of_datagrams && cfg!(windows),
        PathMtu::Want => false,
    }
}

/// Chooses what is done with packets that are too large for the path.
///
/// # Errors
/// The system's: an old Windows has no [`PathMtu::Probe`].
pub(super) fn choose(socket: &Socket, address: IpAddr, path_mtu: PathMtu) -> io::Result<()> {
    let whole = |value| {
        let (level, name) = names(WHOLE, address);
        option::set(&socket.inner, level, name, value)
    };
    match path_mtu {
        PathMtu::Machine => Ok(()),
        PathMtu::Do => whole(WHOLE_DO),
        PathMtu::Dont => whole(WHOLE_DONT),
        PathMtu::Probe => probe(socket, address),
        PathMtu::Want => Err(io::ErrorKind::Unsupported.into()),
    }
}

const fn names([v4, v6]: Names, address: IpAddr) -> (i32, i32) {
    match address {
        IpAddr::V4(_) => v4,
        IpAddr::V6(_) => v6,
    }
}

#[cfg(not(windows))]
fn probe(_: &Socket, _: IpAddr) -> io::Result<()> {
    Err(io::ErrorKind::Unsupported.into())
}

/// Windows has the modes of Linux since 2020.
#[cfg(windows)]
fn probe(socket: &Socket, address: IpAddr) -> io::Result<()> {
    use windows_sys::Win32::Networking::WinSock::{
        IP_MTU_DISCOVER, IP_PMTUDISC_PROBE, IPPROTO_IP, IPPROTO_IPV6, IPV6_MTU_DISCOVER,
    };
    let modes = [
        (IPPROTO_IP, IP_MTU_DISCOVER),
        (IPPROTO_IPV6, IPV6_MTU_DISCOVER),
    ];
    let (level, name) = names(modes, address);
    option::set(&socket.inner, level, name, IP_PMTUDISC_PROBE)
}

/// Sets the hop limit of the next packets; `None`: the system's default.
///
/// # Errors
/// The system's.
pub fn set_hop_limit(socket: &Socket, to: IpAddr, hops: Option<u8>) -> io::Result<()> {
    /// What these systems have unless somebody changed it.
    const DEFAULT: u8 = if cfg!(windows) { 128 } else { 64 };
    let hops = hops.unwrap_or(DEFAULT).into();
    match to {
        IpAddr::V4(_) => socket.inner.set_ttl_v4(hops),
        IpAddr::V6(_) => socket.inner.set_unicast_hops_v6(hops),
    }
}
