//! The state of a socket, and of its connection.

use std::io;
use std::os::fd::AsFd;

use nix::sys::socket::{getsockopt, sockopt};
use units::{Bytes, Span};

use super::calls::Socket;
use crate::error::{OperationContext, Result};
use crate::portable::socket_parts::{TcpProgress, TcpState};
use crate::sys::tcp_info::{InOrder, stuck_segment, tcp_info};
use crate::sys::{queued, tcp_info};

/// TCP's statistics of a connection.
pub fn tcp_state(socket: impl AsFd) -> Result<TcpState> {
    let info = tcp_info(socket.as_fd()).during(|| "reading TCP_INFO")?;
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

/// TCP's statistics of a connection; `None` where the system does not state them.
///
/// # Errors
/// The kernel's.
pub fn stated_tcp_state(socket: &Socket) -> Result<Option<TcpState>> {
    tcp_state(socket).map(Some)
}

/// Bytes written to a stream that its peer has not acknowledged.
///
/// # Errors
/// The kernel's.
pub fn stated_unacknowledged(socket: &Socket) -> io::Result<Option<usize>> {
    queued::unacknowledged(socket.as_fd()).map(Some)
}

/// Bytes that have arrived and were not read: all of a stream, those of the next datagram.
///
/// # Errors
/// The kernel's.
pub fn stated_unread(socket: &Socket) -> io::Result<Option<usize>> {
    queued::unread(socket.as_fd()).map(Some)
}

/// An upper bound of the bytes of a stream that had arrived when it was asked for, if some
/// arrived out of order; see [`tcp_info::arrived_at_most`].
///
/// # Errors
/// The kernel's.
pub fn arrived_at_most(socket: &Socket) -> io::Result<Option<u64>> {
    tcp_info::arrived_at_most(socket.as_fd(), InOrder::default())
}

/// TCP's progress; `None` where the system does not state it.
pub fn tcp_progress(socket: &Socket) -> Option<TcpProgress> {
    let info = tcp_info(socket.as_fd()).ok()?;
    Some(TcpProgress {
        retransmitted: info.tcpi_total_retrans.into(),
        window: Bytes::new(u64::from(info.tcpi_snd_cwnd) * u64::from(info.tcpi_snd_mss)),
        round_trip: Span::from_micros(info.tcpi_rtt.into()),
        stuck: stuck_segment(socket),
    })
}

/// Bytes of a TCP header without options [RFC9293 s3.1].
pub const TCP_HEADER: u32 = 20;

/// Bytes of a full segment behind that header, with the timestamps that the kernel puts in
/// front of its data [RFC7323 App A]; `None` unless the connection is established.
pub fn full_segment(info: &libc::tcp_info) -> Option<u32> {
    /// TCP_ESTABLISHED and TCPI_OPT_TIMESTAMPS [LinuxUapi tcp.h].
    const ESTABLISHED: u8 = 1;
    const HAS_TIMESTAMPS: u8 = 1;
    const TIMESTAMPS: u32 = 12;
    let timestamps = match info.tcpi_options & HAS_TIMESTAMPS {
        0 => 0,
        _ => TIMESTAMPS,
    };
    (info.tcpi_state == ESTABLISHED).then_some(info.tcpi_snd_mss + timestamps)
}

/// Takes the error that waits in a socket.
pub fn take_error(socket: impl AsFd) -> io::Result<()> {
    match getsockopt(&socket, sockopt::SocketError)? {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}
