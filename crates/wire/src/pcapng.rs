//! Captures in the pcapng format [Pcapng], with big-endian numbers.
//!
//! A file is a section header, a description of each interface, and then the
//! packets.

use crate::Error;
use crate::bytes::demand_mut;

/// Types of blocks [Pcapng s4].
pub(crate) mod block {
    pub(crate) const SECTION: u32 = 0x0a0d_0d0a;
    pub(crate) const INTERFACE: u32 = 1;
    pub(crate) const SIMPLE_PACKET: u32 = 3;
    pub(crate) const PACKET: u32 = 6;
}

/// Codes of options [Pcapng s3.5] [Pcapng s4.2].
pub(crate) mod option {
    pub(crate) const END: u16 = 0;
    pub(super) const NAME: u16 = 2;
    pub(crate) const RESOLUTION: u16 = 9;
    pub(crate) const OFFSET: u16 = 14;
}

/// The magic number that shows the byte order [Pcapng s4.1].
pub(crate) const MAGIC: u32 = 0x1a2b_3c4d;
/// The version of the format [Pcapng s4.1].
const VERSION: [u16; 2] = [1, 0];
/// Resolution of timestamps: 10^-9 s [Pcapng s4.2].
const NANOSECONDS: u8 = 9;
/// Bytes around the content of a block: its type, and its length twice [Pcapng s3.1].
pub(crate) const AROUND: usize = 12;

/// The first header of the packets of an interface [Pcapng s4.2].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkType {
    /// An Ethernet frame without preamble and FCS.
    Ethernet = 1,
    /// An IP packet.
    RawIp = 101,
}

/// A block of a capture file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Block<'a> {
    /// The section header, which begins a file.
    Section,
    /// An interface; the first description in a file has the number 0.
    Interface {
        /// The first header of its packets.
        kind: LinkType,
        /// Name of the interface.
        name: &'a str,
        /// The most bytes kept of a packet; 0: all.
        most: u32,
    },
    /// A packet.
    Packet {
        /// Number of the interface that saw the packet.
        interface: u32,
        /// Timestamp, in nanoseconds.
        nanos: u64,
        /// The bytes kept.
        bytes: &'a [u8],
        /// Length of the packet before it was cut.
        length: u32,
    },
}

impl Block<'_> {
    /// Bytes of the block.
    pub const fn buffer_len(&self) -> usize {
        AROUND
            + match self {
                Self::Section => 16,
                Self::Interface { name, .. } => 8 + 4 + padded(name.len()) + 8 + 4,
                Self::Packet { bytes, .. } => 20 + padded(bytes.len()),
            }
    }

    /// Writes the block to the first [`Block::buffer_len`] bytes of `bytes`.
    ///
    /// # Errors
    /// [`Error::Truncated`] with fewer bytes.
    pub fn emit(&self, bytes: &mut [u8]) -> Result<(), Error> {
        let length = self.buffer_len();
        let mut out = Cursor {
            bytes: demand_mut(bytes, length)?,
            at: 0,
        };
        // Lengths of blocks are far below 2^32, because names and packets are short.
        let length = (length as u64).to_be_bytes();
        let length = [length[4], length[5], length[6], length[7]];
        match self {
            Self::Section => {
                out.put(&block::SECTION.to_be_bytes());
                out.put(&length);
                out.put(&MAGIC.to_be_bytes());
                out.put(&VERSION[0].to_be_bytes());
                out.put(&VERSION[1].to_be_bytes());
                // An unknown section length.
                out.put(&u64::MAX.to_be_bytes());
            }
            Self::Interface { kind, name, most } => {
                out.put(&block::INTERFACE.to_be_bytes());
                out.put(&length);
                out.put(&(*kind as u16).to_be_bytes());
                out.put(&[0; 2]);
                out.put(&most.to_be_bytes());
                out.option(option::NAME, name.as_bytes());
                out.option(option::RESOLUTION, &[NANOSECONDS]);
                out.option(option::END, &[]);
            }
            Self::Packet {
                interface,
                nanos,
                bytes,
                length: original,
            } => {
                out.put(&block::PACKET.to_be_bytes());
                out.put(&length);
                out.put(&interface.to_be_bytes());
                // The timestamp's upper half, then its lower half.
                out.put(&nanos.to_be_bytes());
                let kept = (bytes.len() as u64).to_be_bytes();
                out.put(&kept[4..]);
                out.put(&original.to_be_bytes());
                out.put_padded(bytes);
            }
        }
        out.put(&length);
        Ok(())
    }
}

/// Writes bytes one after the other into a buffer that is large enough.
struct Cursor<'a> {
    bytes: &'a mut [u8],
    at: usize,
}

impl Cursor<'_> {
    fn put(&mut self, bytes: &[u8]) {
        let end = self.at + bytes.len();
        if let Some(place) = self.bytes.get_mut(self.at..end) {
            place.copy_from_slice(bytes);
        }
        self.at = end;
    }

    fn put_padded(&mut self, bytes: &[u8]) {
        self.put(bytes);
        let padding = padded(bytes.len()) - bytes.len();
        self.put(&[0; 3][..padding]);
    }

    fn option(&mut self, code: u16, value: &[u8]) {
        self.put(&code.to_be_bytes());
        let length = (value.len() as u64).to_be_bytes();
        self.put(&length[6..]);
        self.put_padded(value);
    }
}

/// The next multiple of four bytes.
const fn padded(length: usize) -> usize {
    length.next_multiple_of(4)
}

#[cfg(test)]
mod tests {
    use std::vec;
    use std::vec::Vec;

    use super::*;

    fn bytes(block: Block<'_>) -> Vec<u8> {
        let mut bytes = vec![0xee; block.buffer_len()];
        block.emit(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn a_section_is_that_of_the_standard() {
        let expected = [
            0x0a, 0x0d, 0x0d, 0x0a, 0, 0, 0, 28, 0x1a, 0x2b, 0x3c, 0x4d, 0, 1, 0, 0, 0xff, 0xff,
            0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 28,
        ];
        assert_eq!(bytes(Block::Section), expected);
    }

    #[test]
    fn an_interface_has_a_name_and_counts_nanoseconds() {
        let interface = Block::Interface {
            kind: LinkType::Ethernet,
            name: "way 0",
            most: 128,
        };
        let expected = [
            0, 0, 0, 1, 0, 0, 0, 44, 0, 1, 0, 0, 0, 0, 0, 128, 0, 2, 0, 5, b'w', b'a', b'y', b' ',
            b'0', 0, 0, 0, 0, 9, 0, 1, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 44,
        ];
        assert_eq!(bytes(interface), expected);
    }

    #[test]
    fn a_packet_is_padded_and_says_how_long_it_was() {
        let packet = Block::Packet {
            interface: 1,
            nanos: 0x1_0000_0002,
            bytes: &[1, 2, 3, 4, 5],
            length: 1514,
        };
        let expected = [
            0, 0, 0, 6, 0, 0, 0, 40, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 5, 0, 0, 5, 0xea,
            1, 2, 3, 4, 5, 0, 0, 0, 0, 0, 0, 40,
        ];
        assert_eq!(bytes(packet), expected);
        assert_eq!(
            packet.emit(&mut [0; 39]),
            Err(Error::Truncated { need: 40, have: 39 })
        );
    }
}
