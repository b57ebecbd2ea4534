//! Losses in front of links, and gathered packets.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Row};

facts! {
    "", "with `[links.NAME.losses]`: `flows`, of each flow (those that are alike as one) packets that came and that were dropped, also in and out of bundles; `epochs`, how many there were; `noticed`, how many losses `notice` is the mean of"
    { LOSSES: Losses = "losses" }

    "packets", "between kernels, with `[links.NAME.losses]`: packets that came to the link and belong to no flow, such as the kernel's own and later fragments"
    { LOSSES_OF_NO_FLOW: u64 = "losses_of_no_flow" }

    "packets", "simulated, with `[domain]`: `edges`, of each by name what was `gathered`, what of it went on alone (`bare`), `bundles` and what was in them (`bundled`), how many were `unpacked` and what lived in those (`survivors`); `links`, for each link and direction the packets of senders that came, that the queue dropped, and of these those whose bundle went on without them"
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

/// The packets that a domain gathers.
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
    /// Packets that were gathered.
    pub gathered: u64,
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
