//! The statistics of one flow from which its metrics are derived.

use meter::Summary;
use units::{Span, Time};

/// The sent and received messages of one flow, where the backend knows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowStats {
    /// Sent messages.
    pub(crate) sent: u64,
    /// Payload bytes of the sent messages.
    pub(crate) bytes: u64,
    /// Messages that never arrived; `None` for a connection, which delivers or
    /// fails.
    pub(crate) lost: Option<u64>,
    /// The punctuality of departures, for scheduled messages.
    pub(crate) schedule: Option<Schedule>,
    /// The received payload.
    pub(crate) carried: Option<Carried>,
    /// The scheduled time of the first message, even if it was lost.
    pub(crate) first_due: Option<Time>,
    pub(crate) first_arrival: Option<Time>,
    /// One-way delays of messages.
    pub(crate) delays: DelayStats,
    /// Delays as the receiving program measures them.
    pub(crate) by_program: ProgramStats,
    /// Messages with a stamped departure at the interface.
    pub(crate) crossing: Crossing,
    /// Round trips that the sender measured.
    pub(crate) round_trips: Option<RoundTrips>,
    /// TCP statistics, for a connection.
    pub(crate) tcp: Option<ConnectionStats>,
}

/// The punctuality of departures.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Messages scheduled while the flow sent.
    pub(crate) offered: u64,
    /// The time from the first sent message to the last.
    pub(crate) lasted: Span,
    /// The 99th percentile of the time from scheduled departure to write.
    pub(crate) timing_error_p99: Span,
}

/// The received payload of a flow.
#[derive(Clone, Debug)]
pub(crate) enum Carried {
    /// A rate in Mbit/s; rates of flows add up.
    Rate(f64),
    /// A connection with known start and end. Several connections are counted
    /// over the time in which there was one.
    Connection {
        /// Bytes of payload.
        bytes: u64,
        /// The scheduled start.
        began: Time,
        ended: Time,
    },
}

/// One-way delays of received messages, in seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct DelayStats {
    /// The number of messages.
    pub(crate) messages: u64,
    /// Mean [RFC7679 s3.4].
    pub(crate) mean: Option<f64>,
    /// 99th percentile [RFC7679 s5.1].
    pub(crate) p99: Option<f64>,
    /// Mean of |delay - mean delay| [Praptodiyono2019 s3.2].
    pub(crate) jitter: Option<f64>,
    /// 95th percentile of the size of IPDV [RFC3393 s2].
    pub(crate) ipdv_p95: Option<f64>,
}

/// Delays in seconds from just before the write until the receiving program has
/// the message, as D-ITG measures them [D-ITG].
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgramStats {
    /// The number of messages.
    pub(crate) messages: u64,
    /// Mean delay, if it differs from that of [`DelayStats`].
    pub(crate) latency: Option<f64>,
    /// Mean of |delay - previous delay| in the order of arrival [D-ITG].
    pub(crate) jitter: Option<f64>,
}

/// Sums over messages from the departure of their first bytes at the sender's
/// interface to the receiver's stamp of their last.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crossing {
    /// The number of messages.
    pub(crate) messages: u64,
    /// Total time in nanoseconds.
    pub(crate) nanos: u64,
    /// Total bytes.
    pub(crate) bytes: u64,
}

/// Round trips of a flow.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrips {
    /// The number of measured round trips.
    pub(crate) count: u64,
    /// Total time in milliseconds.
    pub(crate) took_ms: f64,
    /// The median, to three digits.
    pub(crate) p50: Option<Span>,
    /// The 95th percentile, to three digits.
    pub(crate) p95: Option<Span>,
    /// The 99th percentile, to three digits.
    pub(crate) p99: Option<Span>,
}

/// The sender's statistics of a TCP connection.
#[derive(Clone, Debug)]
pub(crate) struct ConnectionStats {
    /// Retransmitted segments.
    pub(crate) retransmitted: u64,
    /// All sent segments.
    pub(crate) segments: Option<u64>,
    /// Expired retransmission timers.
    pub(crate) timeouts: Option<u64>,
    /// The smoothed round-trip time at the end [RFC6298 s2].
    pub(crate) smoothed_rtt: Option<Span>,
}

impl From<&Summary> for DelayStats {
    fn from(summary: &Summary) -> Self {
        Self {
            messages: summary.received,
            mean: summary.delay_mean,
            p99: summary.delay_p99,
            jitter: summary.jitter_mean_deviation,
            ipdv_p95: summary.ipdv_p95,
        }
    }
}
