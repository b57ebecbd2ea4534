//! What Linux states of a TCP connection, and its delay of acknowledgements.

use std::os::fd::AsFd as _;

use units::Span;

use super::TcpStats;
use os::error::{OperationContext, Result};
use os::socket::Socket;
use os::sys::option;
use os::sys::tcp_info::tcp_info;

/// TCP's statistics of a stalled connection.
pub(super) fn tcp_stats(socket: &Socket) -> Option<TcpStats> {
    let info = tcp_info(socket.as_fd()).ok()?;
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
pub(super) fn segments(socket: &Socket) -> Option<[u64; 2]> {
    let info = tcp_info(socket.as_fd()).ok()?;
    let came = info.tcpi_segs_in.saturating_sub(info.tcpi_data_segs_in);
    Some([info.tcpi_data_segs_out.into(), came.into()])
}

/// Limits the delay of acknowledgements to `span`.
pub(super) fn delay_acknowledgements(socket: &Socket, span: Span) -> Result<()> {
    /// TCP_DELACK_MAX_US, which libc does not name [LinuxUapi tcp.h].
    const TCP_DELACK_MAX_US: libc::c_int = 46;
    let micros = i32::try_from(span.as_nanos() / 1_000).unwrap_or(i32::MAX);
    option::set(socket.as_fd(), libc::IPPROTO_TCP, TCP_DELACK_MAX_US, micros).during(|| {
        format!("delaying acknowledgements by {span} at most; kernels from 6.17 on take 2 of their ticks to 200 ms")
    })
}
