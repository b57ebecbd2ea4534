//! The table of a gateway: the longest prefix of an address, found fast.

use std::net::IpAddr;

use link::edge::{Exit, Prefix};

/// Places of the memory of late answers.
const LATE: usize = 1 << 12;

/// The egress table: prefixes, sorted for look-ups.
#[derive(Debug)]
pub struct Table {
    /// For each version: the lengths that occur, longest first, each with its prefixes
    /// in the order of their addresses.
    lengths: [Vec<Length>; 2],
    /// Late answers, each in a place that its address selects.
    late: Vec<Option<(IpAddr, Option<Exit>)>>,
}

/// A length and the prefixes that have it.
type Length = (u8, Vec<(u128, Exit)>);

impl Table {
    /// The table of these rows, of which [`Prefix::egress`] is the number of a peer. Of two
    /// rows with one prefix the later one counts.
    pub fn new(rows: &[Prefix]) -> Self {
        let mut lengths: [Vec<Length>; 2] = Default::default();
        for row in rows.iter().filter(|row| row.is_sound()) {
            let (version, network) = parts(row.network);
            let all = &mut lengths[version];
            let place = all.binary_search_by(|(length, _)| row.length.cmp(length));
            let place = place.unwrap_or_else(|place| {
                all.insert(place, (row.length, Vec::new()));
                place
            });
            all[place].1.push((network, row.exit()));
        }
        for (_, prefixes) in lengths.iter_mut().flatten() {
            // Stable, so that the later of two equal rows is behind the other.
            prefixes.sort_by_key(|(network, _)| *network);
            prefixes.reverse();
            prefixes.dedup_by_key(|(network, _)| *network);
            prefixes.reverse();
        }
        Self {
            lengths,
            late: vec![None; LATE],
        }
    }

    /// The exit of the longest prefix that covers `address` [RFC1812 s5.2.4.3].
    pub(super) fn exit(&mut self, address: IpAddr) -> Option<Exit> {
        let (version, number) = parts(address);
        let place = place(number);
        if let Some((known, exit)) = self.late[place]
            && known == address
        {
            return exit;
        }
        let exit = self.longest(version, number);
        self.late[place] = Some((address, exit));
        exit
    }

    fn longest(&self, version: usize, number: u128) -> Option<Exit> {
        let width = [32, 128][version];
        self.lengths[version].iter().find_map(|(length, prefixes)| {
            let masked = match width - length {
                128.. => 0,
                rest => number >> rest << rest,
            };
            let place = prefixes.binary_search_by_key(&masked, |(network, _)| *network);
            Some(prefixes[place.ok()?].1)
        })
    }
}

/// The place of an address in the memory of late answers.
fn place(number: u128) -> usize {
    let [.., a, b, c, d, e, f, g, h] = number.to_be_bytes();
    let low = u64::from_be_bytes([a, b, c, d, e, f, g, h]);
    // Fibonacci hashing [Knuth1998 s6.4].
    let hash = (low ^ low >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - LATE.ilog2());
    usize::try_from(hash).unwrap_or(0)
}

/// The place of the version, and the address as a number.
const fn parts(address: IpAddr) -> (usize, u128) {
    match address {
        IpAddr::V4(address) => (0, address.to_bits() as u128),
        IpAddr::V6(address) => (1, address.to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use link::edge::longest_match;

    fn rows() -> impl Strategy<Value = Vec<Prefix>> {
        // Few addresses, so that prefixes are nested and equal.
        let four = (0u32..64, 0u8..=32).prop_map(|(bits, length)| {
            let address = bits.wrapping_mul(0x0410_4104);
            let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
            (IpAddr::V4((address & mask).into()), length)
        });
        let six = (0u128..64, 0u8..=128).prop_map(|(bits, length)| {
            let address = bits.wrapping_mul(0x0410_4104_1041_0410_4104_1041_0410_4104);
            let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
            (IpAddr::V6((address & mask).into()), length)
        });
        let row =
            (prop_oneof![four, six], 0usize..5).prop_map(|((network, length), egress)| Prefix {
                network,
                length,
                next_as: 0,
                egress,
            });
        prop::collection::vec(row, 0..60)
    }

    proptest! {
        #[test]
        fn the_answers_are_those_of_the_plain_search(
            rows in rows(), asked in prop::collection::vec((0u32..64, any::<bool>()), 1..60),
        ) {
            let mut table = Table::new(&rows);
            for (bits, four) in asked {
                let address: IpAddr = if four {
                    IpAddr::V4(bits.wrapping_mul(0x0410_4104).into())
                } else {
                    let bits = u128::from(bits);
                    IpAddr::V6(bits.wrapping_mul(0x0410_4104_1041_0410_4104_1041_0410_4104).into())
                };
                let plain = longest_match(&rows, address).map(Prefix::exit);
                // Asked twice, once from memory.
                prop_assert_eq!(table.exit(address), plain);
                prop_assert_eq!(table.exit(address), plain);
            }
        }
    }
}
