//! Losses in front of links, and aggregated packets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Row};

facts! {
    "", "with `[links.NAME.losses]`: `flows`: arrived and dropped packets of each flow (equal flows as one), also in bundles; `epochs`: their number; `noticed`: the number of losses for `notice`"
    { LOSSES: Losses = "losses" }

    "packets", "between kernels, with `[links.NAME.losses]`: packets of no flow, such as the kernel's own and later fragments"
    { LOSSES_OF_NO_FLOW: u64 = "losses_of_no_flow" }

    "packets", "simulated, with `[domain]`: `edges`, by name: packets `aggregated`, sent alone (`bare`) or `bundled`, `bundles`, bundles `unpacked` and packets in them (`survivors`); `links`, by direction: the senders' packets that arrived, that the queue dropped, and those of them whose bundle continued"
    { DOMAIN: Domain = "domain" }
}

/// The losses in front of a link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Losses {
    /// Packets of each flow that arrived and that were dropped; equal flows as one.
    pub flows: BTreeMap<String, [u64; 2]>,
    /// The number of congestion epochs.
    pub epochs: u32,
    /// The number of losses that senders noticed.
    pub noticed: u32,
}

/// The packets that a domain aggregates.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Domain {
    /// By name.
    pub edges: BTreeMap<String, Edge>,
    /// The packets of senders in each direction of each link: arrived, dropped by the queue,
    /// and those among them whose bundle continued without them.
    pub links: Vec<[[u64; 3]; 2]>,
}

/// The packets at an edge of a domain.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Edge {
    /// Packets that were aggregated.
    pub aggregated: u64,
    /// Those that continued alone.
    pub bare: u64,
    pub bundles: u64,
    /// Packets in them.
    pub bundled: u64,
    /// Bundles that were unpacked.
    pub unpacked: u64,
    /// Packets in those.
    pub survivors: u64,
}
