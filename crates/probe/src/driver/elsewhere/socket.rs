//! Sockets that send packets whole, and the largest of them.

use std::net::{IpAddr, SocketAddr};

use meter::departures::PathMtu;
use units::Bytes;

use super::error::version;
use super::largest::{LARGEST, largest};
use os::error::{OperationContext, Result};
use os::socket::{self, Errno, Kind, MsgFlags, Options, Socket, begin_to_connect, send};

/// Room for replies, in bytes of kernel memory: a few of the largest.
const RECEIVE_BUFFER: Bytes = Bytes::new(1 << 20);

/// Bytes of UDP's header [RFC768].
const UDP_HEADER: u32 = 8;

/// The most times that a call is repeated which fails because of earlier packets.
const TRIES: u32 = 3;

/// The ends of a probe's socket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Ends {
    /// Destination address and port.
    pub(super) to: SocketAddr,
    /// The source address; `None`: the system's choice.
    pub(super) from: Option<IpAddr>,
    /// The zone of addresses of links [RFC4007 s6].
    pub(super) zone: u32,
}

impl Ends {
    /// The options of a socket of a probe.
    fn options(&self) -> Options {
        let here = |from| zoned(SocketAddr::new(from, 0), self.zone);
        Options {
            bind: self.from.map(here),
            receive_buffer: Some(RECEIVE_BUFFER),
            non_blocking: true,
            ..Options::default()
        }
    }
}

/// Opens a socket of a probe. Its datagrams leave whole, and as large as the interface allows
/// where the system can ignore what it knows of the path.
///
/// # Errors
/// The system's.
pub(super) fn open(kind: Kind, ends: &Ends) -> Result<Socket> {
    let options = ends.options();
    if kind != Kind::Datagram {
        return socket::open(kind, ends.to.ip(), &options);
    }
    let whole = |path_mtu| Options {
        path_mtu,
        ..options.clone()
    };
    socket::open(kind, ends.to.ip(), &whole(PathMtu::Probe))
        .or_else(|_| socket::open(kind, ends.to.ip(), &whole(PathMtu::Do)))
}

/// The largest packet that the system sends whole to the far end: as large as its interface
/// allows or, where it cannot ignore that, as it has learned of the path. `None` if it rejects
/// small ones, too.
///
/// It is found by packets whose hop limit ends at the first router, to a port that nobody
/// listens at. Sizes that are rejected cost no packet, so that they are tried from above: one to
/// three packets leave, and the router has answers left for others.
///
/// # Errors
/// The system's.
pub(super) fn largest_sent(ends: &Ends) -> Result<Option<u32>> {
    let to = ends.to.ip();
    let socket = open(Kind::Datagram, ends)?;
    begin_to_connect(&socket, ends.to).during(|| format!("connecting to {to}"))?;
    set_hop_limit(&socket, ends.to, Some(1))?;
    let header = u32::try_from(version(to).header().get()).unwrap_or(0) + UDP_HEADER;
    let bytes = vec![0; LARGEST as usize];
    let is_sent = |size: u32| {
        let data = &bytes[..size.saturating_sub(header) as usize];
        for _ in 0..TRIES {
            match send(&socket, data, MsgFlags::MSG_DONTWAIT) {
                Ok(_) => return true,
                Err(Errno::EMSGSIZE) => return false,
                // It may be about an earlier packet.
                Err(_) => {}
            }
        }
        true
    };
    Ok(largest(is_sent))
}

/// An address as the system takes it: without its zone, one of a link says nothing.
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
/// The system's.
pub(super) fn set_hop_limit(socket: &Socket, to: SocketAddr, hops: Option<u8>) -> Result<()> {
    let set = socket::set_hop_limit(socket, to.ip(), hops);
    set.during(|| "setting a hop limit")
}
