//! The agenda: which element of the network acts next.

use units::Time;

/// The next instant of every element.
///
/// An element has one entry, which moves, so the agenda never grows. Equal
/// instants are ordered by the numbers of their elements. Entries are kept in
/// wheels within wheels [Varghese1987]: a slot of a wheel is a turn of the next
/// finer one, and entries are sorted only when their turn comes and they are
/// few. An entry that is put off stays where it is until its old instant comes:
/// a retransmission timer is put off by every acknowledgement.
pub(crate) struct Agenda {
    entries: Vec<Entry>,
    /// What comes before `until`, the earliest last: an instant with an
    /// element's number behind it.
    near: Vec<(u64, u32)>,
    until: u64,
    /// The beginning of what is near. All that is not near differs from it in
    /// a higher digit than those that follow the slot of what is near.
    position: u64,
    /// The first entry of each slot, wheel by wheel, the finest first.
    slots: Vec<u32>,
    /// Which slots of a wheel have entries, bit by bit.
    taken: [u64; WHEELS],
}

/// Where an element stands.
#[derive(Clone, Copy)]
struct Entry {
    /// When it acts.
    due: u64,
    /// The instant under which it is kept, which is no later.
    kept: u64,
    /// Its neighbours in its slot.
    next: u32,
    previous: u32,
    slot: u16,
}

/// Bits of an instant that choose a slot of a wheel.
const BITS: u32 = 6;
/// Slots of a wheel.
const SLOTS: usize = 1 << BITS;
/// Wheels, so that there is a place for every instant.
const WHEELS: usize = u64::BITS.div_ceil(BITS) as usize;
/// As many entries of a slot are sorted at once; more are spread over the next
/// finer wheel.
const FEW: usize = 24;

/// An instant that does not come.
const NEVER: u64 = u64::MAX;
/// No element.
const NOBODY: u32 = u32::MAX;
/// The slot of those that are near.
const NEAR: u16 = u16::MAX;

impl Agenda {
    /// An empty agenda of so many elements.
    pub(crate) fn new(elements: u32) -> Self {
        let nothing = Entry {
            due: NEVER,
            kept: NEVER,
            next: NOBODY,
            previous: NOBODY,
            slot: NEAR,
        };
        Self {
            entries: vec![nothing; elements as usize],
            near: Vec::new(),
            until: 0,
            position: 0,
            slots: vec![NOBODY; WHEELS * SLOTS],
            taken: [0; WHEELS],
        }
    }

    /// Lets `element` act at `at` and not before; with `None` not at all.
    pub(crate) fn set(&mut self, element: usize, at: Option<Time>) {
        let due = at.map_or(NEVER, Time::as_picos);
        let entry = &mut self.entries[element];
        entry.due = due;
        if entry.kept > due {
            if entry.kept < NEVER {
                self.take_out(element);
            }
            self.put_in(element, due);
        }
    }

    /// Who acts next, and when.
    pub(crate) fn first(&mut self) -> Option<(Time, usize)> {
        loop {
            let Some(&(kept, number)) = self.near.last() else {
                if !self.refill() {
                    return None;
                }
                continue;
            };
            let element = number as usize;
            let due = self.entries[element].due;
            if due == kept {
                return Some((Time::from_picos(due), element));
            }
            // It was put off.
            self.near.pop();
            self.entries[element].kept = NEVER;
            if due < NEVER {
                self.put_in(element, due);
            }
        }
    }

    /// Keeps an entry under `at`.
    fn put_in(&mut self, element: usize, at: u64) {
        let number = number(element);
        self.entries[element].kept = at;
        if at < self.until {
            let new = (at, number);
            let place = self.near.iter().rposition(|old| *old > new);
            self.near.insert(place.map_or(0, |place| place + 1), new);
            self.entries[element].slot = NEAR;
            return;
        }
        let wheel = (at ^ self.position).checked_ilog2().unwrap_or(0) / BITS;
        self.file(number, wheel as usize, digit_at(at, wheel * BITS));
    }

    /// Puts an entry into a slot of a wheel.
    fn file(&mut self, number: u32, wheel: usize, digit: usize) {
        let slot = wheel * SLOTS + digit;
        let next = std::mem::replace(&mut self.slots[slot], number);
        self.taken[wheel] |= 1 << digit;
        let entry = &mut self.entries[number as usize];
        (entry.next, entry.previous) = (next, NOBODY);
        entry.slot = u16::try_from(slot).expect("there are fewer slots");
        if next != NOBODY {
            self.entries[next as usize].previous = number;
        }
    }

    /// Takes an entry out of where it is kept.
    fn take_out(&mut self, element: usize) {
        let Entry {
            kept,
            next,
            previous,
            slot,
            ..
        } = self.entries[element];
        if slot == NEAR {
            let old = (kept, number(element));
            let place = self.near.iter().rposition(|one| *one == old);
            self.near.remove(place.expect("it is near"));
            return;
        }
        if next != NOBODY {
            self.entries[next as usize].previous = previous;
        }
        if previous != NOBODY {
            self.entries[previous as usize].next = next;
            return;
        }
        let slot = usize::from(slot);
        self.slots[slot] = next;
        if next == NOBODY {
            self.taken[slot / SLOTS] &= !(1 << (slot % SLOTS));
        }
    }

    /// Makes the earliest entries near; returns whether there are any.
    fn refill(&mut self) -> bool {
        while let Some(wheel) = self.taken.iter().position(|taken| *taken != 0) {
            let digit = self.taken[wheel].trailing_zeros();
            let slot = wheel * SLOTS + digit as usize;
            self.taken[wheel] &= self.taken[wheel] - 1;
            let first = std::mem::replace(&mut self.slots[slot], NOBODY);
            let shift = u32::try_from(wheel).expect("there are few wheels") * BITS;
            // Coarser digits are those of before.
            let above = self.position.checked_shr(shift + BITS).unwrap_or(0);
            let coarse = above.checked_shl(shift + BITS).unwrap_or(0);
            self.position = coarse | u64::from(digit) << shift;
            if wheel == 0 || self.are_few(first) {
                self.until = self.position.saturating_add(1 << shift);
                self.approach(first);
                return true;
            }
            let mut at = first;
            while at != NOBODY {
                let Entry { kept, next, .. } = self.entries[at as usize];
                self.file(at, wheel - 1, digit_at(kept, shift - BITS));
                at = next;
            }
        }
        false
    }

    /// Whether a slot that begins with `first` has few entries.
    fn are_few(&self, first: u32) -> bool {
        let mut at = first;
        for _ in 0..FEW {
            if at == NOBODY {
                return true;
            }
            at = self.entries[at as usize].next;
        }
        at == NOBODY
    }

    /// Makes the entries of a slot that begins with `first` near.
    fn approach(&mut self, first: u32) {
        let mut at = first;
        while at != NOBODY {
            let entry = &mut self.entries[at as usize];
            entry.slot = NEAR;
            self.near.push((entry.kept, at));
            at = entry.next;
        }
        self.near.sort_unstable_by(|one, other| other.cmp(one));
    }
}

/// The digit of `at` that begins with bit `shift`: its slot in a wheel.
fn digit_at(at: u64, shift: u32) -> usize {
    const LAST: u64 = (1 << BITS) - 1;
    usize::try_from(at >> shift & LAST).expect("a digit is small")
}

fn number(element: usize) -> u32 {
    u32::try_from(element).expect("checked with the scenario")
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
