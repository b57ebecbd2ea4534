//! The event queue: the next time of every element.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::collections::binary_heap::PeekMut;

use units::Time;

/// The next time of every element, in a heap of notes of time and element. Equal
/// times are ordered by element number.
///
/// If an element is postponed, its note stays until its old time and is then replaced:
/// every acknowledgement postpones a retransmission timer. If an element is advanced, a
/// second note is added, and the old one is discarded at its time.
pub(crate) struct EventQueue {
    /// For each element its next time, and its earliest note.
    entries: Vec<Entry>,
    notes: BinaryHeap<Reverse<Note>>,
}

/// The state of an element.
#[derive(Clone, Copy)]
struct Entry {
    /// The time at which it acts.
    due: Time,
    /// The time of its note, which is no later.
    noted: Time,
}

/// A time and its element.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Note {
    at: Time,
    element: u32,
}

/// Stands for "never".
const NEVER: Time = Time::from_picos(u64::MAX);

impl EventQueue {
    /// An empty event queue for `elements` elements.
    pub(crate) fn new(elements: u32) -> Self {
        let nothing = Entry {
            due: NEVER,
            noted: NEVER,
        };
        Self {
            entries: vec![nothing; elements as usize],
            notes: BinaryHeap::new(),
        }
    }

    /// Schedules `element` for `at` instead of its former time; `None`: never.
    #[inline]
    pub(crate) fn set(&mut self, element: usize, at: Option<Time>) {
        let entry = &mut self.entries[element];
        entry.due = at.unwrap_or(NEVER);
        if entry.due < entry.noted {
            entry.noted = entry.due;
            let element = u32::try_from(element).expect("checked with the scenario");
            let at = entry.due;
            self.notes.push(Reverse(Note { at, element }));
        }
    }

    /// The time for which `element` is scheduled; later than all others if there is
    /// none.
    #[inline]
    pub(crate) fn due(&self, element: usize) -> Time {
        self.entries[element].due
    }

    /// The next time and its element, if it is no later than `limit`.
    #[inline]
    pub(crate) fn first(&mut self, limit: Time) -> Option<(Time, usize)> {
        loop {
            let Reverse(Note { at, element }) = *self.notes.peek()?;
            if at > limit {
                return None;
            }
            if self.entries[element as usize].due == at {
                return Some((at, element as usize));
            }
            self.replace_first();
        }
    }

    /// Replaces the first note, at whose time its element does not act.
    fn replace_first(&mut self) {
        let Some(mut first) = self.notes.peek_mut() else {
            return;
        };
        let entry = &mut self.entries[first.0.element as usize];
        if entry.noted == first.0.at {
            // The element was postponed, perhaps indefinitely.
            entry.noted = entry.due;
            if entry.due < NEVER {
                first.0.at = entry.due;
                return;
            }
        }
        PeekMut::pop(first);
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
                prop_assert_eq!(event_queue.first(NEVER), first);
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
                prop_assert_eq!(event_queue.first(NEVER), first);
                // The element that acts reschedules itself and another one.
                if let Some((at, element)) = first {
                    now = at.as_picos();
                    event_queue.set(element, None);
                    plain[element] = None;
                }
                let other = other % plain.len();
                let at = now.checked_add(span >> bits).filter(|at| *at < u64::MAX);
                let at = at.map(Time::from_picos);
                event_queue.set(other, at);
                plain[other] = at;
            }
        }
    }
}
