//! The checksum of the Internet protocols [RFC1071], and what it becomes when
//! octets are changed in places, without reading the rest [RFC1624].

/// A sum in the making [RFC1071 s1]. Every piece but the last has an even
/// number of octets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checksum(u64);

impl Checksum {
    /// With the 16-bit numbers of `octets`, the last one filled up with zero.
    ///
    /// Numbers of 32 bits are added, which give the same once the carries are
    /// [RFC1071 s2]: with octets by the thousand that is what counts.
    pub(crate) fn add(self, octets: &[u8]) -> Self {
        let (words, rest) = octets.as_chunks();
        let sum: u64 = words
            .iter()
            .map(|word| u64::from(u32::from_be_bytes(*word)))
            .sum();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        Self(self.0 + sum + u64::from(u32::from_be_bytes(last)))
    }

    /// With what `other` sums up.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// The checksum as a header has it: the complement of the sum, carries added in.
    /// Over octets that hold their checksum it is zero.
    pub(crate) fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > u64::from(u16::MAX) {
            sum = (sum & u64::from(u16::MAX)) + (sum >> 16);
        }
        !u16::try_from(sum).unwrap_or(u16::MAX)
    }
}

/// A sum in one's complement arithmetic, modulo 65535: of it things can be
/// taken away again. Zero and 65535 are the same number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum(u16);

impl Sum {
    /// The sum that `checksum` is the complement of.
    pub(crate) const fn behind(checksum: u16) -> Self {
        Self(!checksum)
    }

    /// Of `octets`, the first of which is at an even place.
    pub(crate) fn of(octets: &[u8]) -> Self {
        Checksum::default().add(octets).into()
    }

    /// Of one 16-bit number.
    pub(crate) const fn word(word: u16) -> Self {
        Self(word)
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        let (sum, carry) = self.0.overflowing_add(other.0);
        // No carry comes out of the second addition.
        Self(sum.wrapping_add(carry as u16))
    }

    pub(crate) const fn minus(self, other: Self) -> Self {
        self.plus(Self(!other.0))
    }

    /// Of the same octets moved by an odd number of places: the sum with its
    /// octets exchanged [RFC1071 s2].
    pub(crate) const fn moved(self, by: usize) -> Self {
        match by % 2 {
            0 => self,
            _ => Self(self.0.swap_bytes()),
        }
    }

    /// The checksum as a header has it.
    pub(crate) const fn checksum(self) -> u16 {
        !self.0
    }
}

impl From<Checksum> for Sum {
    fn from(checksum: Checksum) -> Self {
        Self::behind(checksum.finish())
    }
}

/// The new value of `checksum` after a change of one 16-bit number that it covers:
/// `~(~checksum + ~before + after)` [RFC1624 s3].
pub(crate) const fn changed(checksum: u16, before: u16, after: u16) -> u16 {
    Sum::behind(checksum)
        .minus(Sum::word(before))
        .plus(Sum::word(after))
        .checksum()
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_the_standard_comes_out() {
        // [RFC1071 s3]: the sum is ddf2.
        let octets = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Checksum::default().add(&octets).finish(), !0xddf2);
        let both = Checksum::default()
            .add(&octets)
            .add(&(!0xddf2u16).to_be_bytes());
        assert_eq!(both.finish(), 0);
    }

    #[test]
    fn octets_of_any_number_sum_up_as_pairs() {
        let octets: [u8; 40] = core::array::from_fn(|place| [7, 0xff, 0, 0x80, 0x31][place % 5]);
        for length in 0..=octets.len() {
            let pairs = octets[..length].chunks(2).map(|pair| {
                let low = pair.get(1).copied().unwrap_or(0);
                u32::from(u16::from_be_bytes([pair[0], low]))
            });
            let sum: u32 = pairs.sum();
            let folded = u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap();
            let found = Checksum::default().add(&octets[..length]).finish();
            assert_eq!(found, !folded, "{length}");
        }
    }

    #[test]
    fn the_example_of_a_change_comes_out() {
        // [RFC1624 s4]: 0x5555 becomes 0x3285.
        assert_eq!(changed(0xdd2f, 0x5555, 0x3285), 0x0000);
    }

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
