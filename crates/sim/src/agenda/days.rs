//! The notes of the days to come.

use super::Note;

/// The next days, each with its notes in no order.
pub(super) struct Days {
    /// The first note of each day, by the day's last bits.
    firsts: Vec<u32>,
    /// Which of them have any, and of which sixty-four some have.
    taken: [u64; WORDS],
    words: u64,
    notes: Vec<Kept>,
    /// The first of the notes that are free.
    free: u32,
}

/// A note, and the next of its day.
#[derive(Clone, Copy)]
struct Kept {
    note: Note,
    next: u32,
}

const WORDS: usize = u64::BITS as usize;
/// No note.
const NONE: u32 = u32::MAX;

impl Days {
    /// How many days there are.
    pub(super) const COUNT: u64 = u64::BITS as u64 * WORDS as u64;

    /// Days without a note.
    pub(super) fn new() -> Self {
        Self {
            firsts: vec![NONE; WORDS * WORDS],
            taken: [0; WORDS],
            words: 0,
            notes: Vec::new(),
            free: NONE,
        }
    }

    /// Keeps a note of `day`, which is one of the next.
    #[inline]
    pub(super) fn put_in(&mut self, day: u64, note: Note) {
        let day = place(day);
        let kept = Kept {
            note,
            next: std::mem::replace(&mut self.firsts[day], self.free),
        };
        match self.notes.get_mut(self.free as usize) {
            Some(place) => self.free = std::mem::replace(place, kept).next,
            None => {
                let new = u32::try_from(self.notes.len()).expect("memory ends before");
                self.firsts[day] = new;
                self.notes.push(kept);
            }
        }
        self.taken[day / WORDS] |= 1 << (day % WORDS);
        self.words |= 1 << (day / WORDS);
    }

    /// Takes a note of `day`.
    #[inline]
    pub(super) fn take(&mut self, day: u64) -> Option<Note> {
        let day = place(day);
        let first = self.firsts[day];
        let kept = self.notes.get_mut(first as usize)?;
        let Kept { note, next } = *kept;
        kept.next = std::mem::replace(&mut self.free, first);
        self.firsts[day] = next;
        if next == NONE {
            self.taken[day / WORDS] &= !(1 << (day % WORDS));
            self.words &= !(u64::from(self.taken[day / WORDS] == 0) << (day / WORDS));
        }
        Some(note)
    }

    /// The next day after `day` that has notes.
    #[inline]
    pub(super) fn after(&self, day: u64) -> Option<u64> {
        let from = place(day + 1);
        let here = self.taken[from / WORDS] & (u64::MAX << (from % WORDS));
        let found = if here != 0 {
            from / WORDS * WORDS + bit(here)
        } else {
            // In the words behind, else from the first on: the days go round.
            let behind = self.words >> (from / WORDS) >> 1;
            let word = match behind {
                0 if self.words == 0 => return None,
                0 => bit(self.words),
                _ => from / WORDS + 1 + bit(behind),
            };
            word * WORDS + bit(self.taken[word])
        };
        let ahead = (found + WORDS * WORDS - from) % (WORDS * WORDS);
        Some(day + 1 + ahead as u64)
    }

    /// Takes all notes.
    pub(super) fn take_all(&mut self, notes: &mut Vec<Note>) {
        for word in 0..WORDS {
            while self.taken[word] != 0 {
                let day = word * WORDS + bit(self.taken[word]);
                while let Some(note) = self.take(day as u64) {
                    notes.push(note);
                }
            }
        }
    }
}

/// Where a day is.
const fn place(day: u64) -> usize {
    (day % Days::COUNT) as usize
}

/// The number of the lowest bit.
const fn bit(word: u64) -> usize {
    word.trailing_zeros() as usize
}
