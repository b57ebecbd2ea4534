//! The bundle inside a packet in flight.

use queue::Bundle;

use crate::packet::{Header, Packet};

/// A bundle and its route.
#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) bundle: Bundle<Packet>,
    /// Number of the aggregation that made it.
    pub(crate) origin: usize,
    /// Its number within that aggregation.
    pub(crate) number: u64,
    /// The nodes that aggregate and unpack it.
    pub(crate) ingress: usize,
    pub(crate) egress: usize,
}

impl Load {
    /// The headers of the packets that were not dropped.
    pub(crate) fn headers(&self) -> impl Iterator<Item = Header> {
        let entries = self.bundle.entries().iter();
        entries.filter_map(|entry| Some(entry.packet()?.header))
    }
}
