//! The state of TCP, which these systems do not state in one way: what Linux tells is unknown
//! here, and results leave it out.

use std::io;

use meter::time_series::TimeSeries;
use units::Time;

use super::calls::Socket;
use crate::error::Result;
use crate::portable::socket_parts::{TcpProgress, TcpState};

/// TCP's statistics of a connection: unknown.
///
/// # Errors
/// None on these systems.
pub fn stated_tcp_state(_: &Socket) -> Result<Option<TcpState>> {
    Ok(None)
}

/// TCP's progress: unknown.
pub fn tcp_progress(_: &Socket) -> Option<TcpProgress> {
    None
}

/// The bytes of the segments with which a connection is stuck: unknown.
pub fn stuck_segment(_: &Socket) -> Option<u32> {
    None
}

/// Bytes written to a stream that its peer has not acknowledged: unknown.
///
/// # Errors
/// None on these systems.
pub fn stated_unacknowledged(_: &Socket) -> io::Result<Option<usize>> {
    Ok(None)
}

/// Bytes that have arrived and were not read: unknown.
///
/// # Errors
/// None on these systems.
pub fn stated_unread(_: &Socket) -> io::Result<Option<usize>> {
    Ok(None)
}

/// An upper bound of the bytes of a stream that had arrived, if some arrived out of order:
/// unknown.
///
/// # Errors
/// None on these systems.
pub fn arrived_at_most(_: &Socket) -> io::Result<Option<u64>> {
    Ok(None)
}

/// Whether a program chooses the congestion control of its connections: these systems have one
/// for all, which they do not name to programs.
pub const CHOOSES_CONGESTION_CONTROL: bool = false;

/// Whether a program limits the segments of its connections.
pub const LIMITS_SEGMENTS: bool = false;

/// The congestion controls that a program may choose: these systems have one for all.
pub fn available_congestion_controls() -> Vec<String> {
    Vec::new()
}

/// TCP's smoothed round-trip time over the length of a connection: without samples.
#[derive(Debug, Default)]
pub struct SmoothedRtt(());

impl SmoothedRtt {
    /// A time at which Linux would tell it.
    pub fn sample(&mut self, _: Time, _: &Socket) {}

    /// The samples: none.
    pub fn finish(self) -> TimeSeries {
        TimeSeries::default()
    }
}
