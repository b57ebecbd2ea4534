//! The bundle in a packet in flight.

use queue::Bundle;

use crate::packet::{Header, Packet};

/// A bundle, and between which places it travels.
#[derive(Debug)]
pub(crate) struct Load {
    pub(crate) bundle: Bundle<Packet>,
    /// Who gathered it, by a number of its own.
    pub(crate) origin: usize,
    /// Which one of its gathering it is.
    pub(crate) number: u64,
    /// The node that gathered it, and the one that unpacks it.
    pub(crate) ingress: usize,
    pub(crate) egress: usize,
}

impl Load {
    /// The headers of the packets that live in it.
    pub(crate) fn headers(&self) -> impl Iterator<Item = Header> {
        let entries = self.bundle.entries().iter();
        entries.filter_map(|entry| Some(entry.packet()?.header))
    }
}
