//! Requests of flows that the receiver sends, and its results of them.

use serde::{Deserialize, Deserializer, Serialize};

use super::{Flow, below, is_text, text, valid};

/// The most bytes of the name of a congestion control [LinuxUapi tcp.h].
pub const LONGEST_CONGESTION: usize = 16;

/// A flow that the receiver sends to the end that asks for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reverse {
    /// The flow. Its cookie is shown by the end that asks, to the port that the
    /// receiver opens for it.
    pub flow: Flow,
    /// Its traffic.
    pub traffic: Traffic,
}

/// The traffic of a flow that the other end sends. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Seed of the random numbers.
    pub seed: u64,
    /// Start of the flow after [`super::Control::Begin`].
    pub delay: u64,
    /// Duration; 0: until its messages are sent.
    pub length: u64,
    /// The warm-up, the time from the start that no metric counts.
    pub omit: u64,
    /// The most messages; 0: any number.
    pub packets: u64,
    /// The most bytes of them; 0: any number.
    pub bytes: u64,
    /// Gaps between messages, in picoseconds.
    pub gaps: Distribution,
    /// Sizes of messages, in bytes.
    pub sizes: Distribution,
    /// Whether gaps are kept; otherwise messages leave as fast as possible.
    pub paced: bool,
    /// Whether Nagle's algorithm is active (TCP).
    pub nagle: bool,
    /// ECN of its packets (UDP).
    #[serde(deserialize_with = "below::<4, _>")]
    pub ecn: u8,
    /// Time to live, or hop limit; 0: the kernel's default.
    pub ttl: u8,
    /// Number of the mode of path MTU discovery, below [`Traffic::PATH_MTU_MODES`].
    #[serde(deserialize_with = "below::<{ Traffic::PATH_MTU_MODES }, _>")]
    pub path_mtu: u8,
    /// Messages per call (UDP).
    pub segmentation: u16,
    /// The send buffer to set, in bytes; 0: the kernel's default.
    pub send_buffer: u32,
    /// Congestion control (TCP), padded with zeros; all zeros: the kernel's default.
    #[serde(deserialize_with = "congestion")]
    pub congestion: [u8; LONGEST_CONGESTION],
}

/// A distribution with two parameters.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Distribution {
    /// Number of the family.
    #[serde(deserialize_with = "below::<{ Distribution::FAMILIES }, _>")]
    pub family: u8,
    /// The bits of both parameters, each an IEEE 754 double.
    pub parameters: [u64; 2],
}

/// The counters of such a flow's sender. Times are in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SentReport {
    /// Number of the flow in the session.
    pub flow: u16,
    /// Messages of the warm-up, and their bytes. All other fields leave these messages out.
    pub warmup: [u64; 2],
    /// Messages that the schedule offered.
    pub offered: u64,
    /// Messages handed to the kernel.
    pub messages: u64,
    /// Bytes of those messages.
    pub bytes: u64,
    /// Messages of a size that the protocol cannot carry.
    pub rejected: u64,
    /// Messages that the kernel did not accept.
    pub unsent: u64,
    /// Those of them that were too large for the path.
    pub too_large: u64,
    /// Time from the first departure to the last.
    pub lasted: u64,
    /// Messages with a known timing error.
    pub timed: u64,
    /// Median of the timing error.
    pub median: u64,
    /// 99th percentile of the timing error.
    pub p99: u64,
    /// Maximum of the timing error.
    pub most: u64,
    /// The send buffer, in bytes of kernel memory.
    pub send_buffer: u64,
    /// Segments sent (TCP).
    pub segments: u64,
    /// Segments retransmitted (TCP).
    pub retransmitted: u64,
    /// Bytes of the largest segment (TCP); 0 for datagrams.
    pub segment_size: u64,
    /// Smoothed round-trip time (TCP).
    pub round_trip: u64,
    /// Path MTU in bytes, by the latest notice; 0: none.
    pub path_mtu: u64,
    /// Why a stream ended early (TCP); 0: it did not, 1: the receiver accepted next to
    /// nothing, 2: it had not accepted the last message long after the end, others: segments
    /// of this many bytes were not delivered.
    pub stall: u64,
    /// The router that stated it, an IPv4 address as an IPv4-mapped one
    /// [RFC4291 s2.5.5.2]; zeros: the sending host.
    pub router: [u8; 16],
    /// Congestion control in force (TCP), padded with zeros.
    #[serde(deserialize_with = "congestion")]
    pub congestion: [u8; LONGEST_CONGESTION],
}

impl Distribution {
    /// The number of families.
    pub const FAMILIES: u8 = 9;
}

impl Traffic {
    /// The number of modes of path MTU discovery.
    pub const PATH_MTU_MODES: u8 = 5;
}

/// The text of a congestion control's name, or of none.
pub fn congestion_name(bytes: &[u8; LONGEST_CONGESTION]) -> &str {
    text(bytes)
}

/// A congestion control's name: letters, digits, dashes and underscores.
fn congestion<'de, D: Deserializer<'de>>(from: D) -> Result<[u8; LONGEST_CONGESTION], D::Error> {
    valid(from, |bytes: &[u8; LONGEST_CONGESTION]| {
        is_text(bytes, b"_-")
    })
}
