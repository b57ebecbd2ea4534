//! The checksum of the Internet protocols.

/// A sum in the making [RFC1071 s1]. Every piece but the last has an even
/// number of octets.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Checksum(u64);

impl Checksum {
    /// With the 16-bit numbers of `octets`, the last one filled up with zero.
    pub(crate) fn add(self, octets: &[u8]) -> Self {
        let pairs = octets.chunks(2).map(|pair| {
            let low = pair.get(1).copied().unwrap_or(0);
            u64::from(u16::from_be_bytes([pair[0], low]))
        });
        Self(self.0 + pairs.sum::<u64>())
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
}
