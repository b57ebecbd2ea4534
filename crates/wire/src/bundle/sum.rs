//! Internet checksums of what is changed in places, without reading the rest
//! [RFC1624] [RFC1071 s2].

use crate::too_big::Checksum;

/// A sum in one's complement arithmetic, modulo 65535: of it things can be
/// taken away again. Zero and 65535 are the same number.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sum(u16);

impl Sum {
    /// What `checksum` is the complement of.
    pub(super) const fn behind(checksum: u16) -> Self {
        Self(!checksum)
    }

    /// Of `octets`, the first of which is at an even place.
    pub(super) fn of(octets: &[u8]) -> Self {
        Checksum::default().add(octets).into()
    }

    /// Of one 16-bit number.
    pub(super) const fn word(word: u16) -> Self {
        Self(word)
    }

    pub(super) const fn plus(self, other: Self) -> Self {
        let (sum, carry) = self.0.overflowing_add(other.0);
        // No carry comes out of the second addition.
        Self(sum.wrapping_add(carry as u16))
    }

    pub(super) const fn minus(self, other: Self) -> Self {
        self.plus(Self(!other.0))
    }

    /// Of the same octets moved by an odd number of places: the sum with its
    /// octets exchanged [RFC1071 s2].
    pub(super) const fn moved(self, by: usize) -> Self {
        match by % 2 {
            0 => self,
            _ => Self(self.0.swap_bytes()),
        }
    }

    /// What stands in a header.
    pub(super) const fn checksum(self) -> u16 {
        !self.0
    }
}

impl From<Checksum> for Sum {
    fn from(checksum: Checksum) -> Self {
        Self::behind(checksum.finish())
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    /// Zero has two forms.
    fn same(one: Sum, other: Sum) -> bool {
        one.0 % u16::MAX == other.0 % u16::MAX
    }

    proptest! {
        #[test]
        fn what_is_taken_away_and_what_moves_leave_the_sum_of_the_rest(
            parts in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 3),
        ) {
            let [first, second, third] = [&parts[0], &parts[1], &parts[2]];
            let whole = Sum::of(&parts.concat());
            let rest: Vec<u8> = [&first[..], third].concat();
            let second_there = Sum::of(second).moved(first.len());
            let third_there = Sum::of(third).moved(first.len() + second.len());
            let left = whole.minus(second_there).minus(third_there);
            let moved = third_there.moved(second.len());
            prop_assert!(same(left.plus(moved), Sum::of(&rest)));
        }
    }
}
