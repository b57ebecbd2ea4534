//! Sockets with the options of a transfer, verified by reading them back.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::{fs, io};

use nix::sys::socket::{
    AddressFamily, SockFlag, SockType, SockaddrStorage, TimestampingFlag, getsockopt, setsockopt,
    socket, sockopt,
};
use units::{Bytes, Span, Transport};

use super::{TcpState, Transfer};
use crate::error::{During, Error, Result};
use crate::sys::{option, tcp_info};

/// The receive buffer that a UDP receiver requests: the default of 212 992 octets loses
/// a large part of a burst in the receiving host, whatever the network does.
pub const UDP_RECEIVE_BUFFER: Bytes = Bytes::new(16 << 20);

/// The kernel's list of loaded congestion controls [tcp(7)].
const CONGESTION_CONTROLS: &str = "/proc/sys/net/ipv4/tcp_available_congestion_control";

/// A non-blocking socket for `transfer` with all options set.
pub(super) fn open(transfer: &Transfer) -> Result<OwnedFd> {
    let family = match transfer.address {
        IpAddr::V4(_) => AddressFamily::Inet,
        IpAddr::V6(_) => AddressFamily::Inet6,
    };
    let kind = match transfer.protocol {
        Transport::Tcp => SockType::Stream,
        Transport::Udp => SockType::Datagram,
    };
    let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
    let socket = socket(family, kind, flags, None).during(|| "opening a socket")?;
    let receive_buffer = match (transfer.receive_buffer, transfer.protocol) {
        (None, Transport::Udp) => Some(UDP_RECEIVE_BUFFER),
        (asked, _) => asked,
    };
    let octets = |size: Bytes| {
        usize::try_from(size.get())
            .unwrap_or(usize::MAX)
            .min(1 << 30)
    };
    if let Some(size) = transfer.send_buffer {
        setsockopt(&socket, sockopt::SndBuf, &octets(size))
            .during(|| format!("setting a send buffer of {size}"))?;
    }
    if let Some(size) = receive_buffer {
        // The real root may exceed the machine's limit; others get what it allows.
        if setsockopt(&socket, sockopt::RcvBufForce, &octets(size)).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &octets(size))
                .during(|| format!("setting a receive buffer of {size}"))?;
        }
    }
    if transfer.protocol == Transport::Tcp {
        choose_congestion_control(socket.as_fd(), &transfer.congestion)?;
        if let Some(size) = transfer.largest_segment {
            choose_segment(socket.as_fd(), size)?;
        }
        setsockopt(&socket, sockopt::TcpNoDelay, &!transfer.nagle)
            .during(|| "switching Nagle's algorithm")?;
    }
    Ok(socket)
}

/// Whether this kernel has a congestion control of this name, loaded or loadable.
/// Tested by choosing it for a socket that is never used.
///
/// # Errors
/// One line with the remedy: the kernel has none, or this user may not choose it.
pub fn try_congestion_control(name: &str) -> Result<()> {
    let flags = SockFlag::SOCK_CLOEXEC;
    let socket =
        socket(AddressFamily::Inet, SockType::Stream, flags, None).during(|| "opening a socket")?;
    choose_congestion_control(socket.as_fd(), name)
}

/// The congestion control of sockets that choose none.
///
/// # Errors
/// If the kernel does not name it.
pub fn default_congestion_control() -> Result<String> {
    let file = "/proc/sys/net/ipv4/tcp_congestion_control";
    let text = fs::read_to_string(file).during(|| format!("reading {file}"))?;
    Ok(text.trim().to_owned())
}

/// The congestion controls that ordinary users may choose [LinuxDoc ip-sysctl].
const ALLOWED: &str = "/proc/sys/net/ipv4/tcp_allowed_congestion_control";

/// The congestion controls that are loaded.
pub(crate) fn available_congestion_controls() -> Vec<String> {
    let known = fs::read_to_string(CONGESTION_CONTROLS).unwrap_or_default();
    known.split_whitespace().map(str::to_owned).collect()
}

pub(crate) fn choose_congestion_control(socket: BorrowedFd<'_>, name: &str) -> Result<()> {
    setsockopt(&socket, sockopt::TcpCongestion, &name.into())
        .during(|| format!("choosing the congestion control `{name}`"))
        .map_err(|error| match error.source.raw_os_error() {
            Some(libc::ENOENT) => {
                let known = available_congestion_controls();
                let problem = format!(
                    "this kernel has none of that name; write one of {}; `modprobe tcp_NAME` loads others",
                    known.join(", ")
                );
                Error::new(error.operation, problem)
            }
            Some(libc::EPERM) => {
                let allowed = fs::read_to_string(ALLOWED).unwrap_or_default();
                let problem = format!(
                    "root alone may choose it; choose one of {0}, or as root: `sysctl -w net.ipv4.tcp_allowed_congestion_control=\"{0} {name}\"`",
                    allowed.trim()
                );
                Error::new(error.operation, problem)
            }
            _ => error,
        })
}

/// Limits the segments of a connection in both directions, before it begins: the other
/// end learns the limit from the SYN [tcp(7)].
pub(crate) fn choose_segment(socket: BorrowedFd<'_>, size: u16) -> Result<()> {
    option::set(socket, libc::IPPROTO_TCP, libc::TCP_MAXSEG, size.into())
        .during(|| format!("setting a segment size of {size}"))
}

/// A socket that makes the kernel timestamp arrivals while it is open. The kernel
/// starts and stops a little after the first and the last such socket, so the first
/// arrivals of a transfer could lack timestamps.
///
/// # Errors
/// If the kernel refuses.
pub fn keep_stamping() -> Result<OwnedFd> {
    let socket = socket(
        AddressFamily::Inet,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )
    .during(|| "opening a socket")?;
    stamp_arrivals(socket.as_fd())?;
    Ok(socket)
}

/// Enables the kernel's receive timestamps.
pub(crate) fn stamp_arrivals(socket: BorrowedFd<'_>) -> Result<()> {
    let flags = TimestampingFlag::SOF_TIMESTAMPING_RX_SOFTWARE
        | TimestampingFlag::SOF_TIMESTAMPING_SOFTWARE;
    setsockopt(&socket, sockopt::Timestamping, &flags).during(|| "asking for receive stamps")
}

/// Converts `address` and `port` to a socket address.
pub(crate) fn endpoint(address: IpAddr, port: u16) -> SockaddrStorage {
    SocketAddr::new(address, port).into()
}

/// The current SO_SNDBUF.
pub(crate) fn send_buffer(socket: BorrowedFd<'_>) -> Result<u64> {
    Ok(getsockopt(&socket, sockopt::SndBuf).during(|| "reading the send buffer")? as u64)
}

/// The current SO_RCVBUF.
pub(crate) fn receive_buffer(socket: BorrowedFd<'_>) -> Result<u64> {
    Ok(getsockopt(&socket, sockopt::RcvBuf).during(|| "reading the receive buffer")? as u64)
}

/// TCP's statistics of a connection.
pub(crate) fn tcp_state(socket: BorrowedFd<'_>) -> Result<TcpState> {
    let info = tcp_info::tcp_info(socket).during(|| "reading TCP_INFO")?;
    let congestion =
        getsockopt(&socket, sockopt::TcpCongestion).during(|| "reading the congestion control")?;
    Ok(TcpState {
        congestion: congestion
            .to_string_lossy()
            .trim_end_matches('\0')
            .to_owned(),
        round_trip: Span::from_micros(info.tcpi_rtt.into()),
        segments: info.tcpi_segs_out.into(),
        retransmitted: info.tcpi_total_retrans.into(),
        segment_size: info.tcpi_snd_mss.into(),
    })
}

/// The pending error of a socket.
pub(super) fn pending_error(socket: BorrowedFd<'_>) -> Result<()> {
    match getsockopt(&socket, sockopt::SocketError).during(|| "reading a socket's error")? {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)).during(|| "connecting to the receiver"),
    }
}

/// A raw descriptor, for the calls that take one.
pub(super) fn raw(socket: &OwnedFd) -> i32 {
    socket.as_raw_fd()
}
