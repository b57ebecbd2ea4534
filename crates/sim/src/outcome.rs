//! What a run came to.

use proto::Summary;
use proto::edge;
use proto::link::Counters;
use proto::tcp::Counts;
use units::{Bytes, Rate, Span, Time};

/// What a run came to. Flows, links and nodes are in the order of the
/// scenario.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Outcome {
    /// Each flow.
    pub flows: Vec<FlowOutcome>,
    /// Each link.
    pub links: Vec<LinkOutcome>,
    /// Each node.
    pub nodes: Vec<NodeOutcome>,
    /// How many events were executed.
    pub events: u64,
    /// The instant of the last of them.
    pub end: Time,
    /// What a domain did, where there is one.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub domain: Option<DomainOutcome>,
}

/// What a domain did that gathers packets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DomainOutcome {
    /// Each edge, in the order of its nodes in the scenario.
    pub edges: Vec<EdgeOutcome>,
    /// Packets of senders on each link, in the order of the scenario, from its
    /// first end to its second, and back.
    pub links: Vec<[InnerCounts; 2]>,
}

/// What an edge of a domain did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct EdgeOutcome {
    /// The name of its node.
    pub name: String,
    /// Packets that came to be gathered.
    pub gathered: u64,
    /// Of these, those that went on alone.
    pub bare: u64,
    /// Bundles that were sent.
    pub bundles: u64,
    /// Packets in them.
    pub bundled: u64,
    /// Bundles that were unpacked here.
    pub unpacked: u64,
    /// Packets that were alive in them.
    pub survivors: u64,
}

impl EdgeOutcome {
    pub(crate) const fn of(name: String, counts: edge::Counts) -> Self {
        let edge::Counts {
            gathered,
            bare,
            bundles,
            bundled,
            unpacked,
            survivors,
        } = counts;
        Self {
            name,
            gathered,
            bare,
            bundles,
            bundled,
            unpacked,
            survivors,
        }
    }
}

/// Packets of senders on one direction of a link, those in bundles counted
/// each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct InnerCounts {
    /// Those that came.
    pub arrived: u64,
    /// Those that the queue dropped.
    pub dropped: u64,
    /// Of these, those whose bundle went on without them.
    pub inner_dropped: u64,
}

/// What became of a flow.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FlowOutcome {
    /// Its name.
    pub name: String,
    /// Messages that its source sent.
    pub sent: u64,
    /// Octets of payload in them.
    pub sent_bytes: Bytes,
    /// Messages that were not sent, because they would have needed fragments
    /// that the flow forbids, or no packet at all could hold them.
    pub refused: u64,
    /// IP packets that they became at the source, fragments counted each.
    pub packets: u64,
    /// Messages that arrived, copies not counted.
    pub received: u64,
    /// Octets of payload in them.
    pub received_bytes: Bytes,
    /// Copies that arrived besides.
    pub copies: u64,
    /// Messages that did not arrive: `sent - received`.
    pub lost: u64,
    /// Messages of which some fragments arrived, not all.
    pub unassembled: u64,
    /// Path MTU that the source learnt from Packet Too Big, octets.
    pub path_mtu: Option<u32>,
    /// When the first datagram was due, whether it was sent, and arrived, or
    /// not; of TCP [`TcpOutcome::began`] says it.
    pub first_due: Option<Time>,
    /// When the first message arrived.
    pub first_arrival: Option<Time>,
    /// When the last message arrived.
    pub last_arrival: Option<Time>,
    /// Octets of payload that arrived after the first message, over the time
    /// from its arrival to the last one.
    pub goodput: Option<Rate>,
    /// One-way delay of the messages that arrived, in bounded memory.
    pub delays: Option<Delays>,
    /// All figures of a transfer by their standards. It keeps every arrival;
    /// so it is there only for flows of so few messages as
    /// [`Scenario::max_recorded_messages`](crate::Scenario::max_recorded_messages) says.
    pub summary: Option<Summary>,
    /// What TCP did, where the flow is one of TCP. Its messages above are those
    /// of [`Tcp::messages`](crate::Tcp::messages), and its goodput counts from
    /// the end of the pre-roll; where there are none they are segments with
    /// data, each counted once however often it was sent, and it has neither
    /// delays nor a summary.
    #[cfg_attr(
        feature = "serde",
        serde(default, skip_serializing_if = "Option::is_none")
    )]
    pub tcp: Option<TcpOutcome>,
}

/// What became of a connection of TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct TcpOutcome {
    /// What its sender did.
    pub sender: Counts,
    /// Segments with data that arrived, repeats not counted.
    pub segments: u64,
    /// Octets of payload in them.
    pub octets: u64,
    /// Path MTU that the sender learnt from Packet Too Big, octets.
    pub path_mtu: Option<u32>,
    /// The smoothed round trip at the end, if one was measured.
    pub round_trip: Option<Span>,
    /// When it was to be opened.
    pub began: Time,
    /// When it was to stop; where all that it had to send was there earlier, or
    /// something later, when its last data arrived.
    pub ended: Time,
    /// When the part of its messages began and ended that goodput counts, where
    /// it has messages.
    pub counted: Option<(Time, Time)>,
    /// When the first data arrived.
    pub first_arrival: Option<Time>,
    /// When new data arrived last.
    pub last_arrival: Option<Time>,
    /// Octets of payload that arrived after the first segment, over the time
    /// from its arrival to the last one.
    pub goodput: Option<Rate>,
}

/// One-way delays in seconds, from the instant at which the message was sent
/// to that at which its last octet was received and worked on.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Delays {
    /// The mean, exact.
    pub mean: f64,
    /// The smallest, exact.
    pub min: f64,
    /// The largest, exact.
    pub max: f64,
    /// The median, to three digits [HdrHistogram].
    pub p50: f64,
    /// The 95th percentile, to three digits [HdrHistogram].
    pub p95: f64,
    /// The 99th percentile, to three digits [HdrHistogram].
    pub p99: f64,
}

/// What a link carried.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct LinkOutcome {
    /// Its name.
    pub name: String,
    /// From its first end to its second, and back.
    pub directions: [DirectionOutcome; 2],
}

/// What one direction of a link carried. Averages over time are from the
/// beginning to the instant at which sources stop.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct DirectionOutcome {
    /// Packets by fate.
    pub counters: Counters,
    /// The share of the time in which the wire was taken.
    pub utilisation: f64,
    /// Packets that waited, on average over time; the one on the wire does not
    /// wait.
    pub mean_queue: f64,
    /// Octets of frames that waited, on average over time.
    pub mean_queue_bytes: f64,
}

/// What a node did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NodeOutcome {
    /// Its name.
    pub name: String,
    /// Packets that a host worked on in order to send them.
    pub sent: u64,
    /// Packets that a host worked on as they came.
    pub received: u64,
    /// Packets that found no room in the host's buffer.
    pub dropped: u64,
    /// Packets that a router or switch passed on.
    pub forwarded: u64,
    /// Packets that a router cut into fragments.
    pub cut: u64,
    /// Packets that were too big and whose source a router notified.
    pub answered: u64,
}
