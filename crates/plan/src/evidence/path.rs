//! The path, the sockets, and what the kernel did to packets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Row};

facts! {
    "", "segmentation and receive features of the sender's interface that are on, as read back"
    { OFFLOADS_ON: Vec<String> = "offloads_on" }

    "Mbit/s", "the most goodput that the path can carry; for `kind = \"command\"` by the leanest transport, UDP"
    { LIMIT_MBIT: f64 = "limit_mbit" }

    "B", "depth of the bucket and of the queue of each link, sender first"
    { BURST_BYTES: Vec<u64> = "burst_bytes", BUFFER_BYTES: Vec<u64> = "buffer_bytes" }

    "B", "largest IP packet seen leaving the sender"
    { LARGEST_PACKET_SENT: u64 = "largest_packet_sent" }

    "B", "largest IP packet seen reaching the receiver"
    { LARGEST_PACKET_RECEIVED: u64 = "largest_packet_received" }

    "", "congestion control that TCP ran"
    { CONGESTION: String = "congestion" }

    "B", "TCP's segment size at the end"
    { SEGMENT_SIZE: u64 = "segment_size" }

    "B", "socket buffers as read back"
    { SEND_BUFFER: u64 = "send_buffer", RECEIVE_BUFFER: u64 = "receive_buffer" }

    "packets", "dropped in front of the kernel's links"
    { QUEUE_DROPS: u64 = "queue_drops" }

    "packets", "that backlog queues of the whole machine dropped (`/proc/net/softnet_stat`), because a processor did not come to process them"
    { BACKLOG_DROPS: u64 = "backlog_drops" }

    "packets", "of flows, an object for each node that did something with packets that did not fit: `cut`, and `made` of these; `too_big` to be forwarded and not to be cut; `taken` fragments to be joined, `joined` packets, and `given_up`. Simulated: of routers `cut` and `too_big`"
    { FRAGMENTS: BTreeMap<String, Fragments> = "fragments" }

    "connections, datagrams", "without the trial's token at the receiver's data port: refused connections; of UDP, datagrams before the sender's; of flows, control connections; in networks that are no path, SYNs and datagrams from elsewhere than the port of their flow; absent: 0"
    { REFUSED_PEERS: u64 = "refused_peers" }
}

/// What a node did with packets that did not fit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Fragments {
    /// Packets that were fragmented.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cut: Option<u64>,
    /// Fragments made of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub made: Option<u64>,
    /// Packets too big for the next link that must not be fragmented.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub too_big: Option<u64>,
    /// Fragments received for reassembly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<u64>,
    /// Packets reassembled.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joined: Option<u64>,
    /// Packets whose reassembly failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub given_up: Option<u64>,
}
