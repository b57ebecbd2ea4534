//! Small numbers in runs: of one value, or packed bit by bit [Parquet].

use super::thrift::variable;

/// Reads the numbers of a part of a page.
#[derive(Debug, Default)]
pub(super) struct Runs {
    /// The place of the next run, and the end of the last one.
    next: usize,
    end: usize,
    /// The bits of a number.
    width: u32,
    run: Run,
    /// The numbers left in the run.
    left: u64,
}

#[derive(Debug)]
enum Run {
    /// Of one value.
    Same(u32),
    /// The place of the next value in bits.
    Packed(usize),
}

impl Default for Run {
    fn default() -> Self {
        Self::Same(0)
    }
}

impl Runs {
    /// Numbers of `width` bits, at most 32, in the bytes from `next` to `end`.
    pub(super) fn new(next: usize, end: usize, width: u32) -> Self {
        Self {
            next,
            end,
            width: width.min(u32::BITS),
            ..Self::default()
        }
    }

    /// The next number; `None` at the end of the last run, or where the runs are damaged.
    pub(super) fn next(&mut self, page: &[u8]) -> Option<u32> {
        while self.left == 0 {
            let head = variable(&mut || self.byte(page))?;
            self.left = head >> 1;
            self.run = match head & 1 {
                0 => {
                    let mut value = 0;
                    for byte in 0..self.width.div_ceil(8) {
                        value |= u32::from(self.byte(page)?) << (8 * byte);
                    }
                    Run::Same(value)
                }
                _ => {
                    // Groups of eight values.
                    let bytes = usize::try_from(self.left).ok()?;
                    let bytes = bytes.checked_mul(self.width as usize)?;
                    self.left = self.left.checked_mul(8)?;
                    let first = self.next;
                    self.next = first.checked_add(bytes)?;
                    if self.next > self.end {
                        return None;
                    }
                    Run::Packed(first.checked_mul(8)?)
                }
            };
        }
        self.left -= 1;
        match &mut self.run {
            Run::Same(value) => Some(*value),
            Run::Packed(bit) => {
                let (byte, offset) = (*bit / 8, *bit % 8);
                *bit += self.width as usize;
                let mut bits = 0u64;
                for (place, value) in page.get(byte..)?.iter().take(5).enumerate() {
                    bits |= u64::from(*value) << (8 * place);
                }
                u32::try_from((bits >> offset) & ((1 << self.width) - 1)).ok()
            }
        }
    }

    fn byte(&mut self, page: &[u8]) -> Option<u8> {
        let place = (self.next < self.end).then_some(self.next)?;
        self.next += 1;
        page.get(place).copied()
    }
}
