//! The bytes that a link adds around an IP packet.

use crate::Bytes;

/// The framing of a link: how many bytes of wire an IP packet costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Framing {
    /// Ethernet as it occupies the wire [IEEE802.3 s3.1].
    Ethernet,
    /// Nothing around the packet, as simulators often pretend.
    None,
}

impl Framing {
    /// Preamble and start delimiter, bytes [IEEE802.3 s3.1.1].
    pub const PREAMBLE: Bytes = Bytes::new(8);
    /// Destination, source and type, bytes [IEEE802.3 s3.1.1].
    pub const MAC_HEADER: Bytes = Bytes::new(14);
    /// Frame check sequence, bytes [IEEE802.3 s3.1.1].
    pub const FCS: Bytes = Bytes::new(4);
    /// Gap between frames, bytes [IEEE802.3 s4.4.2].
    pub const GAP: Bytes = Bytes::new(12);
    /// The smallest frame from destination to FCS, bytes [IEEE802.3 s4.4.2].
    pub const SMALLEST_FRAME: Bytes = Bytes::new(64);

    /// The frame, from destination address to FCS, that carries `packet`
    /// bytes of IP.
    pub fn frame_size(self, packet: Bytes) -> Bytes {
        match self {
            Self::Ethernet => (packet + Self::MAC_HEADER + Self::FCS).max(Self::SMALLEST_FRAME),
            Self::None => packet,
        }
    }

    /// The wire time, in bytes, that a packet of `packet` bytes of IP takes
    /// from its neighbours: the frame, its preamble and the gap after it.
    pub fn wire_size(self, packet: Bytes) -> Bytes {
        match self {
            Self::Ethernet => self.frame_size(packet) + Self::PREAMBLE + Self::GAP,
            Self::None => packet,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ethernet_costs_38_bytes_a_frame_and_pads_short_ones() {
        for (packet, wire) in [(1500, 1538), (9000, 9038), (46, 84), (20, 84), (47, 85)] {
            assert_eq!(
                Framing::Ethernet.wire_size(Bytes::new(packet)),
                Bytes::new(wire)
            );
        }
    }
}
