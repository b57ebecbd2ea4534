//! The outcome of a run.

use link::Counters;
use link::edge;
use meter::Summary;
use tcp::Counts;
use units::{Bytes, Rate, Span, Time};

/// The outcome of a run. Flows, links and nodes are in the order of the scenario.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Outcome {
    /// The flows.
    pub flows: Vec<FlowOutcome>,
    /// The links.
    pub links: Vec<LinkOutcome>,
    /// The nodes.
    pub nodes: Vec<NodeOutcome>,
    /// Number of events executed.
    pub events: u64,
    /// The time of the last event.
    pub end: Time,
    /// The outcome of the domain, if there is one.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub domain: Option<DomainOutcome>,
}

/// The outcome of a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DomainOutcome {
    /// The edges, in the order of their nodes in the scenario.
    pub edges: Vec<EdgeOutcome>,
    /// Senders' packets on each link, in the order of the scenario: from its first end
    /// to its second, and back.
    pub links: Vec<[InnerCounts; 2]>,
}

/// The outcome of an edge of a domain.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EdgeOutcome {
    /// Name of its node.
    pub name: String,
    /// Packets that were received for aggregation.
    pub aggregated: u64,
    /// Pieces that cutting added to them.
    pub pieces: u64,
    /// Aggregated packets that were sent without a bundle.
    pub bare: u64,
    /// Bundles sent.
    pub bundles: u64,
    /// Packets in those bundles.
    pub bundled: u64,
    /// Bundles unpacked.
    pub unpacked: u64,
    /// Whole packets found in the unpacked bundles.
    pub survivors: u64,
    /// Pieces found in them whose packets stayed incomplete.
    pub incomplete: u64,
}

impl EdgeOutcome {
    pub(crate) const fn of(name: String, counts: edge::Counts) -> Self {
        let edge::Counts {
            aggregated,
            pieces,
            bare,
            bundles,
            bundled,
            unpacked,
            survivors,
            incomplete,
        } = counts;
        Self {
            name,
            aggregated,
            pieces,
            bare,
            bundles,
            bundled,
            unpacked,
            survivors,
            incomplete,
        }
    }
}

/// Senders' packets on one direction of a link; each packet in a bundle counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InnerCounts {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that the queue dropped.
    pub dropped: u64,
    /// Dropped packets whose bundle was sent without them.
    pub inner_dropped: u64,
}

/// The outcome of a flow.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FlowOutcome {
    /// Name of the flow in the scenario.
    pub name: String,
    /// Messages sent.
    pub sent: u64,
    /// Bytes of payload sent.
    pub sent_bytes: Bytes,
    /// Messages not sent, because they needed fragments that the flow forbids, or
    /// exceed the largest packet.
    pub rejected: u64,
    /// IP packets sent by the source; each fragment counts.
    pub packets: u64,
    /// Messages that arrived, without duplicates.
    pub received: u64,
    /// Bytes of payload that arrived.
    pub received_bytes: Bytes,
    /// Duplicates that arrived.
    pub copies: u64,
    /// Messages that did not arrive: `sent - received`.
    pub lost: u64,
    /// Messages of which only some fragments arrived.
    pub unassembled: u64,
    /// Path MTU that the source learnt from Packet Too Big, in bytes.
    pub path_mtu: Option<u32>,
    /// The time at which the first datagram was due, whether or not it was sent and
    /// arrived; for TCP see [`TcpOutcome::began`].
    pub first_due: Option<Time>,
    /// Arrival of the first message.
    pub first_arrival: Option<Time>,
    /// Arrival of the last message.
    pub last_arrival: Option<Time>,
    /// Bytes of payload that arrived after the first message, divided by the time from
    /// its arrival to the last one.
    pub goodput: Option<Rate>,
    /// One-way delay of the messages that arrived, computed in bounded memory.
    pub delays: Option<Delays>,
    /// All statistics of a transfer by their standard definitions. They need every
    /// arrival, so they exist only for flows of at most
    /// [`Scenario::max_recorded_messages`](crate::Scenario::max_recorded_messages)
    /// messages.
    pub summary: Option<Summary>,
    /// The outcome of TCP, if the flow uses it. The messages above are those of
    /// [`Tcp::messages`](crate::Tcp::messages), and the goodput begins at the end of
    /// the warm-up. Without messages, the counters above count data segments, each
    /// once regardless of retransmissions, and there are neither delays nor a summary.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub tcp: Option<TcpOutcome>,
}

/// The outcome of a TCP connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TcpOutcome {
    /// Counters of its sender.
    pub sender: Counts,
    /// Data segments that arrived, repetitions excluded.
    pub segments: u64,
    /// Bytes of payload in those segments.
    pub bytes: u64,
    /// Path MTU that the sender learnt from Packet Too Big, in bytes.
    pub path_mtu: Option<u32>,
    /// Smoothed round-trip time at the end, if one was measured.
    pub round_trip: Option<Span>,
    /// The time at which it was to be opened.
    pub began: Time,
    /// The time at which it was to stop; the last arrival of data, if all data
    /// arrived before that or some after it.
    pub ended: Time,
    /// Start and end of the goodput window, if the connection has messages.
    pub counted: Option<(Time, Time)>,
    /// Arrival of the first data.
    pub first_arrival: Option<Time>,
    /// Last arrival of new data.
    pub last_arrival: Option<Time>,
    /// Bytes of payload that arrived after the first segment, divided by the time from
    /// its arrival to the last one.
    pub goodput: Option<Rate>,
}

/// One-way delays in seconds, from the time at which a message was sent until its
/// last byte was received and processed.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Delays {
    /// Mean delay, exact.
    pub mean: f64,
    /// Minimum delay, exact.
    pub min: f64,
    /// Maximum delay, exact.
    pub max: f64,
    /// Median delay, to three digits [HdrHistogram].
    pub p50: f64,
    /// 95th percentile of the delay, to three digits [HdrHistogram].
    pub p95: f64,
    /// 99th percentile of the delay, to three digits [HdrHistogram].
    pub p99: f64,
}

/// The outcome of a link.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkOutcome {
    /// Name of the link in the scenario.
    pub name: String,
    /// From its first end to its second, and back.
    pub directions: [DirectionOutcome; 2],
}

/// The outcome of one direction of a link. Averages are over the time from the start
/// until sources stop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DirectionOutcome {
    /// Packets by outcome.
    pub counters: Counters,
    /// Share of the time in which the link transmits.
    pub utilisation: f64,
    /// Mean number of waiting packets over time, without the packet being transmitted.
    pub mean_queue: f64,
    /// Mean bytes of waiting frames over time.
    pub mean_queue_bytes: f64,
}

/// The outcome of a node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeOutcome {
    /// Name of the node in the scenario.
    pub name: String,
    /// Packets that a host processed for sending.
    pub sent: u64,
    /// Packets that a host processed on arrival.
    pub received: u64,
    /// Packets dropped because the host's receive buffer was full.
    pub dropped: u64,
    /// Packets that a router or switch forwarded.
    pub forwarded: u64,
    /// Packets that a router fragmented.
    pub cut: u64,
    /// Oversized packets whose source a router notified.
    pub answered: u64,
}
