//! Blocking sockets with the options of request/response traffic. The program of the
//! study makes blocking calls, which need no second system call.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use units::Span;

use super::{RequestResponse, TcpStats};
use crate::driver::trial_token::{self, Token};
use os::error::{OperationContext, Result};
use os::socket::Options;
use os::sys::{option, tcp_info};

/// The longest time to establish a connection.
const CONNECTING: Span = Span::from_secs(30);

/// A socket connected to `port` of the answering end, which has shown `token`, and the segments
/// that this took, as [`segments`] counts.
pub(super) fn connected(
    request_response: &RequestResponse,
    token: &Token,
    port: u16,
) -> Result<(OwnedFd, [u64; 2])> {
    let options = Options {
        // On a lossy link the first SYN may be lost; the next follows a second later.
        timeout: Some(CONNECTING),
        ..request_response.options()
    };
    let protocol = request_response.protocol;
    let to = SocketAddr::new(request_response.address, port);
    let socket = trial_token::connect(protocol, to, &options, CONNECTING)?;
    let before = segments(socket.as_fd()).unwrap_or_default();
    trial_token::show(&socket, protocol, token, to, CONNECTING)?;
    let after = segments(socket.as_fd()).unwrap_or_default();
    let took = [0, 1].map(|place| after[place].saturating_sub(before[place]));
    Ok((socket, took))
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
