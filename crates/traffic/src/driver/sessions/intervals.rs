//! Reports of intervals while flows run, read from the counters of the flows.

mod readers;
mod reporter;
mod session;

use serde::Serialize;
use units::with_unit::seconds;
use units::{Bytes, Span};
use wire::control::{Name, Progress};

pub use super::counters::{PathMtuNotice, Quantiles};
pub(super) use readers::{ReceivedReader, SentReader};
pub(super) use reporter::{IncomingFlow, Observed, Reporter};
pub(super) use session::SessionReporter;

/// The shortest interval. A receiver answers no faster than every 50 ms
/// ([`crate::machine::control`]).
pub const SHORTEST_INTERVAL: Span = Span::from_millis(100);

/// The shortest last interval that is reported.
const LEAST_PART: Span = Span::from_millis(60);

/// The reports that a sender wants while its flows run.
pub struct Intervals {
    /// Their length.
    pub every: Span,
    /// Takes each report. Called by the thread that serves the control connection, so it
    /// must not block.
    pub tell: Box<dyn FnMut(Interval) + Send>,
}

/// One interval of all flows that were under way.
#[derive(Clone, Debug, PartialEq)]
pub struct Interval {
    /// Its start, since the start of the flows.
    pub from: Span,
    /// Its end.
    pub to: Span,
    /// The flows, in the order of their numbers.
    pub flows: Vec<FlowInterval>,
}

/// One flow in an interval.
#[derive(Clone, Debug, PartialEq)]
pub struct FlowInterval {
    /// Number of the flow in the session.
    pub flow: u16,
    pub name: Name,
    /// Whether most of it belongs to the warm-up, which the results leave out.
    pub omitted: bool,
    /// The sender's observations, if this end is the sender.
    pub sent: Option<SentInterval>,
    /// The receiver's observations; `None` if it has not answered in time.
    pub received: Option<ReceivedInterval>,
    /// The echoes that its sender received.
    pub echoes: Option<ReceivedInterval>,
}

/// Observations of a flow's sender in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct SentInterval {
    /// Messages handed to the kernel.
    #[serde(rename = "sent")]
    pub messages: u64,
    /// Bytes of those messages.
    #[serde(rename = "sent_bytes")]
    pub bytes: Bytes,
    /// Messages that the kernel did not accept.
    pub unsent: u64,
    /// How late the current message was at the end of the interval.
    #[serde(rename = "timing_error_s", serialize_with = "seconds::serialize")]
    pub behind: Span,
    /// Messages that were due in the interval, if that is known.
    pub due: Option<f64>,
    /// TCP's state, of streams.
    #[serde(flatten)]
    pub tcp: Option<TcpInterval>,
    /// The path MTU, if a notice changed it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_mtu: Option<PathMtuNotice>,
}

/// TCP's state at the end of an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TcpInterval {
    /// Segments retransmitted in the interval.
    pub retransmitted: u64,
    /// The congestion window in bytes.
    #[serde(rename = "window_bytes")]
    pub window: Bytes,
    /// The smoothed round-trip time.
    #[serde(rename = "tcp_round_trip_s", serialize_with = "seconds::serialize")]
    pub round_trip: Span,
    /// The bytes of its segments, if it is stuck with one: several timeouts in a row.
    #[serde(rename = "stuck_segment_bytes")]
    pub stuck: Option<u32>,
}

/// Observations of a flow's receiver in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceivedInterval {
    /// Its length by the receiver's clock.
    pub lasted: Span,
    /// Messages that arrived, without duplicates.
    pub messages: u64,
    /// Bytes of those messages.
    pub bytes: Bytes,
    /// Messages that were overtaken by one that arrived in the interval, and have not
    /// arrived. One that arrives later is not subtracted from the intervals after it.
    pub lost: u64,
    /// Delays, or round-trip times of echoes.
    pub delays: Quantiles,
    /// Interarrival jitter at the end [RFC3550 s6.4.1].
    pub jitter: Span,
    /// Messages of the warm-up, as far as this end received them.
    pub warmup: u64,
}

impl SentInterval {
    /// The progress that the other end reported of a flow that it sends.
    fn of(progress: &Progress) -> Self {
        Self {
            messages: progress.messages,
            bytes: Bytes::new(progress.bytes),
            unsent: progress.lost,
            ..Self::default()
        }
    }
}

impl ReceivedInterval {
    /// The messages that were lost, if that is known: while none arrives, nothing shows
    /// whether others were sent before it.
    pub fn known_lost(&self) -> Option<u64> {
        (self.messages > 0 || self.lost > 0).then_some(self.lost)
    }

    /// The receiver's part, as it came.
    fn of(progress: &Progress) -> Self {
        let nanos = Span::from_nanos;
        Self {
            lasted: nanos(progress.lasted),
            messages: progress.messages,
            bytes: Bytes::new(progress.bytes),
            lost: progress.lost,
            delays: Quantiles {
                count: progress.delayed,
                median: nanos(progress.median),
                p95: nanos(progress.p95),
                p99: nanos(progress.p99),
                most: nanos(progress.most),
            },
            jitter: nanos(progress.jitter),
            warmup: 0,
        }
    }

    /// The receiver's part, to be sent: of `flow`, in answer to question `number`.
    pub(super) fn progress(&self, flow: u16, number: u32) -> Progress {
        Progress {
            flow,
            number,
            lasted: self.lasted.as_nanos(),
            messages: self.messages,
            bytes: self.bytes.get(),
            lost: self.lost,
            delayed: self.delays.count,
            median: self.delays.median.as_nanos(),
            p95: self.delays.p95.as_nanos(),
            p99: self.delays.p99.as_nanos(),
            most: self.delays.most.as_nanos(),
            jitter: self.jitter.as_nanos(),
        }
    }
}
