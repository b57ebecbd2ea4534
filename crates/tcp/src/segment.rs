//! Segments: TCP headers as values, without bytes.

use crate::Range;

/// Bytes of a TCP header without options [RFC9293 s3.1].
pub const HEADER: u32 = 20;
/// The most SACK blocks of an acknowledgement with a timestamp [RFC2018 s3].
pub const MOST_BLOCKS: usize = 3;

/// A data segment or a SYN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// First sequence number; 0 is the SYN, which takes one number.
    pub sequence: u64,
    /// Count of sequence numbers: bytes, or 1 if numbers count segments.
    pub length: u32,
    /// Bytes behind the header; 0 for a SYN.
    pub payload: u32,
    /// Bytes of the TCP header, options included.
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

/// An acknowledgement. Contents of packets are many, so it is kept small.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The first number that has not arrived.
    pub next: u64,
    /// The ranges that arrived beyond it (SACK), the latest first: the start of each,
    /// relative to `next`, and its length, which is 0 behind the last one.
    blocks: [(i32, u32); MOST_BLOCKS],
    /// Bytes of the TCP header, options included.
    pub header: u32,
    /// Whether it echoes a mark that the sender has not answered yet (ECE)
    /// [RFC3168 s6.1.3].
    pub echo: bool,
}

impl Ack {
    /// An acknowledgement of nothing, to be filled in.
    pub const NOTHING: Self = Self::of(0);

    /// An acknowledgement of all before `next`, without ranges.
    pub const fn of(next: u64) -> Self {
        Self {
            next,
            blocks: [(0, 0); MOST_BLOCKS],
            header: HEADER,
            echo: false,
        }
    }

    /// Adds a range at `place`, behind those that are there. Ranges more than two gigabytes
    /// from `next` are left out, because no window reaches that far [RFC7323 s2.3].
    /// Returns the next free place.
    pub fn report(&mut self, place: usize, range: Range) -> usize {
        let from = i32::try_from(range.from.wrapping_sub(self.next).cast_signed());
        let length = u32::try_from(range.to.saturating_sub(range.from));
        if let (Ok(from), Ok(length)) = (from, length)
            && length > 0
            && let Some(block) = self.blocks.get_mut(place)
        {
            *block = (from, length);
            return place + 1;
        }
        place
    }

    /// All ranges.
    pub fn ranges(&self) -> impl Iterator<Item = Range> + '_ {
        let blocks = self.blocks.iter().take_while(|block| block.1 > 0);
        blocks.map(|&(from, length)| {
            let from = self.next.wrapping_add_signed(from.into());
            Range {
                from,
                to: from + u64::from(length),
            }
        })
    }
}
