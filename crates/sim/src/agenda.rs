//! The agenda: which element of the network acts next.

use units::Time;

/// The next instant of every element, and at its root the earliest of all.
///
/// An element has one entry, which moves; so nothing on the agenda is ever out
/// of date, and its size never changes. Equal instants are ordered by the
/// numbers of their elements. It is a tournament: to move an entry is to play
/// its matches again, until one ends as before.
pub(crate) struct Agenda {
    leaves: usize,
    /// From 1 on: the winner of two, below it those two; the second half are
    /// the elements. Each is an instant with an element's number behind it, so
    /// that the smaller one wins.
    entries: Vec<u128>,
}

/// Bits of an entry that are the element's number.
const NUMBER: u32 = 32;

/// An instant that does not come.
const NEVER: Time = Time::from_picos(u64::MAX);

impl Agenda {
    /// An empty agenda of so many elements.
    pub(crate) fn new(elements: u32) -> Self {
        let leaves = usize::try_from(elements).map_or(1, |elements| elements.next_power_of_two());
        let mut entries = vec![entry(NEVER, 0); leaves];
        entries.extend((0..).take(leaves).map(|element| entry(NEVER, element)));
        for at in (1..leaves).rev() {
            entries[at] = entries[2 * at];
        }
        Self { leaves, entries }
    }

    /// Lets `element` act at `at` and not before; with `None` not at all.
    pub(crate) fn set(&mut self, element: usize, at: Option<Time>) {
        let mut place = self.leaves + element;
        self.entries[place] = entry(at.unwrap_or(NEVER), element as u64);
        while place > 1 {
            let winner = self.entries[place].min(self.entries[place ^ 1]);
            place /= 2;
            if self.entries[place] == winner {
                return;
            }
            self.entries[place] = winner;
        }
    }

    /// Who acts next, and when.
    pub(crate) fn first(&self) -> Option<(Time, usize)> {
        let root = self.entries[1];
        #[expect(clippy::cast_possible_truncation, reason = "put together below")]
        let (at, element) = (Time::from_picos((root >> NUMBER) as u64), root as u32);
        (at < NEVER).then_some((at, element as usize))
    }
}

fn entry(at: Time, element: u64) -> u128 {
    (u128::from(at.as_picos()) << NUMBER) | u128::from(element)
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
    }
}
