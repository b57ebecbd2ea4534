//! The window that lets each sealed bundle in once [RFC4303 s3.4.3], as a ring of words
//! of bits [RFC6479 s2].

/// Words of the ring.
const WORDS: usize = 64;
const BITS: u64 = 64;
/// The numbers behind the latest one that are still told apart. The ring has a word more
/// than that, because the word of the latest number is in use in part.
const SIZE: u64 = (WORDS as u64 - 1) * BITS;

/// Which numbers came.
#[derive(Clone, Debug)]
pub(super) struct Window {
    /// The lowest number above all that came.
    next: u64,
    seen: [u64; WORDS],
}

impl Window {
    pub(super) const fn new() -> Self {
        Self {
            next: 0,
            seen: [0; WORDS],
        }
    }

    /// Whether `number` is new, and not too old to tell.
    pub(super) fn is_new(&self, number: u64) -> bool {
        if number >= self.next {
            return true;
        }
        number + SIZE >= self.next && self.seen[word(number)] & bit(number) == 0
    }

    /// Notes `number`, which is new and authentic.
    pub(super) fn note(&mut self, number: u64) {
        if number >= self.next {
            let (last, new) = (self.next.saturating_sub(1) / BITS, number / BITS);
            for cleared in (last + 1..=new).rev().take(WORDS) {
                self.seen[word(cleared * BITS)] = 0;
            }
            self.next = number.saturating_add(1);
        }
        self.seen[word(number)] |= bit(number);
    }
}

fn word(number: u64) -> usize {
    usize::try_from(number / BITS % WORDS as u64).unwrap_or(0)
}

const fn bit(number: u64) -> u64 {
    1 << (number % BITS)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn each_number_passes_once_and_none_that_is_too_old(
            steps in prop::collection::vec((any::<bool>(), prop_oneof![0u64..5, 0u64..200, 0u64..9_000]), 1..300),
        ) {
            let (mut window, mut seen, mut next) = (Window::new(), BTreeSet::new(), 0u64);
            for (ahead, by) in steps {
                let number = if ahead { next + by } else { next.saturating_sub(by) };
                let new = window.is_new(number);
                if number + SIZE >= next {
                    prop_assert_eq!(new, !seen.contains(&number), "{} of {}", number, next);
                } else {
                    prop_assert!(!new);
                }
                if new {
                    window.note(number);
                    seen.insert(number);
                    next = next.max(number + 1);
                }
            }
        }
    }
}
