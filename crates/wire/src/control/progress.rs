//! A receiver's observations of a flow so far.

use serde::{Deserialize, Serialize};

/// A receiver's observations of a flow since its previous answer to
/// [`super::Control::Watch`]. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Number of the flow in the session.
    pub flow: u16,
    /// Number of the question.
    pub number: u32,
    /// Time since the previous answer, or since the first arrival.
    pub lasted: u64,
    /// Messages that arrived, without duplicates.
    pub messages: u64,
    /// Bytes of those messages.
    pub bytes: u64,
    /// Messages that were overtaken by one of these and have not arrived.
    pub lost: u64,
    /// Messages with a known delay of zero or more.
    pub delayed: u64,
    /// Median of the delays.
    pub median: u64,
    /// 95th percentile of the delays.
    pub p95: u64,
    /// 99th percentile of the delays.
    pub p99: u64,
    /// Maximum of the delays.
    pub most: u64,
    /// Interarrival jitter [RFC3550 s6.4.1], at the end.
    pub jitter: u64,
}
