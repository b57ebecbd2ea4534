//! The path, the sockets, and what the kernel did to packets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Row};

facts! {
    "", "segmentation and receive offloads of the sender's interface, as read back"
    { OFFLOADS_ON: Vec<String> = "offloads_on" }

    "Mbit/s", "maximum goodput of the path; for `kind = \"command\"` that of UDP"
    { LIMIT_MBIT: f64 = "limit_mbit" }

    "B", "depth of the token bucket and of the queue of each link, sender first"
    { BURST_BYTES: Vec<u64> = "burst_bytes", BUFFER_BYTES: Vec<u64> = "buffer_bytes" }

    "B", "largest IP packet observed at the sender"
    { LARGEST_PACKET_SENT: u64 = "largest_packet_sent" }

    "B", "largest IP packet observed at the receiver"
    { LARGEST_PACKET_RECEIVED: u64 = "largest_packet_received" }

    "", "congestion control that TCP ran"
    { CONGESTION: String = "congestion" }

    "B", "TCP's segment size at the end"
    { SEGMENT_SIZE: u64 = "segment_size" }

    "B", "socket buffers as read back"
    { SEND_BUFFER: u64 = "send_buffer", RECEIVE_BUFFER: u64 = "receive_buffer" }

    "packets", "dropped in front of the kernel's links"
    { QUEUE_DROPS: u64 = "queue_drops" }

    "packets", "dropped by backlog queues of the whole machine (`/proc/net/softnet_stat`), for lack of CPU time"
    { BACKLOG_DROPS: u64 = "backlog_drops" }

    "packets", "of flows, by node: packets `cut`, fragments `made` of these, packets `too_big` to forward, fragments `taken` for reassembly, packets `joined`, reassemblies `given_up`; simulated routers have `cut` and `too_big`"
    { FRAGMENTS: BTreeMap<String, Fragments> = "fragments" }

    "connections, datagrams", "peers without the trial's token at the data port: connections, datagrams before the sender's, or control connections of flows; in networks that are no path, SYNs and datagrams from other ports; absent: 0"
    { REJECTED_PEERS: u64 = "rejected_peers" }
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
