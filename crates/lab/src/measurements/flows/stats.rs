//! The facts about one flow that its metrics are made of.

use proto::Summary;
use units::{Span, Time};

/// The messages that were sent of one flow and those that arrived, as far as its
/// world knows them.
#[derive(Clone, Debug, Default)]
pub(crate) struct FlowStats {
    /// Messages that were sent.
    pub(crate) sent: u64,
    /// Octets of payload in them.
    pub(crate) octets: u64,
    /// Messages that never arrived. A connection that delivers or fails has none.
    pub(crate) lost: Option<u64>,
    /// How departures followed their instants, where messages had some.
    pub(crate) schedule: Option<Schedule>,
    /// The payload that arrived.
    pub(crate) carried: Option<Carried>,
    /// When the first message was to be sent, whether it arrived or not.
    pub(crate) first_due: Option<Time>,
    /// When a message arrived first.
    pub(crate) first_arrival: Option<Time>,
    /// One-way delays of messages.
    pub(crate) delays: DelayStats,
    /// Delays as the receiving program takes them.
    pub(crate) by_program: ProgramStats,
    /// Messages whose departure at the interface was stamped.
    pub(crate) crossing: Crossing,
    /// Round trips that the sender measured.
    pub(crate) round_trips: Option<RoundTrips>,
    /// TCP statistics, for a connection.
    pub(crate) tcp: Option<ConnectionStats>,
}

/// How the departures of messages followed their instants.
#[derive(Clone, Debug)]
pub(crate) struct Schedule {
    /// Messages whose instant came while the flow sent.
    pub(crate) offered: u64,
    /// From the first message sent to the last.
    pub(crate) lasted: Span,
    /// The 99th percentile of the time from a message's instant to its write.
    pub(crate) lateness_p99: Span,
}

/// The payload that arrived of a flow.
#[derive(Clone, Debug)]
pub(crate) enum Carried {
    /// At a rate, in Mbit/s; rates of flows add up.
    Rate(f64),
    /// Over a connection whose beginning and end are known. Those of several
    /// are counted over the time in which there was one.
    Connection {
        /// Octets of payload.
        octets: u64,
        /// When it was to be opened.
        began: Time,
        /// When it stopped.
        ended: Time,
    },
}

/// One-way delays of the messages that arrived, in seconds.
#[derive(Clone, Debug, Default)]
pub(crate) struct DelayStats {
    /// How many messages.
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

/// Delays of messages in seconds from before the write until the receiving
/// program has them, as D-ITG takes them [D-ITG].
#[derive(Clone, Debug, Default)]
pub(crate) struct ProgramStats {
    /// How many messages.
    pub(crate) messages: u64,
    /// Mean delay, where it is not that of [`DelayStats`].
    pub(crate) latency: Option<f64>,
    /// Mean of |delay - previous delay| in the order of arrival [D-ITG].
    pub(crate) jitter: Option<f64>,
}

/// Messages from their first octets' departure at the sender's interface until
/// the receiver's stamp of their last: sums.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Crossing {
    /// How many messages.
    pub(crate) messages: u64,
    /// Nanoseconds that they took.
    pub(crate) nanos: u64,
    /// Octets in them.
    pub(crate) octets: u64,
}

/// Round trips of a flow.
#[derive(Clone, Debug)]
pub(crate) struct RoundTrips {
    /// How many were measured.
    pub(crate) count: u64,
    /// How long they took, added up, in milliseconds.
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
    /// Segments that were sent again.
    pub(crate) retransmitted: u64,
    /// All segments that were sent.
    pub(crate) segments: Option<u64>,
    /// Retransmission timers that expired.
    pub(crate) timeouts: Option<u64>,
    /// The smoothed round trip at the end [RFC6298 s2].
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
