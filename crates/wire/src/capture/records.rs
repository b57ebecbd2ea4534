//! The format pcap [Pcap].

use super::{LARGEST_PACKET, Order, READ, Record, link};
use crate::{Error, Field};

/// Numbers at the start of a file, for times in microseconds and in nanoseconds [Pcap s4].
const MICROSECONDS: u32 = 0xa1b2_c3d4;
const NANOSECONDS: u32 = 0xa1b2_3c4d;

/// Offsets in the header of the file [Pcap s4].
mod file {
    pub(super) const LINK_TYPE: usize = 20;
    pub(super) const LEN: usize = 24;
}

/// Offsets in a record [Pcap s5].
mod field {
    pub(super) const SECONDS: usize = 0;
    pub(super) const FRACTION: usize = 4;
    pub(super) const KEPT: usize = 8;
    pub(super) const LENGTH: usize = 12;
    pub(super) const DATA: usize = 16;
}

/// A file that is being read.
#[derive(Clone, Debug)]
pub struct Records {
    order: Order,
    /// Nanoseconds of the fraction's unit.
    unit: u64,
    /// The link type; `None` before the header of the file.
    link: Option<u16>,
}

impl Records {
    pub(super) fn of(magic: [u8; 4]) -> Option<Self> {
        let orders = [
            (Order::Big, u32::from_be_bytes(magic)),
            (Order::Little, u32::from_le_bytes(magic)),
        ];
        let (order, unit) = orders.into_iter().find_map(|(order, magic)| match magic {
            MICROSECONDS => Some((order, 1_000)),
            NANOSECONDS => Some((order, 1)),
            _ => None,
        })?;
        Some(Self {
            order,
            unit,
            link: None,
        })
    }

    pub(super) fn next(&mut self, bytes: &[u8]) -> Result<Record, Error> {
        let order = self.order;
        let Some(link) = self.link else {
            // The upper bits state the length of the FCS.
            let [_, _, upper, lower] = order.u32(bytes, file::LINK_TYPE)?.to_be_bytes();
            self.link = Some(u16::from_be_bytes([upper, lower]));
            return Ok(Record {
                length: file::LEN as u64,
                packet: None,
            });
        };
        let length = order.u32(bytes, field::LENGTH)?;
        let kept = order.u32(bytes, field::KEPT)?;
        if kept.max(length) > LARGEST_PACKET {
            return Err(Error::Malformed(Field::Length));
        }
        let frame = crate::bytes::demand(bytes, field::DATA + READ.min(kept as usize))?;
        let seconds = u64::from(order.u32(bytes, field::SECONDS)?);
        let fraction = u64::from(order.u32(bytes, field::FRACTION)?);
        let nanos = seconds * 1_000_000_000 + fraction * self.unit;
        Ok(Record {
            length: field::DATA as u64 + u64::from(kept),
            packet: link::packet(link, &frame[field::DATA..], length, Some(nanos)),
        })
    }
}
