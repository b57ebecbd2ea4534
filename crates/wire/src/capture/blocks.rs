//! The format pcapng [Pcapng].

use alloc::vec::Vec;

use super::{LARGEST_PACKET, Order, READ, Record, link};
use crate::bytes::{demand, u8_at};
use crate::pcapng::{AROUND, MAGIC, block, option};
use crate::{Error, Field};

/// A block of an interface has at most this length, and a section as many interfaces.
const LONGEST: u32 = 1 << 16;

/// Offsets in a block [Pcapng s3.1] [Pcapng s4].
mod field {
    pub(super) const TYPE: usize = 0;
    pub(super) const LENGTH: usize = 4;
    pub(super) const ORDER: usize = 8;
    pub(super) const LINK_TYPE: usize = 8;
    pub(super) const OPTIONS: usize = 16;
    pub(super) const INTERFACE: usize = 8;
    pub(super) const TIME: usize = 12;
    pub(super) const KEPT: usize = 20;
    pub(super) const ORIGINAL: usize = 24;
    pub(super) const DATA: usize = 28;
    /// Of a packet without time and interface.
    pub(super) const SIMPLE_ORIGINAL: usize = 8;
    pub(super) const SIMPLE_DATA: usize = 12;
}

/// Bytes behind the content of a block: its length again [Pcapng s3.1].
const BEHIND: usize = 4;

/// A file that is being read.
#[derive(Clone, Debug)]
pub struct Blocks {
    order: Order,
    interfaces: Vec<Interface>,
}

/// An interface of a section.
#[derive(Clone, Copy, Debug)]
struct Interface {
    link: u16,
    /// Bytes kept of a packet at most; 0: all.
    most: u32,
    /// Timestamps count this fraction of a second.
    per_second: u128,
    /// Seconds that belong to each timestamp.
    offset: i64,
}

impl Blocks {
    pub(super) fn of(magic: [u8; 4]) -> Option<Self> {
        (u32::from_be_bytes(magic) == block::SECTION).then_some(Self {
            order: Order::Big,
            interfaces: Vec::new(),
        })
    }

    pub(super) fn next(&mut self, bytes: &[u8]) -> Result<Record, Error> {
        // The type of a section reads the same in both orders, and its third number tells
        // which one holds from there on.
        if self.order.u32(bytes, field::TYPE)? == block::SECTION {
            self.order = match crate::bytes::u32_at(bytes, field::ORDER)? {
                MAGIC => Order::Big,
                other if other.swap_bytes() == MAGIC => Order::Little,
                _ => return Err(Error::Malformed(Field::Magic)),
            };
            self.interfaces.clear();
        }
        let order = self.order;
        let length = order.u32(bytes, field::LENGTH)?;
        if length % 4 != 0 || (length as usize) < AROUND {
            return Err(Error::Malformed(Field::Length));
        }
        let packet = match order.u32(bytes, field::TYPE)? {
            block::INTERFACE => {
                if length > LONGEST || self.interfaces.len() >= LONGEST as usize {
                    return Err(Error::Malformed(Field::Count));
                }
                // The block is whole: what is cut short within it is damage.
                let interface = Interface::parse(order, demand(bytes, length as usize)?)
                    .map_err(|_| Error::Malformed(Field::OptionLength))?;
                self.interfaces.push(interface);
                None
            }
            block::PACKET => self.packet(bytes, length)?,
            block::SIMPLE_PACKET => self.simple_packet(bytes, length)?,
            _ => None,
        };
        Ok(Record {
            length: length.into(),
            packet,
        })
    }

    fn packet(&self, bytes: &[u8], length: u32) -> Result<Option<super::Packet>, Error> {
        let order = self.order;
        let kept = order.u32(bytes, field::KEPT)?;
        let original = order.u32(bytes, field::ORIGINAL)?;
        let frame = frame(bytes, field::DATA, kept, length)?;
        let interface = order.u32(bytes, field::INTERFACE)?;
        let interface = self.interface(interface)?;
        let upper = u64::from(order.u32(bytes, field::TIME)?);
        let lower = u64::from(order.u32(bytes, field::TIME + 4)?);
        let nanos = interface.nanos(upper << 32 | lower)?;
        Ok(link::packet(interface.link, frame, original, Some(nanos)))
    }

    fn simple_packet(&self, bytes: &[u8], length: u32) -> Result<Option<super::Packet>, Error> {
        let original = self.order.u32(bytes, field::SIMPLE_ORIGINAL)?;
        let interface = self.interface(0)?;
        let most = match interface.most {
            0 => u32::MAX,
            most => most,
        };
        let frame = frame(bytes, field::SIMPLE_DATA, original.min(most), length)?;
        Ok(link::packet(interface.link, frame, original, None))
    }

    fn interface(&self, number: u32) -> Result<&Interface, Error> {
        let interface = self.interfaces.get(number as usize);
        interface.ok_or(Error::Malformed(Field::Count))
    }
}

/// The first bytes of a packet of which `kept` bytes are in a block, from `at` on.
fn frame(bytes: &[u8], at: usize, kept: u32, block: u32) -> Result<&[u8], Error> {
    let room = (block as usize).checked_sub(at + BEHIND);
    if kept > LARGEST_PACKET || room.is_none_or(|room| kept as usize > room) {
        return Err(Error::Malformed(Field::Length));
    }
    let end = at + READ.min(kept as usize);
    Ok(&demand(bytes, end)?[at..])
}

impl Interface {
    /// Reads the whole block of an interface.
    fn parse(order: Order, bytes: &[u8]) -> Result<Self, Error> {
        let mut interface = Self {
            link: order.u16(bytes, field::LINK_TYPE)?,
            most: order.u32(bytes, field::LINK_TYPE + 4)?,
            per_second: 1_000_000,
            offset: 0,
        };
        let end = bytes.len() - BEHIND;
        let mut options = bytes.get(field::OPTIONS..end).unwrap_or_default();
        while !options.is_empty() {
            let code = order.u16(options, 0)?;
            let length = usize::from(order.u16(options, 2)?);
            let value = options.get(4..4 + length);
            let value = value.ok_or(Error::Malformed(Field::OptionLength))?;
            match code {
                option::END => break,
                option::RESOLUTION => interface.per_second = per_second(u8_at(value, 0)?)?,
                option::OFFSET => {
                    let (upper, lower) = match order {
                        Order::Big => (order.u32(value, 0)?, order.u32(value, 4)?),
                        Order::Little => (order.u32(value, 4)?, order.u32(value, 0)?),
                    };
                    interface.offset = (u64::from(upper) << 32 | u64::from(lower)).cast_signed();
                }
                _ => {}
            }
            options = options
                .get(4 + length.next_multiple_of(4)..)
                .unwrap_or_default();
        }
        Ok(interface)
    }

    /// Nanoseconds since 1970 of a timestamp.
    fn nanos(&self, ticks: u64) -> Result<u64, Error> {
        let within = u128::from(ticks) * 1_000_000_000 / self.per_second;
        let seconds = i128::from(self.offset) * 1_000_000_000;
        let nanos = i128::try_from(within).ok().map(|within| within + seconds);
        let nanos = nanos.and_then(|nanos| u64::try_from(nanos).ok());
        nanos.ok_or(Error::Malformed(Field::Time))
    }
}

/// Units in a second, by the exponent of 10, or of 2 with the first bit set [Pcapng s4.2].
fn per_second(exponent: u8) -> Result<u128, Error> {
    const BINARY: u8 = 0x80;
    let power = u32::from(exponent & !BINARY);
    let units = match exponent & BINARY {
        0 => 10u128.checked_pow(power),
        _ => 2u128.checked_pow(power),
    };
    units.ok_or(Error::Malformed(Field::Time))
}
