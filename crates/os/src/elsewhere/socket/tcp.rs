//! The state of TCP, which these systems do not state in one way: what Linux tells is unknown
//! here, and results leave it out.

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
