//! Blocking sockets with the options of request/response traffic. The program of the
//! study makes blocking calls, which need no second system call.

use std::io;
use std::net::{SocketAddr, TcpStream, UdpSocket};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::time::Duration;

use nix::sys::socket::{
    AddressFamily, Backlog, SockFlag, SockType, SockaddrStorage, bind, connect, listen, setsockopt,
    socket, sockopt,
};
use units::{Bytes, Span, Transport};

use super::{RequestResponse, TcpStats};
use crate::error::{During, Result};
use crate::sockets::address_of;
use crate::sys::{option, tcp_info};
use crate::transfer::{choose_congestion_control, choose_segment, endpoint};
use crate::trial_token::{self, BACKLOG, DataPort, Token};

/// The longest time to establish a connection.
const CONNECTING: Span = Span::from_secs(30);

/// A socket for `request_response` with all options set.
pub(super) fn open(request_response: &RequestResponse) -> Result<OwnedFd> {
    let family = match request_response.address.is_ipv4() {
        true => AddressFamily::Inet,
        false => AddressFamily::Inet6,
    };
    let kind = match request_response.protocol {
        Transport::Tcp => SockType::Stream,
        Transport::Udp => SockType::Datagram,
    };
    let socket =
        socket(family, kind, SockFlag::SOCK_CLOEXEC, None).during(|| "opening a socket")?;
    let octets = |size: Bytes| {
        usize::try_from(size.get())
            .unwrap_or(usize::MAX)
            .min(1 << 30)
    };
    if let Some(size) = request_response.send_buffer {
        setsockopt(&socket, sockopt::SndBuf, &octets(size))
            .during(|| format!("setting a send buffer of {size}"))?;
    }
    if let Some(size) = request_response.receive_buffer {
        setsockopt(&socket, sockopt::RcvBuf, &octets(size))
            .during(|| format!("setting a receive buffer of {size}"))?;
    }
    if request_response.protocol == Transport::Tcp {
        choose_congestion_control(socket.as_fd(), &request_response.congestion)?;
        if let Some(size) = request_response.largest_segment {
            choose_segment(socket.as_fd(), size)?;
        }
        setsockopt(&socket, sockopt::TcpNoDelay, &!request_response.nagle)
            .during(|| "switching Nagle's algorithm")?;
    }
    Ok(socket)
}

/// A port on the address of the requests for the asking end with `token`, and its number.
pub(super) fn data_port(
    request_response: &RequestResponse,
    token: Token,
) -> Result<(DataPort, u16)> {
    let operation = || format!("opening a port on {}", request_response.address);
    let socket = bound(request_response)?;
    let port = address_of(socket.as_fd())?.port();
    let data_port = match request_response.protocol {
        Transport::Tcp => {
            listen(&socket, Backlog::new(BACKLOG).during(operation)?).during(operation)?;
            // A stalled connection is followed by another one.
            DataPort::of_stream(socket, token, usize::MAX, SockFlag::empty())?
        }
        Transport::Udp => DataPort::of_datagrams(socket, token),
    };
    Ok((data_port, port))
}

/// A connection to `port` of the answering end that has shown `token`, and the segments
/// that this took, as [`segments`] counts.
pub(super) fn connected(
    request_response: &RequestResponse,
    token: &Token,
    port: u16,
) -> Result<(TcpStream, [u64; 2])> {
    let socket = joined(request_response, port)?;
    let before = segments(socket.as_fd()).unwrap_or_default();
    show(&socket, request_response, token, port)?;
    let after = segments(socket.as_fd()).unwrap_or_default();
    let took = [0, 1].map(|place| after[place].saturating_sub(before[place]));
    let stream = TcpStream::from(socket);
    limit(stream.as_fd(), request_response.deadline)?;
    Ok((stream, took))
}

/// A UDP socket connected to `port` of the answering end that has shown `token`.
pub(super) fn sending(
    request_response: &RequestResponse,
    token: &Token,
    port: u16,
) -> Result<UdpSocket> {
    let socket = joined(request_response, port)?;
    show(&socket, request_response, token, port)?;
    Ok(UdpSocket::from(socket))
}

fn show(
    socket: &OwnedFd,
    request_response: &RequestResponse,
    token: &Token,
    port: u16,
) -> Result<()> {
    let to = SocketAddr::new(request_response.address, port);
    trial_token::show(socket, request_response.protocol, token, to, CONNECTING)
}

/// Makes calls on the socket return after `span` without progress.
pub(super) fn limit(socket: BorrowedFd<'_>, span: Span) -> Result<()> {
    // Zero would mean no timeout.
    let span = Duration::from_nanos(span.as_nanos().max(1_000));
    let value = nix::sys::time::TimeVal::new(
        i64::try_from(span.as_secs()).unwrap_or(i64::MAX),
        i64::from(span.subsec_micros().max(u32::from(span.as_secs() == 0))),
    );
    setsockopt(&socket, sockopt::ReceiveTimeout, &value).during(|| "setting a deadline")?;
    setsockopt(&socket, sockopt::SendTimeout, &value).during(|| "setting a deadline")
}

/// Whether a call timed out.
pub(super) fn is_late(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut
    )
}

/// TCP's statistics of a stalled connection.
pub(super) fn tcp_stats(socket: BorrowedFd<'_>) -> Option<TcpStats> {
    let info = tcp_info::tcp_info(socket).ok()?;
    Some(TcpStats {
        unacknowledged: info.tcpi_unacked,
        lost: info.tcpi_lost,
        retransmits: info.tcpi_retransmits,
        backoff: info.tcpi_backoff,
        probes: info.tcpi_probes,
        timeout_us: info.tcpi_rto,
        window: info.tcpi_snd_cwnd,
        retransmitted: info.tcpi_total_retrans,
        round_trip_us: info.tcpi_rtt,
        silent_ms: info.tcpi_last_data_sent,
    })
}

/// Data segments sent and segments without data received.
pub(super) fn segments(socket: BorrowedFd<'_>) -> Option<[u64; 2]> {
    let info = tcp_info::tcp_info(socket).ok()?;
    let came = info.tcpi_segs_in.saturating_sub(info.tcpi_data_segs_in);
    Some([info.tcpi_data_segs_out.into(), came.into()])
}

/// Limits the delay of acknowledgements to `span`.
pub(super) fn delay_acknowledgements(socket: BorrowedFd<'_>, span: Span) -> Result<()> {
    /// TCP_DELACK_MAX_US, which libc does not name [LinuxUapi tcp.h].
    const TCP_DELACK_MAX_US: libc::c_int = 46;
    let micros = i32::try_from(span.as_nanos() / 1_000).unwrap_or(i32::MAX);
    option::set(socket, libc::IPPROTO_TCP, TCP_DELACK_MAX_US, micros).during(|| {
        format!("delaying acknowledgements by {span} at most; kernels from 6.17 on take 2 of their ticks to 200 ms")
    })
}

fn bound(request_response: &RequestResponse) -> Result<OwnedFd> {
    let socket = open(request_response)?;
    let operation = || format!("opening a port on {}", request_response.address);
    bind(socket.as_raw_fd(), &endpoint(request_response.address, 0)).during(operation)?;
    Ok(socket)
}

fn joined(request_response: &RequestResponse, port: u16) -> Result<OwnedFd> {
    let socket = open(request_response)?;
    // On a lossy link the first SYN may be lost; the next follows a second later.
    limit(socket.as_fd(), CONNECTING)?;
    let to: SockaddrStorage = endpoint(request_response.address, port);
    let operation = || {
        let to = SocketAddr::new(request_response.address, port);
        format!("connecting to the receiver at {to}")
    };
    connect(socket.as_raw_fd(), &to).during(operation)?;
    Ok(socket)
}
