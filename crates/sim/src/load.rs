//! The bundle inside a packet in flight.

use queue::{Bundle, Entry, Packet as _, Part};

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
    /// The headers of the packets that were not dropped. Of a packet that was cut, the
    /// first piece has the header.
    pub(crate) fn headers(&self) -> impl Iterator<Item = Header> {
        let packets = self.bundle.entries().iter().filter_map(Entry::packet);
        let packets = packets.filter(|packet| !matches!(packet.part(), Part::Rest { .. }));
        packets.map(|packet| packet.header)
    }
}
