//! What systems other than Linux state of a TCP connection: nothing.

use std::env::consts::OS;

use units::Span;

use super::TcpStats;
use os::error::{Error, Result};
use os::socket::Socket;

/// TCP's statistics of a stalled connection: unknown.
pub(super) const fn tcp_stats(_: &Socket) -> Option<TcpStats> {
    None
}

/// Data segments sent and segments without data received: unknown.
pub(super) const fn segments(_: &Socket) -> Option<[u64; 2]> {
    None
}

/// Rejects to limit the delay of acknowledgements.
///
/// # Errors
/// Always.
pub(super) fn delay_acknowledgements(_: &Socket, span: Span) -> Result<()> {
    Err(Error::new(
        format!("delaying acknowledgements by {span} at most"),
        format!("it needs Linux, and this program is for {OS}"),
    ))
}
