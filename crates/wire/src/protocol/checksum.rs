//! The checksum of the Internet protocols [RFC1071], and its incremental update when
//! single bytes change [RFC1624].

/// A sum under construction [RFC1071 s1], in the byte order of this machine [RFC1071 s2].
/// Every piece but the last has an even number of bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checksum(u64);

impl Checksum {
    /// Adds the 16-bit numbers of `bytes`, the last one padded with zero.
    ///
    /// The code adds 32-bit numbers, which give the same result after the carries are
    /// folded in [RFC1071 s2] and make sums over thousands of bytes fast.
    pub(crate) fn add(self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks();
        let sum: u64 = words
            .iter()
            .map(|word| u64::from(u32::from_ne_bytes(*word)))
            .sum();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        Self(self.0 + sum + u64::from(u32::from_ne_bytes(last)))
    }

    /// Adds the bytes that `other` sums up.
    pub(crate) const fn and(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// The checksum for a header: the complement of the sum with carries folded in.
    /// Over bytes that include a valid checksum it is zero.
    pub(crate) fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > u64::from(u16::MAX) {
            sum = (sum & u64::from(u16::MAX)) + (sum >> 16);
        }
        !u16::from_be(u16::try_from(sum).unwrap_or(u16::MAX))
    }
}

/// A sum in one's complement arithmetic, modulo 65535, which supports subtraction. Zero
/// and 65535 are the same number.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sum(u16);

impl Sum {
    /// The sum whose complement is `checksum`.
    pub(crate) const fn behind(checksum: u16) -> Self {
        Self(!checksum)
    }

    /// The sum of `bytes`, the first of which has an even offset.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        Checksum::default().add(bytes).into()
    }

    /// The sum of one 16-bit number.
    pub(crate) const fn word(word: u16) -> Self {
        Self(word)
    }

    pub(crate) const fn plus(self, other: Self) -> Self {
        let (sum, carry) = self.0.overflowing_add(other.0);
        // The second addition cannot overflow.
        Self(sum.wrapping_add(carry as u16))
    }

    pub(crate) const fn minus(self, other: Self) -> Self {
        self.plus(Self(!other.0))
    }

    /// The sum of the same bytes moved by `by` places: an odd move exchanges the two
    /// bytes of the sum [RFC1071 s2].
    pub(crate) const fn moved(self, by: usize) -> Self {
        match by % 2 {
            0 => self,
            _ => Self(self.0.swap_bytes()),
        }
    }

    /// The checksum for a header.
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
        let bytes = [0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7];
        assert_eq!(Checksum::default().add(&bytes).finish(), !0xddf2);
        let both = Checksum::default()
            .add(&bytes)
            .add(&(!0xddf2u16).to_be_bytes());
        assert_eq!(both.finish(), 0);
    }

    #[test]
    fn bytes_of_any_number_sum_up_as_pairs() {
        let bytes: [u8; 40] = core::array::from_fn(|place| [7, 0xff, 0, 0x80, 0x31][place % 5]);
        for length in 0..=bytes.len() {
            let pairs = bytes[..length].chunks(2).map(|pair| {
                let low = pair.get(1).copied().unwrap_or(0);
                u32::from(u16::from_be_bytes([pair[0], low]))
            });
            let sum: u32 = pairs.sum();
            let folded = u16::try_from((sum & 0xffff) + (sum >> 16)).unwrap();
            let found = Checksum::default().add(&bytes[..length]).finish();
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
