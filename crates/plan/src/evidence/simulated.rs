//! Simulated networks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Row};

facts! {
    "messages, messages, packets, messages", "simulated: lists by flow in the order of `[flows]`, equal flows as one; TCP counts segments with data, each once; a transfer its messages, then the answers. `packets` includes fragments; `rejected` were too big to send (absent if none)"
    {
        SENT: Vec<u64> = "sent",
        RECEIVED: Vec<u64> = "received",
        PACKETS: Vec<u64> = "packets",
        REJECTED: Vec<u64> = "rejected",
    }

    "share of time, packets, packets, packets", "simulated: lists by link, each `[there, back]`, in path order or that of `[links]` (dumbbell: the bottleneck, then two links of each pair): share of busy time, mean queue, drops, and random losses. The last two are absent if 0"
    {
        UTILISATION: Vec<[f64; 2]> = "utilisation",
        MEAN_QUEUE: Vec<[f64; 2]> = "mean_queue",
        DROPPED: Vec<[u64; 2]> = "dropped",
        LOST: Vec<[u64; 2]> = "lost",
    }

    "packets", "simulated: packets that found no room in `host.receive_buffer`; absent if 0"
    { BUFFER_DROPS: u64 = "buffer_drops" }

    "ms", "simulated, with `watch.delays`: waiting times by link, direction and flow: `packets`, `mean`, `p50`, `p95`, `p99`, `max`"
    { QUEUE_DELAY_MS: BTreeMap<String, [BTreeMap<String, Waits>; 2]> = "queue_delay_ms" }

    "ms", "simulated, with `watch.delays`: one-way delays by flow: `mean`, `min`, `p50`, `p95`, `p99`, `max`"
    { DELAY_MS: BTreeMap<String, Delays> = "delay_ms" }

    "", "simulated: the trial's files in `watch/`, as paths below the results folder"
    { WATCHED: Vec<PathBuf> = "watched" }

    "", "simulated: number of events"
    { EVENTS: u64 = "events" }
}

/// Waiting times of the packets of a flow, in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Waits {
    pub packets: usize,
    pub mean: f64,
    pub p50: Option<f64>,
    pub p95: Option<f64>,
    pub p99: Option<f64>,
    pub max: Option<f64>,
}

/// One-way delays of the messages of a flow, in milliseconds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Delays {
    pub mean: f64,
    pub min: f64,
    pub p50: f64,
    pub p95: f64,
    pub p99: f64,
    pub max: f64,
}
