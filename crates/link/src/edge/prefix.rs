//! The routing table of a domain: the egress for each prefix.

use std::net::IpAddr;

/// An entry of the routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// The first address of the prefix.
    pub network: IpAddr,
    /// Length of the prefix in bits.
    pub length: u8,
    /// The next autonomous system.
    pub next_as: u32,
    /// The edge through which packets leave, by the driver's number: the node's index
    /// in a scenario.
    pub egress: usize,
}

/// The place at which packets leave a domain. A bundle holds packets to one exit only
/// [Mulahuwaish s2].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exit {
    /// The autonomous system behind the exit.
    pub next_as: u32,
    /// The edge that unpacks bundles, as in [`Prefix::egress`].
    pub egress: usize,
}

impl Prefix {
    /// The number of bits of its addresses, and the bits of its first address.
    const fn bits(&self) -> (u8, u128) {
        bits(self.network)
    }

    /// `address`, which has `width` bits, masked to the prefix length.
    const fn mask(&self, width: u8, address: u128) -> u128 {
        match self.length {
            0 => 0,
            length => address >> (width - length) << (width - length),
        }
    }

    /// Whether the prefix is valid: no longer than an address, and without set bits
    /// behind its length.
    pub const fn is_sound(&self) -> bool {
        let (width, network) = self.bits();
        self.length <= width && self.mask(width, network) == network
    }

    /// Whether `address` is in the prefix; a prefix longer than an address covers none.
    pub const fn covers(&self, address: IpAddr) -> bool {
        let ((width, network), (other, address)) = (self.bits(), bits(address));
        width == other && self.length <= width && self.mask(width, address) == network
    }

    /// The exit for its addresses.
    pub const fn exit(&self) -> Exit {
        Exit {
            next_as: self.next_as,
            egress: self.egress,
        }
    }
}

/// The entry for `address`: the longest prefix that covers it [RFC1812 s5.2.4.3].
pub fn longest_match(table: &[Prefix], address: IpAddr) -> Option<&Prefix> {
    let covering = table.iter().filter(|prefix| prefix.covers(address));
    covering.max_by_key(|prefix| prefix.length)
}

const fn bits(address: IpAddr) -> (u8, u128) {
    match address {
        IpAddr::V4(address) => (32, address.to_bits() as u128),
        IpAddr::V6(address) => (128, address.to_bits()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn prefix(network: &str, length: u8, egress: usize) -> Prefix {
        Prefix {
            network: network.parse().unwrap(),
            length,
            next_as: 0,
            egress,
        }
    }

    #[test]
    fn the_longest_prefix_that_covers_an_address_wins() {
        let table = [
            prefix("0.0.0.0", 0, 0),
            prefix("10.0.0.0", 8, 1),
            prefix("10.1.0.0", 16, 2),
            prefix("10.1.2.3", 32, 3),
            prefix("2001:db8::", 32, 4),
            prefix("2001:db8:1::", 48, 5),
        ];
        for (address, egress) in [
            ("192.0.2.1", Some(0)),
            ("10.2.0.1", Some(1)),
            ("10.1.0.1", Some(2)),
            ("10.1.2.3", Some(3)),
            ("2001:db8::1", Some(4)),
            ("2001:db8:1::1", Some(5)),
            ("2001:db9::1", None),
        ] {
            let row = longest_match(&table, address.parse().unwrap());
            assert_eq!(row.map(|row| row.egress), egress, "{address}");
        }
    }

    #[test]
    fn a_prefix_has_no_bits_behind_its_length() {
        assert!(prefix("10.0.0.0", 8, 0).is_sound());
        assert!(prefix("::", 0, 0).is_sound() && prefix("::1", 128, 0).is_sound());
        assert!(!prefix("10.0.0.1", 8, 0).is_sound());
        let longer = prefix("10.0.0.0", 33, 0);
        assert!(!longer.is_sound() && !longer.covers(longer.network));
    }
}
