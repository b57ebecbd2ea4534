//! Opening of sockets, and their options.

use std::env::consts::OS;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

#[cfg(unix)]
use socket2::Protocol;
use socket2::{Domain, SockAddr, TcpKeepalive, Type};
use units::{Bytes, Span};

use super::calls::Socket;
use super::whole;
use crate::error::{Error, OperationContext, Result};
use crate::portable::socket_parts::{KeepAlive, Kind, Options};

/// A socket with options, for packets to or from `address`.
///
/// # Errors
/// The system has no such socket, or rejects an option.
pub fn open(kind: impl Into<Kind>, address: IpAddr, options: &Options) -> Result<Socket> {
    let kind = kind.into();
    let domain = match address {
        IpAddr::V4(_) => Domain::IPV4,
        IpAddr::V6(_) => Domain::IPV6,
    };
    let (of_system, protocol) = match kind {
        Kind::Stream => (Type::STREAM, None),
        Kind::Datagram => (Type::DGRAM, None),
        #[cfg(unix)]
        Kind::Echo => (OF_ECHOES, Some(icmp(address))),
        #[cfg(windows)]
        Kind::Echo => return Err(needs_linux("a socket for echo requests")),
        Kind::Raw(_) => return Err(needs_linux("a raw socket")),
        Kind::UdpLite { .. } => return Err(needs_linux("a socket of UDP-Lite")),
        Kind::Sctp { .. } => return Err(needs_linux("a socket of SCTP")),
    };
    let socket = socket2::Socket::new(domain, of_system, protocol);
    let socket = socket.and_then(|socket| Socket::new(socket, options.non_blocking));
    let socket = socket.during(|| match (kind, cfg!(target_os = "macos")) {
        (Kind::Echo, false) => "opening a raw socket for echo requests, which needs root here",
        (Kind::Echo, true) => "opening a socket for echo requests",
        _ => "opening a socket",
    })?;
    apply(options, &socket, kind, address)?;
    Ok(socket)
}

/// macOS gives every user datagrams of ICMP [XnuIcmp]. FreeBSD has raw sockets alone, which need
/// root [FreeBsdIcmp].
#[cfg(unix)]
const OF_ECHOES: Type = match cfg!(target_os = "macos") {
    true => Type::DGRAM,
    false => Type::RAW,
};

#[cfg(unix)]
const fn icmp(address: IpAddr) -> Protocol {
    match address {
        IpAddr::V4(_) => Protocol::ICMPV4,
        IpAddr::V6(_) => Protocol::ICMPV6,
    }
}

fn needs_linux(what: &str) -> Error {
    let why = format!("it needs Linux, and this program is for {OS}; leave it out");
    Error {
        operation: what.to_owned(),
        source: io::Error::new(ErrorKind::Unsupported, why),
    }
}

/// Why this system has no sockets of a kind, with a remedy; `None` if it has them.
pub fn missing(kind: Kind) -> Option<String> {
    matches!(kind, Kind::UdpLite { .. } | Kind::Sctp { .. })
        .then(|| format!("it needs Linux, and this program is for {OS}; write udp or tcp"))
}

impl Options {
    /// The first option that this system lacks, in the words of an error.
    fn absent(&self, kind: Kind) -> Option<&'static str> {
        [
            (self.device.is_some(), "binding to an interface"),
            (cfg!(windows) && self.dscp != 0, "a code point"),
            (cfg!(windows) && self.ecn != 0, "ECN"),
            (self.flow_label.is_some(), "a flow label"),
            (
                !whole::has_path_mtu(self.path_mtu, kind),
                "this treatment of the path MTU",
            ),
            (self.unfragmented, "forbidding fragments"),
            (self.congestion.is_some(), "a congestion control"),
            (self.segment.is_some(), "a segment size"),
        ]
        .into_iter()
        .find_map(|(is_set, what)| is_set.then_some(what))
    }
}

/// Sets the options of a socket of this kind, for packets to or from `address`; those of
/// TCP, of streams only. Stamps and errors of the path are of Linux alone.
///
/// # Errors
/// The system lacks one, or rejects it.
pub fn apply(options: &Options, socket: &Socket, kind: Kind, address: IpAddr) -> Result<()> {
    if let Some(what) = options.absent(kind) {
        return Err(needs_linux(what));
    }
    let system = &socket.inner;
    let service = options.dscp << 2 | options.ecn;
    if service != 0 {
        set_service(socket, address, service)?;
    }
    if let Some(ttl) = options.ttl {
        match address {
            IpAddr::V4(_) => system.set_ttl_v4(ttl.into()),
            IpAddr::V6(_) => system.set_unicast_hops_v6(ttl.into()),
        }
        .during(|| format!("setting a time to live of {ttl}"))?;
    }
    whole::choose(socket, address, options.path_mtu)
        .during(|| "choosing what is done about the path's MTU")?;
    if address.is_ipv6() && options.v6_only {
        let set = system.set_only_v6(true);
        set.during(|| "limiting a socket to IPv6")?;
    }
    if let Some(size) = options.send_buffer {
        largest_below(size, |size| system.set_send_buffer_size(size))
            .during(|| format!("setting a send buffer of {size}"))?;
    }
    if let Some(size) = options.receive_buffer {
        largest_below(size, |size| system.set_recv_buffer_size(size))
            .during(|| format!("setting a receive buffer of {size}"))?;
    }
    if kind == Kind::Stream && options.no_delay {
        set_no_delay(socket)?;
    }
    if let Some(span) = options.timeout {
        set_timeout(socket, span)?;
    }
    if options.reset_on_close {
        reset_on_close(socket)?;
    }
    if options.reuse_address {
        reuse_address(socket)?;
    }
    match options.bind {
        Some(here) => bind_to(socket, here),
        None => Ok(()),
    }
}

/// Binds a socket to an address, including the zone of a link-local one.
///
/// # Errors
/// The port is in use, the address is of another host, or the system's: one line with the
/// remedy.
pub fn bind_to(socket: &Socket, address: SocketAddr) -> Result<()> {
    let bound = socket.inner.bind(&SockAddr::from(address));
    bound.during(|| format!("binding to {address}")).map_err(|error| {
        let kind = error.source.kind();
        let remedy = match kind {
            ErrorKind::AddrInUse => {
                "the port is in use by another program; end it, or choose another port where the command has --port"
            }
            ErrorKind::AddrNotAvailable => "this host has no such address",
            ErrorKind::PermissionDenied => {
                "this user may not use the port; choose another one"
            }
            _ => return error,
        };
        // The error keeps its kind: callers tolerate some ports and addresses.
        let source = io::Error::new(kind, remedy);
        Error { source, ..error }
    })
}

/// Sets a size, or the largest half, quarter and so on of it that the system allows: macOS and
/// FreeBSD reject sizes beyond their limit, which others take for the limit.
fn largest_below(size: Bytes, set: impl Fn(usize) -> io::Result<()>) -> io::Result<()> {
    /// The smallest buffer that is tried.
    const LEAST: usize = 1 << 16;
    // The systems take an int.
    let mut size = usize::try_from(size.get().min(i32::MAX as u64)).unwrap_or(usize::MAX);
    loop {
        match set(size) {
            Err(_) if size / 2 >= LEAST => size /= 2,
            result => return result,
        }
    }
}

/// Sets the code point of packets that a socket sends to `to`: the upper six bits of
/// their service byte [RFC2474 s3].
///
/// # Errors
/// The system's. Windows lets no program set it.
#[cfg(not(windows))]
pub fn set_code_point(socket: &Socket, to: IpAddr, dscp: u8) -> Result<()> {
    set_service(socket, to, dscp << 2)
}

/// Sets the service byte, which holds the code point and ECN.
#[cfg(not(windows))]
fn set_service(socket: &Socket, to: IpAddr, service: u8) -> Result<()> {
    match to {
        IpAddr::V4(_) => socket.inner.set_tos_v4(service.into()),
        IpAddr::V6(_) => socket.inner.set_tclass_v6(service.into()),
    }
    .during(|| {
        format!(
            "setting the code point {} and ECN {}",
            service >> 2,
            service & 3
        )
    })
}

/// Windows lets no program set the code point of its packets: it takes IP_TOS, and ignores it
/// [WinsockIpOptions].
///
/// # Errors
/// Always.
#[cfg(windows)]
pub fn set_code_point(_: &Socket, _: IpAddr, _: u8) -> Result<()> {
    Err(needs_linux("a code point"))
}

#[cfg(windows)]
fn set_service(_: &Socket, _: IpAddr, _: u8) -> Result<()> {
    Err(needs_linux("a code point"))
}

/// Sets the longest time of a call that waits.
///
/// # Errors
/// None on these systems.
pub fn set_timeout(socket: &Socket, span: Span) -> Result<()> {
    // Zero would mean that no call waits.
    socket.patience().set(span.as_nanos().max(1));
    Ok(())
}

/// Makes all further calls return at once.
///
/// # Errors
/// None on these systems.
pub fn set_non_blocking(socket: &Socket) -> io::Result<()> {
    socket.patience().set(0);
    Ok(())
}

/// Makes closing a socket drop unsent data and reset the connection.
///
/// # Errors
/// The system's.
pub fn reset_on_close(socket: &Socket) -> Result<()> {
    let set = socket.inner.set_linger(Some(Duration::ZERO));
    set.during(|| "setting up the end of a connection")
}

/// Lets the address of a listener be in use by an earlier connection.
///
/// # Errors
/// The system's.
pub fn reuse_address(socket: &Socket) -> Result<()> {
    // On Windows this is so anyway, and the option would let other programs take the port.
    match cfg!(windows) {
        true => Ok(()),
        false => { socket.inner.set_reuse_address(true) }.during(|| "sharing an address"),
    }
}

/// Switches Nagle's algorithm off.
///
/// # Errors
/// The system's.
pub fn set_no_delay(socket: &Socket) -> Result<()> {
    let set = socket.inner.set_tcp_nodelay(true);
    set.during(|| "switching Nagle's algorithm off")
}

/// Makes TCP look whether the other end lives. These systems have no limit for data without
/// an acknowledgement.
///
/// # Errors
/// The system's.
pub fn keep_alive(socket: &Socket, wanted: KeepAlive) -> Result<()> {
    let seconds = |number: i32| Duration::from_secs(u64::try_from(number).unwrap_or_default());
    let timed = TcpKeepalive::new()
        .with_time(seconds(wanted.idle))
        .with_interval(seconds(wanted.interval));
    let probes = u32::try_from(wanted.probes).unwrap_or_default();
    let counted = timed.clone().with_retries(probes);
    // Windows before 2017, and Wine, ask ten times whatever is wanted.
    let set = socket.inner.set_tcp_keepalive(&counted);
    set.or_else(|_| socket.inner.set_tcp_keepalive(&timed))
        .during(|| "asking for signs of life")
}

/// The current SO_SNDBUF.
///
/// # Errors
/// The system's.
pub fn send_buffer(socket: &Socket) -> Result<u64> {
    let size = socket.inner.send_buffer_size();
    Ok(size.during(|| "reading the send buffer")? as u64)
}

/// The current SO_RCVBUF.
///
/// # Errors
/// The system's.
pub fn receive_buffer(socket: &Socket) -> Result<u64> {
    let size = socket.inner.recv_buffer_size();
    Ok(size.during(|| "reading the receive buffer")? as u64)
}
