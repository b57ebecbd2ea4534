//! The checksum of the Internet protocols.

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

    /// What stands in the header: the complement of the sum, carries added in.
    /// Over octets that hold their checksum it is zero.
    pub(crate) fn finish(self) -> u16 {
        let mut sum = self.0;
        while sum > u64::from(u16::MAX) {
            sum = (sum & u64::from(u16::MAX)) + (sum >> 16);
        }
        !u16::try_from(sum).unwrap_or(u16::MAX)
    }
}

#[cfg(test)]
mod tests {
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
}
