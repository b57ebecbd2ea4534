//! The notes of future buckets.

use super::Note;

/// The next buckets, each with its notes in no order.
pub(super) struct Buckets {
    /// The first note of each bucket, by the low bits of the bucket's number.
    firsts: Vec<u32>,
    /// Bitmap of the buckets with notes, and of the words that are not zero.
    taken: [u64; WORDS],
    words: u64,
    notes: Vec<Kept>,
    /// The first free note.
    free: u32,
}

/// A note, and the next one of its bucket.
#[derive(Clone, Copy)]
struct Kept {
    note: Note,
    next: u32,
}

const WORDS: usize = u64::BITS as usize;
/// Stands for "no note".
const NONE: u32 = u32::MAX;

impl Buckets {
    /// The number of buckets.
    pub(super) const COUNT: u64 = u64::BITS as u64 * WORDS as u64;

    /// Empty buckets.
    pub(super) fn new() -> Self {
        Self {
            firsts: vec![NONE; WORDS * WORDS],
            taken: [0; WORDS],
            words: 0,
            notes: Vec::new(),
            free: NONE,
        }
    }

    /// Stores a note of `bucket`, which must be one of the next [`Buckets::COUNT`].
    #[inline]
    pub(super) fn put_in(&mut self, bucket: u64, note: Note) {
        let bucket = place(bucket);
        let kept = Kept {
            note,
            next: std::mem::replace(&mut self.firsts[bucket], self.free),
        };
        match self.notes.get_mut(self.free as usize) {
            Some(place) => self.free = std::mem::replace(place, kept).next,
            None => {
                let new = u32::try_from(self.notes.len()).expect("memory ends before");
                self.firsts[bucket] = new;
                self.notes.push(kept);
            }
        }
        self.taken[bucket / WORDS] |= 1 << (bucket % WORDS);
        self.words |= 1 << (bucket / WORDS);
    }

    /// Removes a note of `bucket`.
    #[inline]
    pub(super) fn take(&mut self, bucket: u64) -> Option<Note> {
        let bucket = place(bucket);
        let first = self.firsts[bucket];
        let kept = self.notes.get_mut(first as usize)?;
        let Kept { note, next } = *kept;
        kept.next = std::mem::replace(&mut self.free, first);
        self.firsts[bucket] = next;
        if next == NONE {
            self.taken[bucket / WORDS] &= !(1 << (bucket % WORDS));
            self.words &= !(u64::from(self.taken[bucket / WORDS] == 0) << (bucket / WORDS));
        }
        Some(note)
    }

    /// The next bucket after `bucket` with notes.
    #[inline]
    pub(super) fn after(&self, bucket: u64) -> Option<u64> {
        let from = place(bucket + 1);
        let here = self.taken[from / WORDS] & (u64::MAX << (from % WORDS));
        let found = if here != 0 {
            from / WORDS * WORDS + bit(here)
        } else {
            // In the following words, or else from the first word on: buckets are
            // cyclic.
            let behind = self.words >> (from / WORDS) >> 1;
            let word = match behind {
                0 if self.words == 0 => return None,
                0 => bit(self.words),
                _ => from / WORDS + 1 + bit(behind),
            };
            word * WORDS + bit(self.taken[word])
        };
        let ahead = (found + WORDS * WORDS - from) % (WORDS * WORDS);
        Some(bucket + 1 + ahead as u64)
    }

    /// Removes all notes.
    pub(super) fn take_all(&mut self, notes: &mut Vec<Note>) {
        for word in 0..WORDS {
            while self.taken[word] != 0 {
                let bucket = word * WORDS + bit(self.taken[word]);
                while let Some(note) = self.take(bucket as u64) {
                    notes.push(note);
                }
            }
        }
    }
}

/// The index of a bucket.
const fn place(bucket: u64) -> usize {
    (bucket % Buckets::COUNT) as usize
}

/// The index of the lowest set bit.
const fn bit(word: u64) -> usize {
    word.trailing_zeros() as usize
}
