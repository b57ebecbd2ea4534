//! Simulated networks.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Row};

facts! {
    "messages, messages, packets, messages", "simulated: lists by flow, in the order of `[flows]`, those that are alike as one; of TCP segments with data instead of messages, each counted once; of a transfer the messages, then the answers. `packets` counts fragments; `refused` were too big to be sent (absent if none)"
    {
        SENT: Vec<u64> = "sent",
        RECEIVED: Vec<u64> = "received",
        PACKETS: Vec<u64> = "packets",
        REFUSED: Vec<u64> = "refused",
    }

    "share of time, packets, packets, packets", "simulated: lists by link, each `[there, back]`, in path order or that of `[links]`, of a dumbbell the bottleneck and then each pair's two; packets that waited on average over time; that the queue dropped; that chance or bit errors took. The last two are absent if there are none"
    {
        UTILISATION: Vec<[f64; 2]> = "utilisation",
        MEAN_QUEUE: Vec<[f64; 2]> = "mean_queue",
        DROPPED: Vec<[u64; 2]> = "dropped",
        LOST: Vec<[u64; 2]> = "lost",
    }

    "packets", "simulated: what found no room in `host.receive_buffer`; absent if nothing"
    { BUFFER_DROPS: u64 = "buffer_drops" }

    "ms", "simulated, with `watch.delays`: for each such link, direction and flow how long packets waited: `packets`, `mean`, `p50`, `p95`, `p99`, `max`"
    { QUEUE_DELAY_MS: BTreeMap<String, [BTreeMap<String, Waits>; 2]> = "queue_delay_ms" }

    "ms", "simulated, with `watch.delays`: of each flow from end to end: `mean`, `min`, `p50`, `p95`, `p99`, `max`"
    { DELAY_MS: BTreeMap<String, Delays> = "delay_ms" }

    "", "simulated: the trial's files in `watch/`, as paths below the results folder"
    { WATCHED: Vec<PathBuf> = "watched" }

    "", "simulated: how many events the trial took"
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
