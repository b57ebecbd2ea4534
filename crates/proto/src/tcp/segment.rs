//! Segments: TCP headers as values, without octets.

use crate::tcp::Range;

/// Octets of a TCP header without options [RFC9293 s3.1].
pub const HEADER: u32 = 20;
/// The most SACK blocks of an acknowledgement with a timestamp [RFC2018 s3].
pub const MOST_BLOCKS: usize = 3;

/// A data segment or a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// First sequence number; 0 is the SYN, which takes one number.
    pub sequence: u64,
    /// Count of sequence numbers: octets, or 1 if numbers count segments.
    pub length: u32,
    /// Octets behind the header; 0 for a SYN.
    pub payload: u32,
    /// Octets of the TCP header, options included.
    pub header: u32,
    /// Whether any of it was sent before.
    pub again: bool,
    /// Whether queues may mark it instead of dropping it [RFC3168 s5].
    pub capable: bool,
    /// Whether a queue has marked it.
    pub marked: bool,
    /// Whether the sender announces a reduction of its window (CWR) [RFC3168 s6.1.2].
    pub reduced: bool,
    /// Whether it ends a write of the application (PSH) [RFC9293 s3.9.1].
    pub push: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The first number that has not arrived.
    pub next: u64,
    /// The ranges that arrived beyond it (SACK).
    pub blocks: Blocks,
    /// Octets of the TCP header, options included.
    pub header: u32,
    /// Whether it echoes a mark that the sender has not answered yet (ECE)
    /// [RFC3168 s6.1.3].
    pub echo: bool,
}

impl Ack {
    /// An acknowledgement of nothing, to be filled in.
    pub const NOTHING: Self = Self {
        next: 0,
        blocks: Blocks::new(0),
        header: 0,
        echo: false,
    };
}

/// The ranges of an acknowledgement, the latest first, relative to its number: packets
/// are copied often, so they are kept small.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    base: u64,
    count: u8,
    /// The start of each range, relative to the base, and its length.
    places: [(i32, u32); MOST_BLOCKS],
}

impl Blocks {
    /// No ranges, for an acknowledgement of `next`.
    pub const fn new(next: u64) -> Self {
        Self {
            base: next,
            count: 0,
            places: [(0, 0); MOST_BLOCKS],
        }
    }

    /// The number of ranges.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there are no ranges.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds a range if there is room. Ranges more than two gigabytes from the number
    /// are left out, because no window reaches that far [RFC7323 s2.3].
    pub fn push(&mut self, range: Range) {
        let from = i32::try_from(range.from.wrapping_sub(self.base).cast_signed());
        let length = u32::try_from(range.to.saturating_sub(range.from));
        if self.len() < MOST_BLOCKS
            && let (Ok(from), Ok(length)) = (from, length)
        {
            self.places[self.len()] = (from, length);
            self.count += 1;
        }
    }

    /// All ranges.
    pub fn iter(&self) -> impl Iterator<Item = Range> + '_ {
        self.places[..self.len()].iter().map(|&(from, length)| {
            let from = self.base.wrapping_add_signed(from.into());
            Range {
                from,
                to: from + u64::from(length),
            }
        })
    }
}
