//! The event queue: the next instant of every element.

mod buckets;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

use buckets::Buckets;

/// The next instant of every element, kept in notes of instant and element. Equal
/// instants are ordered by element number.
///
/// A calendar queue [Brown1988] holds the notes of the next few thousand buckets, a
/// heap holds later ones; only the notes of the current bucket are sorted. If an
/// element is postponed, its note stays until its old instant and is then replaced:
/// every acknowledgement postpones a retransmission timer. If an element is advanced, a
/// second note is added, and the old one is discarded at its instant.
pub(crate) struct EventQueue {
    /// For each element its next instant, and its earliest note.
    entries: Vec<Entry>,
    /// The latest instant until which all is known to have been executed.
    now: u64,
    /// Notes of the current and earlier buckets, the earliest last.
    current: Vec<Note>,
    /// Number of the current bucket: instants without their lower `shift` bits.
    bucket: u64,
    /// Length of a bucket, as a power of two of picoseconds.
    shift: u32,
    buckets: Buckets,
    later: BinaryHeap<Reverse<Note>>,
    /// The next bucket with notes, in the calendar or the heap; [`NEVER`] if there is
    /// none.
    upcoming: u64,
    /// Buckets begun, and notes in them, since the last review of the bucket length.
    begun: u32,
    noted: u32,
}

/// The state of an element.
#[derive(Clone, Copy)]
struct Entry {
    /// The instant at which it acts.
    due: u64,
    /// The instant of its note, which is no later.
    noted: u64,
}

/// An instant and its element.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Note {
    at: u64,
    element: u32,
}

/// Stands for "never".
const NEVER: u64 = u64::MAX;
/// The initial length of a bucket: 2^24 ps, 17 us.
const SHIFT: u32 = 24;
/// Number of buckets between two reviews of their length.
const REVIEW: u32 = 1_024;
/// Mean number of notes per bucket from which buckets are shortened; below `FEWEST` they
/// are lengthened.
const MOST: u32 = 4;
const FEWEST: u32 = 2;

impl EventQueue {
    /// An empty event queue for `elements` elements.
    pub(crate) fn new(elements: u32) -> Self {
        let nothing = Entry {
            due: NEVER,
            noted: NEVER,
        };
        Self {
            entries: vec![nothing; elements as usize],
            now: 0,
            current: Vec::new(),
            bucket: 0,
            shift: SHIFT,
            buckets: Buckets::new(),
            later: BinaryHeap::new(),
            upcoming: NEVER,
            begun: 0,
            noted: 0,
        }
    }

    /// Schedules `element` for `at` instead of its former instant; `None`: never.
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

    /// The instant for which `element` is scheduled; later than all others if there is
    /// none.
    #[inline]
    pub(crate) fn due(&self, element: usize) -> Time {
        Time::from_picos(self.entries[element].due)
    }

    /// The next instant and its element, if it is no later than `limit`.
    #[inline]
    pub(crate) fn first(&mut self, limit: Time) -> Option<(Time, usize)> {
        let limit = limit.as_picos();
        loop {
            let Some(&Note { at, element }) = self.current.last() else {
                if self.upcoming > limit >> self.shift || !self.begin_day() {
                    self.executed_until(limit);
                    return None;
                }
                continue;
            };
            if at > limit {
                self.executed_until(limit);
                return None;
            }
            let entry = &mut self.entries[element as usize];
            if entry.due == at {
                self.now = at;
                return Some((Time::from_picos(at), element as usize));
            }
            self.current.pop();
            if entry.noted == at {
                // The element was postponed, perhaps indefinitely.
                entry.noted = entry.due;
                let at = entry.due;
                if at < NEVER {
                    self.put_in(Note { at, element });
                }
            }
        }
    }

    /// Puts a note into its bucket.
    fn put_in(&mut self, note: Note) {
        let bucket = note.at >> self.shift;
        if bucket.saturating_sub(self.bucket) >= Buckets::COUNT {
            self.catch_up();
        }
        if bucket <= self.bucket {
            self.put_into_current(note);
            return;
        }
        self.upcoming = self.upcoming.min(bucket);
        if bucket - self.bucket < Buckets::COUNT {
            self.buckets.put_in(bucket, note);
        } else {
            self.later.push(Reverse(note));
        }
    }

    #[inline]
    fn executed_until(&mut self, limit: u64) {
        if limit < NEVER {
            self.now = limit;
        }
    }

    /// Advances to the present, if there were no notes until then.
    #[cold]
    fn catch_up(&mut self) {
        if self.current.is_empty() {
            let present = (self.now >> self.shift).min(self.upcoming.saturating_sub(1));
            self.bucket = self.bucket.max(present);
        }
    }

    /// Inserts a note into the sorted notes of the current bucket.
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

    /// Advances to the next bucket with notes. Returns whether there is one.
    fn begin_day(&mut self) -> bool {
        let next = self.upcoming;
        if next == NEVER {
            return false;
        }
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
        self.upcoming = self.find_upcoming();
        self.begun += 1;
        if self.begun == REVIEW || self.noted == REVIEW * MOST {
            self.review();
        }
        true
    }

    /// The next bucket with notes.
    fn find_upcoming(&self) -> u64 {
        let later = self.later.peek();
        let later = later.map_or(NEVER, |note| note.0.at >> self.shift);
        let bucket = self.buckets.after(self.bucket);
        bucket.unwrap_or(NEVER).min(later)
    }

    /// Shortens buckets with many notes, and lengthens buckets with few.
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
        // No note is in a bucket before the earliest, but some may be put there.
        let earliest = notes.last().map_or(0, |earliest| earliest.at);
        self.bucket = earliest.min(self.now) >> shift;
        self.upcoming = NEVER;
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
                prop_assert_eq!(event_queue.first(Time::from_picos(NEVER)), first);
            }
        }

        #[test]
        fn over_any_spans_everyone_acts_in_turn(
            elements in 1u32..80,
            spans in prop::collection::vec((0u32..64, any::<u64>(), 0usize..80), 1..400),
        ) {
            let mut event_queue = EventQueue::new(elements);
            let mut plain: Vec<Option<Time>> = vec![None; elements as usize];
            let mut now = 0u64;
            for (bits, span, other) in spans {
                let first = plain.iter().zip(0usize..).filter_map(|(at, of)| Some(((*at)?, of))).min();
                if let Some((at, _)) = first {
                    let before = at.as_picos().saturating_sub(1).max(now);
                    let none = event_queue.first(Time::from_picos(before)).is_none();
                    prop_assert_eq!(none, before < at.as_picos());
                }
                prop_assert_eq!(event_queue.first(Time::from_picos(NEVER)), first);
                // The element that acts reschedules itself and another one.
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
