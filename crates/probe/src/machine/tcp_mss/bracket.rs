//! The packet sizes that pass and fail in one direction, and the sizes to try next.

use std::collections::BTreeMap;

/// Path MTUs that are common: the minimum of IPv6 [RFC8200 s5], WireGuard [Donenfeld2017],
/// VXLAN [RFC7348 s5], GRE [RFC2784], IP in IP [RFC2003], PPPoE [RFC2516 s7], Ethernet, what
/// networks of clouds and tunnels leave of these, and jumbo frames.
const COMMON: [u32; 17] = [
    1280, 1340, 1380, 1400, 1420, 1440, 1450, 1460, 1476, 1480, 1492, 1500, 4000, 8500, 8896, 8950,
    9000,
];

/// The packet sizes that were tried in one direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Bracket {
    tries: BTreeMap<u32, Tries>,
}

/// The outcome of one size.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Tries {
    /// Packets or connections that tried it.
    pub(super) sent: u32,
    /// Those that succeeded.
    pub(super) passed: u32,
    /// Connections on which it failed.
    pub(super) failures: u32,
}

impl Bracket {
    /// A packet of this size passed.
    pub(super) fn passed(&mut self, size: u32) {
        let tries = self.tries.entry(size).or_default();
        tries.sent += 1;
        tries.passed += 1;
    }

    /// `sent` packets of this size, all on one connection, did not pass.
    pub(super) fn failed(&mut self, size: u32, sent: u32) {
        let tries = self.tries.entry(size).or_default();
        tries.sent += sent;
        tries.failures += 1;
    }

    /// The largest size that passed.
    pub(super) fn passes(&self) -> Option<u32> {
        let mut tries = self.tries.iter().rev();
        tries
            .find(|(_, tries)| tries.passed > 0)
            .map(|(&size, _)| size)
    }

    /// The smallest size that failed, of those larger than each that passed: a failure at a size
    /// that passes is ordinary loss, or a slow server.
    pub(super) fn fails(&self) -> Option<u32> {
        self.failing().next().map(|(size, _)| size)
    }

    /// The largest size that passed, if larger ones fail.
    pub(super) fn limit(&self) -> Option<u32> {
        self.fails().and_then(|_| self.passes())
    }

    /// On how many connections a size failed that is larger than each that passed.
    pub(super) fn failures(&self) -> u32 {
        self.failing().map(|(_, tries)| tries.failures).sum()
    }

    /// The outcome of a size.
    pub(super) fn tries(&self, size: u32) -> Tries {
        self.tries.get(&size).copied().unwrap_or_default()
    }

    /// The sizes that failed, larger than each that passed.
    pub(super) fn failing(&self) -> impl Iterator<Item = (u32, Tries)> {
        let above = self.passes().map_or(0, |passes| passes + 1);
        self.tries
            .range(above..)
            .map(|(&size, &tries)| (size, tries))
    }

    /// The sizes that divide the unknown ones, at most `most`, in ascending order. Empty if the
    /// limit is exact, or nothing failed or passed.
    pub(super) fn split(&self, most: usize) -> Vec<u32> {
        match (self.passes(), self.fails()) {
            (Some(passes), Some(fails)) => split(passes, fails, most),
            _ => Vec::new(),
        }
    }
}

/// At most `most` sizes above `low` and below `high`, in ascending order: common path MTUs while
/// there are enough of them, with one half way to the first of them if that is far; otherwise at
/// equal distances.
pub(super) fn split(low: u32, high: u32, most: usize) -> Vec<u32> {
    let common = COMMON
        .into_iter()
        .filter(|size| (low + 1..high).contains(size));
    let common: Vec<u32> = common.collect();
    let unknown = high.saturating_sub(low).saturating_sub(1);
    let count = most.min(usize::try_from(unknown).unwrap_or(usize::MAX));
    if common.len() > count.min(3) {
        let below = common[0] - low;
        let half = (below > (high - low) / 2 && count > 1).then_some(low + below / 2);
        let taken = common.len().min(count - usize::from(half.is_some()));
        let chosen = (0..taken).map(|place| common[(2 * place + 1) * common.len() / (2 * taken)]);
        return half.into_iter().chain(chosen).collect();
    }
    let parts = u64::try_from(count).unwrap_or(0) + 1;
    (1..parts)
        .filter_map(|part| u32::try_from(part * u64::from(high - low) / parts).ok())
        .map(|above| low + above)
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn sizes_to_try_are_new_ascending_and_unknown(low in 0_u32..70_000, span in 0_u32..70_000, most in 0_usize..12) {
            let high = low + span;
            let sizes = split(low, high, most);
            prop_assert!(sizes.len() <= most);
            prop_assert!(sizes.iter().all(|size| (low + 1..high).contains(size)), "{sizes:?}");
            prop_assert!(sizes.is_sorted_by(|one, next| one < next), "{sizes:?}");
            prop_assert_eq!(sizes.is_empty(), most == 0 || span < 2);
        }

        #[test]
        fn a_limit_of_an_ethernet_path_is_exact_after_five_rounds_of_three_and_one(limit in 576_u32..1500) {
            let mut bracket = Bracket::default();
            bracket.passed(576);
            bracket.failed(1500, 1);
            for most in [3, 3, 3, 3, 3, 1] {
                for size in bracket.split(most) {
                    match size <= limit {
                        true => bracket.passed(size),
                        false => bracket.failed(size, 1),
                    }
                }
            }
            prop_assert_eq!(bracket.passes(), Some(limit));
            prop_assert_eq!(bracket.fails(), Some(limit + 1));
        }
    }

    #[test]
    fn a_failure_below_a_size_that_passed_does_not_count() {
        let mut bracket = Bracket::default();
        bracket.passed(576);
        bracket.failed(1400, 2);
        bracket.failed(1500, 2);
        assert_eq!((bracket.fails(), bracket.failures()), (Some(1400), 2));
        bracket.passed(1440);
        assert_eq!((bracket.fails(), bracket.failures()), (Some(1500), 1));
        bracket.passed(1500);
        assert_eq!((bracket.fails(), bracket.failures()), (None, 0));
    }
}
