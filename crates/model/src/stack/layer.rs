//! The bytes that a layer adds to the unit that it carries.

use units::{Bytes, IpVersion};

use super::protocol::Protocol;

/// One layer of a stack: a protocol with its options.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The word of the stack, such as `tcp+ts`.
    pub(super) word: String,
    pub(super) protocol: &'static Protocol,
    pub(super) bytes: HeaderBytes,
    /// The keys of the sources of protocol and options.
    pub(super) sources: Vec<&'static str>,
}

impl Layer {
    /// The layer as it was written, such as `tcp+ts`.
    pub fn word(&self) -> &str {
        &self.word
    }

    /// The protocol.
    pub const fn protocol(&self) -> &'static Protocol {
        self.protocol
    }

    /// Where the sizes of the protocol and of its options are from, as
    /// docs/sources.md is cited.
    pub fn sources(&self) -> &[&'static str] {
        &self.sources
    }

    /// The units of the next layer in one unit of this one: more than one in a
    /// bundle.
    pub const fn units(&self) -> u64 {
        self.bytes.units
    }

    /// The version, if it is a layer of the Internet Protocol.
    pub fn ip(&self) -> Option<IpVersion> {
        match self.protocol.name {
            "ipv4" => Some(IpVersion::V4),
            "ipv6" => Some(IpVersion::V6),
            _ => None,
        }
    }
}

/// The bytes of a layer in front of what it carries, behind it, and between.
#[derive(Clone, Copy, Debug)]
pub(super) struct HeaderBytes {
    /// In front.
    pub(super) header: u64,
    /// Behind, outside of the blocks.
    pub(super) trailer: u64,
    /// The carried bytes are padded to a multiple of this.
    pub(super) block: u64,
    /// HeaderBytes behind what is carried that are part of the blocks.
    pub(super) in_block: u64,
    /// Whether padding stops at the largest size that fits.
    pub(super) stops_at_mtu: bool,
    /// Carried units, and the bytes of each one's entry.
    pub(super) units: u64,
    pub(super) entry: u64,
}

impl HeaderBytes {
    /// A header, and nothing else.
    pub(super) const fn header(header: u64) -> Self {
        Self {
            header,
            trailer: 0,
            block: 1,
            in_block: 0,
            stops_at_mtu: false,
            units: 1,
            entry: 0,
        }
    }

    /// The bytes of this layer's unit around units of `inner` bytes, where
    /// `limit` is the largest such unit.
    pub(super) fn around(&self, inner: Bytes, limit: Bytes) -> Bytes {
        let body = (inner + Bytes::new(self.entry)) * self.units + Bytes::new(self.in_block);
        let padded = Bytes::new(body.get().div_ceil(self.block).saturating_mul(self.block));
        let outside = Bytes::new(self.header + self.trailer);
        match self.stops_at_mtu {
            true => (padded + outside).min(limit.max(body + outside)),
            false => padded + outside,
        }
    }

    /// The largest units that are carried where this layer's unit has at most
    /// `unit` bytes. `None` where its own bytes do not fit.
    pub(super) fn room(&self, unit: Bytes) -> Option<Bytes> {
        let body = unit.get().checked_sub(self.header + self.trailer)?;
        let body = match self.stops_at_mtu {
            true => body,
            false => body / self.block * self.block,
        };
        let each = body.checked_sub(self.in_block)? / self.units;
        each.checked_sub(self.entry).map(Bytes::new)
    }
}
