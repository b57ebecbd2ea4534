//! Reads captures of other programs, record by record: pcap [Pcap] and pcapng [Pcapng].
//!
//! [`Capture::next`] takes the beginning of a record. It asks for more bytes with
//! [`Error::Truncated`], and for few: behind the headers of a packet it reads nothing.

mod blocks;
mod link;
mod records;

use crate::Error;

/// A capture that is being read.
#[derive(Clone, Debug)]
pub enum Capture {
    /// A file header, then records.
    Pcap(records::Records),
    /// Sections of blocks.
    Pcapng(blocks::Blocks),
}

/// What a record tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Record {
    /// Bytes of the whole record. There may be more than were needed to read it.
    pub length: u64,
    /// The IP packet in the record; `None` if it holds something else.
    pub packet: Option<Packet>,
}

/// An IP packet on a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet {
    /// Nanoseconds since 1970; `None` in records without a time.
    pub nanos: Option<u64>,
    /// Bytes of the packet.
    pub size: u32,
    /// Bytes of its IP header; of IPv6 without extensions.
    pub header: u32,
}

/// Bytes of a packet that are read: the headers of a link, and of IP.
const READ: usize = 96;

/// Packets above this size are damage.
const LARGEST_PACKET: u32 = 1 << 26;

impl Capture {
    /// A capture whose file begins with `magic`; `None` if no capture begins so.
    pub fn of(magic: [u8; 4]) -> Option<Self> {
        let records = records::Records::of(magic).map(Self::Pcap);
        records.or_else(|| blocks::Blocks::of(magic).map(Self::Pcapng))
    }

    /// Reads the record at the start of `bytes`. The first record of a file is its header.
    ///
    /// # Errors
    /// [`Error::Truncated`] if more bytes are needed, 64 KiB at most; [`Error::Malformed`]
    /// for damage.
    pub fn next(&mut self, bytes: &[u8]) -> Result<Record, Error> {
        match self {
            Self::Pcap(records) => records.next(bytes),
            Self::Pcapng(blocks) => blocks.next(bytes),
        }
    }
}

/// The order of the bytes of numbers: that of the machine that wrote the file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    Big,
    Little,
}

impl Order {
    fn u16(self, bytes: &[u8], at: usize) -> Result<u16, Error> {
        let number = crate::bytes::u16_at(bytes, at)?;
        Ok(match self {
            Self::Big => number,
            Self::Little => number.swap_bytes(),
        })
    }

    fn u32(self, bytes: &[u8], at: usize) -> Result<u32, Error> {
        let number = crate::bytes::u32_at(bytes, at)?;
        Ok(match self {
            Self::Big => number,
            Self::Little => number.swap_bytes(),
        })
    }
}

#[cfg(test)]
mod tests;
