//! The earliest times of the remaining blocks of a log.

/// The largest number of entries: 512 KiB of memory.
const MOST_ENTRIES: usize = 1 << 16;

/// Lower bounds of the times in a log's blocks of records. A long log has one entry
/// for several successive blocks.
#[derive(Debug)]
pub(super) struct Horizon {
    blocks_per_entry: usize,
    blocks: usize,
    /// The least time of each entry's blocks; after [`Horizon::close`] that of all
    /// blocks from there on.
    least: Vec<u64>,
}

impl Horizon {
    pub(super) fn new() -> Self {
        Self {
            blocks_per_entry: 1,
            blocks: 0,
            least: Vec::new(),
        }
    }

    /// Adds the next block, whose times are at or after `least`.
    pub(super) fn push(&mut self, least: u64) {
        if self.blocks.is_multiple_of(self.blocks_per_entry) {
            if self.least.len() == MOST_ENTRIES {
                self.halve();
            }
            self.least.push(u64::MAX);
        }
        if let Some(last) = self.least.last_mut() {
            *last = least.min(*last);
        }
        self.blocks += 1;
    }

    /// The number of blocks.
    pub(super) const fn blocks(&self) -> usize {
        self.blocks
    }

    /// Ends the log: each entry becomes the least of itself and those behind it.
    pub(super) fn close(&mut self) {
        let mut behind = u64::MAX;
        for least in self.least.iter_mut().rev() {
            behind = behind.min(*least);
            *least = behind;
        }
    }

    /// A lower bound of the times in all blocks behind the first `blocks`; `None` if
    /// there are no more.
    pub(super) fn after(&self, blocks: usize) -> Option<u64> {
        // An entry that is partly behind counts as a whole.
        let entry = self.least.get(blocks / self.blocks_per_entry);
        entry.copied().filter(|_| blocks < self.blocks)
    }

    fn halve(&mut self) {
        self.least = self
            .least
            .chunks(2)
            .map(|pair| pair.iter().copied().min().unwrap_or(u64::MAX))
            .collect();
        self.blocks_per_entry *= 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_below_all_later_blocks_however_long_the_log_is() {
        let blocks = 5 * MOST_ENTRIES + 3;
        // Each pair of blocks has changed places.
        let instant = |block: usize| (block ^ 1) as u64;
        let mut horizon = Horizon::new();
        (0..blocks).for_each(|block| horizon.push(instant(block)));
        horizon.close();
        assert!(horizon.least.len() <= MOST_ENTRIES);
        for done in (0..blocks).step_by(997) {
            let bound = horizon.after(done).unwrap();
            assert!(bound <= instant(done) && bound <= instant(done + 1));
            assert!(bound + 20 >= done as u64, "{bound} after {done}");
        }
        assert_eq!(horizon.after(blocks), None);
    }
}
