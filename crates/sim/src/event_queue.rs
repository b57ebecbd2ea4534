//! The event queue: which element of the network acts next.

mod buckets;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

use buckets::Buckets;

/// The next instant of every element.
///
/// Equal instants are ordered by the numbers of their elements. Who acts when
/// stands in notes. A calendar queue [Brown1988] keeps those of the next few thousand
/// buckets, a heap those of later ones; only the notes of the current bucket are
/// sorted. A note that is put off stays where it is until its old instant
/// comes: a retransmission timer is put off by every acknowledgement. One that
/// is brought forward stays too, beside a new one, and is thrown away when its
/// instant comes.
pub(crate) struct EventQueue {
    /// Of each element when it acts, and the earliest note of it.
    entries: Vec<Entry>,
    /// Notes of the current bucket and of buckets before, the earliest last.
    current: Vec<Note>,
    /// Which bucket it is: instants without their lower `shift` bits.
    bucket: u64,
    /// How long a bucket is.
    shift: u32,
    buckets: Buckets,
    later: BinaryHeap<Reverse<Note>>,
    /// Buckets that were begun, and their notes, since a bucket's length was last
    /// thought about.
    begun: u32,
    noted: u32,
}

/// Where an element stands.
#[derive(Clone, Copy)]
struct Entry {
    /// When it acts.
    due: u64,
    /// The instant of its note, which is no later.
    noted: u64,
}

/// Who acts when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Note {
    at: u64,
    element: u32,
}

/// An instant that does not come.
const NEVER: u64 = u64::MAX;
/// A bucket of 2^24 ps, 17 us, to begin with.
const SHIFT: u32 = 24;
/// After so many buckets their length is thought about.
const REVIEW: u32 = 1_024;
/// So many notes a bucket, on average, are as many as should be, and as few.
const MOST: u32 = 4;
const FEWEST: u32 = 2;

impl EventQueue {
    /// An empty event queue of so many elements.
    pub(crate) fn new(elements: u32) -> Self {
        let nothing = Entry {
            due: NEVER,
            noted: NEVER,
        };
        Self {
            entries: vec![nothing; elements as usize],
            current: Vec::new(),
            bucket: 0,
            shift: SHIFT,
            buckets: Buckets::new(),
            later: BinaryHeap::new(),
            begun: 0,
            noted: 0,
        }
    }

    /// Lets `element` act at `at` and not before; with `None` not at all.
    #[inline]
    pub(crate) fn set(&mut self, element: usize, at: Option<Time>) {
        let due = at.map_or(NEVER, Time::as_picos);
        let entry = &mut self.entries[element];
        entry.due = due;
        if due < entry.noted {
            entry.noted = due;
            let element = u32::try_from(element).expect("checked with the scenario");
            self.put_in(Note { at: due, element });
        }
    }

    /// Who acts next, and when.
    #[inline]
    pub(crate) fn first(&mut self) -> Option<(Time, usize)> {
        loop {
            let Some(&Note { at, element }) = self.current.last() else {
                if !self.begin_day() {
                    return None;
                }
                continue;
            };
            let entry = &mut self.entries[element as usize];
            if entry.due == at {
                return Some((Time::from_picos(at), element as usize));
            }
            self.current.pop();
            if entry.noted == at {
                // It was put off, perhaps for ever.
                entry.noted = entry.due;
                let at = entry.due;
                if at < NEVER {
                    self.put_in(Note { at, element });
                }
            }
        }
    }

    /// Puts a note where its bucket is.
    #[inline]
    fn put_in(&mut self, note: Note) {
        let bucket = note.at >> self.shift;
        if bucket <= self.bucket {
            self.put_into_current(note);
        } else if bucket - self.bucket < Buckets::COUNT {
            self.buckets.put_in(bucket, note);
        } else {
            self.later.push(Reverse(note));
        }
    }

    /// Puts a note among the few of the current bucket.
    #[inline]
    fn put_into_current(&mut self, note: Note) {
        let mut place = self.current.len();
        self.current.push(note);
        while place > 0 && self.current[place - 1] < note {
            self.current[place] = self.current[place - 1];
            place -= 1;
        }
        self.current[place] = note;
    }

    /// Goes on to the next bucket that has notes; returns whether there is one.
    fn begin_day(&mut self) -> bool {
        let later = self.later.peek();
        let later = later.map(|note| note.0.at >> self.shift);
        let next = match (self.buckets.after(self.bucket), later) {
            (Some(bucket), Some(later)) => bucket.min(later),
            (Some(bucket), None) | (None, Some(bucket)) => bucket,
            (None, None) => return false,
        };
        self.bucket = next;
        while let Some(Reverse(note)) = self.later.peek().copied()
            && (note.at >> self.shift) - next < Buckets::COUNT
        {
            self.later.pop();
            self.put_in(note);
        }
        while let Some(note) = self.buckets.take(next) {
            self.put_into_current(note);
            self.noted += 1;
            if self.noted == REVIEW * MOST {
                break;
            }
        }
        self.begun += 1;
        if self.begun == REVIEW || self.noted == REVIEW * MOST {
            self.review();
        }
        true
    }

    /// Makes buckets shorter if they have many notes, longer if they have few.
    fn review(&mut self) {
        let each = self.noted / self.begun;
        (self.begun, self.noted) = (0, 0);
        let shift = match each {
            MOST.. => self.shift.saturating_sub(each.ilog2() - 1),
            ..FEWEST => (self.shift + 1).min(u64::BITS - 1),
            _ => return,
        };
        let mut notes = std::mem::take(&mut self.current);
        self.buckets.take_all(&mut notes);
        notes.extend(self.later.drain().map(|note| note.0));
        notes.sort_unstable_by(|one, other| other.cmp(one));
        self.shift = shift;
        // No note is of a bucket before the earliest.
        self.bucket = notes.last().map_or(0, |earliest| earliest.at >> shift);
        for note in notes {
            self.put_in(note);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_earliest_is_first_and_of_equals_the_lowest(
            elements in 1u32..40,
            moves in prop::collection::vec((0usize..40, prop::option::of(0u64..20)), 0..300),
        ) {
            let mut event_queue = EventQueue::new(elements);
            let mut plain = vec![None; elements as usize];
            for (element, at) in moves {
                let element = element % plain.len();
                let at = at.map(Time::from_nanos);
                event_queue.set(element, at);
                plain[element] = at;
                let first = plain.iter().zip(0usize..).filter_map(|(at, of)| Some(((*at)?, of))).min();
                prop_assert_eq!(event_queue.first(), first);
            }
        }

        #[test]
        fn over_any_spans_everyone_acts_in_turn(
            elements in 1u32..80,
            spans in prop::collection::vec((0u32..64, any::<u64>(), 0usize..80), 1..400),
        ) {
            let mut event_queue = EventQueue::new(elements);
            let mut plain = vec![None; elements as usize];
            let mut now = 0u64;
            for (bits, span, other) in spans {
                let first = plain.iter().zip(0usize..).filter_map(|(at, of)| Some(((*at)?, of))).min();
                prop_assert_eq!(event_queue.first(), first);
                // Whoever acts goes on later, and lets another one act.
                if let Some((at, element)) = first {
                    now = at.as_picos();
                    event_queue.set(element, None);
                    plain[element] = None;
                }
                let other = other % plain.len();
                let at = now.checked_add(span >> bits).filter(|at| *at < NEVER);
                let at = at.map(Time::from_picos);
                event_queue.set(other, at);
                plain[other] = at;
            }
        }
    }
}
