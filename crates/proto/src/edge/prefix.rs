//! The table of a domain: at which edge packets to each prefix leave it.

use std::net::IpAddr;

/// A row of a routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// Its first address.
    pub network: IpAddr,
    /// How many of its leading bits make the prefix.
    pub length: u8,
    /// The autonomous system that comes next.
    pub next_as: u32,
    /// The edge through which they leave, by the driver's number: in a scenario
    /// the node's place.
    pub egress: usize,
}

/// Where packets leave a domain. Those with different exits are never in one
/// bundle [Mulahuwaish s2].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exit {
    /// The autonomous system behind it.
    pub next_as: u32,
    /// The edge that unpacks bundles, as [`Prefix::egress`] has it.
    pub egress: usize,
}

impl Prefix {
    /// Bits of its addresses, and those of the first one.
    const fn bits(&self) -> (u8, u128) {
        bits(self.network)
    }

    /// What a mask of its length leaves of an address with so many bits.
    const fn mask(&self, width: u8, address: u128) -> u128 {
        match self.length {
            0 => 0,
            length => address >> (width - length) << (width - length),
        }
    }

    /// Whether it is one: no longer than an address, and without a bit behind
    /// its length.
    pub const fn is_sound(&self) -> bool {
        let (width, network) = self.bits();
        self.length <= width && self.mask(width, network) == network
    }

    /// Whether `address` is in it; no address is in a prefix that is longer.
    pub const fn covers(&self, address: IpAddr) -> bool {
        let ((width, network), (other, address)) = (self.bits(), bits(address));
        width == other && self.length <= width && self.mask(width, address) == network
    }

    /// Where packets to its addresses leave.
    pub const fn exit(&self) -> Exit {
        Exit {
            next_as: self.next_as,
            egress: self.egress,
        }
    }
}

/// The row for `address`: of those that cover it the one with the longest
/// prefix [RFC1812 s5.2.4.3].
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
