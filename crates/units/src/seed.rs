//! Seeds and the named streams derived from them.

/// The seed of a random stream.
///
/// Streams are derived by name, so that adding a part to an experiment never
/// changes the draws of another part.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Seed(u64);

impl Seed {
    /// The seed of this number.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// The number, as a generator takes it.
    pub const fn get(self) -> u64 {
        self.0
    }

    /// The seed of the stream called `name`, e.g. `"queue/bottleneck"`.
    ///
    /// FNV-1a [FNV] over the name, started from the seed, then the finaliser
    /// of SplitMix64 [Steele2014 Fig 17]. Results depend on this function: a
    /// change of it is a change of the format version.
    #[must_use]
    pub fn derive(self, name: &str) -> Self {
        let hash = name
            .bytes()
            .fold(mix(self.0) ^ 0xcbf2_9ce4_8422_2325, |hash, byte| {
                (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
            });
        Self(mix(hash))
    }

    /// The seed of the stream with this number, where there is one for each of
    /// many things. As lasting as [`Seed::derive`].
    #[must_use]
    pub const fn with(self, number: u64) -> Self {
        Self(mix(self.0 ^ mix(number)))
    }
}

/// SplitMix64's finaliser: every input bit reaches every output bit.
const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_differ_by_name_and_by_seed_and_stay_the_same() {
        let (a, b) = (Seed::new(1), Seed::new(2));
        assert_ne!(a.derive("order"), a.derive("queue"));
        assert_ne!(a.derive("order"), b.derive("order"));
        assert_ne!(a.with(0), a.with(1));
        assert_ne!(a.with(1), b.with(1));
        // The known answer holds the function still: old plans must replay.
        assert_eq!(a.derive("order"), a.derive("order"));
        assert_eq!(
            mix(0),
            0xe220_a839_7b1d_cdaf,
            "first output of SplitMix64 from 0"
        );
    }
}
