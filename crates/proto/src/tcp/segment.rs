//! What the ends of a connection tell each other: headers without octets.

use crate::tcp::Range;

/// Octets of a TCP header without options [RFC9293 s3.1].
pub const HEADER: u32 = 20;
/// Blocks that an acknowledgement has room for beside a timestamp
/// [RFC2018 s3].
pub const MOST_BLOCKS: usize = 3;

/// Data, or the SYN that comes before them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Data {
    /// Its first number: 0 is the SYN, which takes one number.
    pub sequence: u64,
    /// How many numbers it takes: octets, or one where segments are counted.
    pub length: u32,
    /// Octets behind the header; none in a SYN.
    pub payload: u32,
    /// Octets of the TCP header, options included.
    pub header: u32,
    /// Whether some of it was sent before.
    pub again: bool,
    /// Whether a queue may mark instead of drop [RFC3168 s5].
    pub capable: bool,
    /// Whether a queue has marked it.
    pub marked: bool,
    /// Whether the sender says that it has reduced its window
    /// [RFC3168 s6.1.2].
    pub reduced: bool,
    /// Whether it holds the last octet of a write [RFC9293 s3.9.1].
    pub push: bool,
}

/// An acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ack {
    /// The first number that is not there yet.
    pub next: u64,
    /// What is there beyond it.
    pub blocks: Blocks,
    /// Octets of the TCP header, options included.
    pub header: u32,
    /// Whether a mark was seen that the sender has not answered yet
    /// [RFC3168 s6.1.3].
    pub echo: bool,
}

/// Ranges that an acknowledgement reports, the latest first. They are kept
/// relative to its number, because packets are copied often.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Blocks {
    base: u64,
    count: u8,
    /// Where each begins, relative to the base, and how long it is.
    places: [(i32, u32); MOST_BLOCKS],
}

impl Blocks {
    /// None yet, beside the number `next`.
    pub const fn new(next: u64) -> Self {
        Self {
            base: next,
            count: 0,
            places: [(0, 0); MOST_BLOCKS],
        }
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.count as usize
    }

    /// Whether there is none.
    pub const fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Adds one, where there is room. What lies further from the number than
    /// two gigabytes is left out, as no window reaches that far
    /// [RFC7323 s2.3].
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

    /// Each of them.
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
