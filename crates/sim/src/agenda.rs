//! The agenda: which element of the network acts next.

mod days;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use units::Time;

use days::Days;

/// The next instant of every element.
///
/// Equal instants are ordered by the numbers of their elements. Who acts when
/// stands in notes; those of the next few thousand days are kept by the day, as
/// in a calendar [Brown1988], later ones in a heap. Only the notes of today are
/// sorted. A note that is put off stays where it is until its old instant
/// comes: a retransmission timer is put off by every acknowledgement. One that
/// is brought forward stays too, beside a new one, and is thrown away when its
/// instant comes.
pub(crate) struct Agenda {
    /// Of each element when it acts, and the earliest note of it.
    entries: Vec<Entry>,
    /// Notes of today and of days before, the earliest last.
    today: Vec<Note>,
    /// Which day it is: instants without their lower `shift` bits.
    day: u64,
    /// How long a day is.
    shift: u32,
    days: Days,
    later: BinaryHeap<Reverse<Note>>,
    /// Days that were begun, and their notes, since a day's length was last
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
/// A day of 2^24 ps, 17 us, to begin with.
const SHIFT: u32 = 24;
/// After so many days their length is thought about.
const REVIEW: u32 = 1_024;
/// So many notes a day, on average, are as many as should be, and as few.
const MOST: u32 = 4;
const FEWEST: u32 = 2;

impl Agenda {
    /// An empty agenda of so many elements.
    pub(crate) fn new(elements: u32) -> Self {
        let nothing = Entry {
            due: NEVER,
            noted: NEVER,
        };
        Self {
            entries: vec![nothing; elements as usize],
            today: Vec::new(),
            day: 0,
            shift: SHIFT,
            days: Days::new(),
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
            let Some(&Note { at, element }) = self.today.last() else {
                if !self.begin_day() {
                    return None;
                }
                continue;
            };
            let entry = &mut self.entries[element as usize];
            if entry.due == at {
                return Some((Time::from_picos(at), element as usize));
            }
            self.today.pop();
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

    /// Puts a note where its day is.
    #[inline]
    fn put_in(&mut self, note: Note) {
        let day = note.at >> self.shift;
        if day <= self.day {
            self.put_into_today(note);
        } else if day - self.day < Days::COUNT {
            self.days.put_in(day, note);
        } else {
            self.later.push(Reverse(note));
        }
    }

    /// Puts a note among the few of today.
    #[inline]
    fn put_into_today(&mut self, note: Note) {
        let mut place = self.today.len();
        self.today.push(note);
        while place > 0 && self.today[place - 1] < note {
            self.today[place] = self.today[place - 1];
            place -= 1;
        }
        self.today[place] = note;
    }

    /// Goes on to the next day that has notes; returns whether there is one.
    fn begin_day(&mut self) -> bool {
        let later = self.later.peek();
        let later = later.map(|note| note.0.at >> self.shift);
        let next = match (self.days.after(self.day), later) {
            (Some(day), Some(later)) => day.min(later),
            (Some(day), None) | (None, Some(day)) => day,
            (None, None) => return false,
        };
        self.day = next;
        while let Some(Reverse(note)) = self.later.peek().copied()
            && (note.at >> self.shift) - next < Days::COUNT
        {
            self.later.pop();
            self.put_in(note);
        }
        while let Some(note) = self.days.take(next) {
            self.put_into_today(note);
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

    /// Makes days shorter if they have many notes, longer if they have few.
    fn review(&mut self) {
        let each = self.noted / self.begun;
        (self.begun, self.noted) = (0, 0);
        let shift = match each {
            MOST.. => self.shift.saturating_sub(each.ilog2() - 1),
            ..FEWEST => (self.shift + 1).min(u64::BITS - 1),
            _ => return,
        };
        let mut notes = std::mem::take(&mut self.today);
        self.days.take_all(&mut notes);
        notes.extend(self.later.drain().map(|note| note.0));
        notes.sort_unstable_by(|one, other| other.cmp(one));
        self.shift = shift;
        // No note is of a day before the earliest.
        self.day = notes.last().map_or(0, |earliest| earliest.at >> shift);
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
            let mut agenda = Agenda::new(elements);
            let mut plain = vec![None; elements as usize];
            for (element, at) in moves {
                let element = element % plain.len();
                let at = at.map(Time::from_nanos);
                agenda.set(element, at);
                plain[element] = at;
                let first = plain.iter().zip(0usize..).filter_map(|(at, of)| Some(((*at)?, of))).min();
                prop_assert_eq!(agenda.first(), first);
            }
        }

        #[test]
        fn over_any_spans_everyone_acts_in_turn(
            elements in 1u32..80,
            spans in prop::collection::vec((0u32..64, any::<u64>(), 0usize..80), 1..400),
        ) {
            let mut agenda = Agenda::new(elements);
            let mut plain = vec![None; elements as usize];
            let mut now = 0u64;
            for (bits, span, other) in spans {
                let first = plain.iter().zip(0usize..).filter_map(|(at, of)| Some(((*at)?, of))).min();
                prop_assert_eq!(agenda.first(), first);
                // Whoever acts goes on later, and lets another one act.
                if let Some((at, element)) = first {
                    now = at.as_picos();
                    agenda.set(element, None);
                    plain[element] = None;
                }
                let other = other % plain.len();
                let at = now.checked_add(span >> bits).filter(|at| *at < NEVER);
                let at = at.map(Time::from_picos);
                agenda.set(other, at);
                plain[other] = at;
            }
        }
    }
}
