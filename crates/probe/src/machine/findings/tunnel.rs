//! The encapsulations whose headers explain a path MTU.

use units::Bytes;

use super::super::Tunnel;

/// The MTUs of the links that tunnels run over: Ethernet, and jumbo frames.
const BELOW: [u64; 3] = [1500, 9000, 9216];

/// Bytes that encapsulations add to an IP packet.
const ADDED: [(u64, &str); 13] = [
    // A label of MPLS [RFC3032 s2.1].
    (4, "MPLS"),
    // [RFC2516 s7].
    (8, "PPPoE"),
    // Headers of IPv4 [RFC2003] [RFC4213 s3.2].
    (20, "IP over IPv4"),
    // IPv4 and 4 bytes [RFC2784].
    (24, "GRE over IPv4"),
    // The same and a key of 4 bytes [RFC2890].
    (28, "GRE with a key over IPv4"),
    // The header of IPv6 [RFC2473].
    (40, "IP over IPv6"),
    (44, "GRE over IPv6"),
    // IPv4, UDP, 8 bytes, and the inner Ethernet header [RFC7348 s5] [RFC8926 s3.4].
    (50, "VXLAN over IPv4"),
    (50, "Geneve over IPv4"),
    // IP, UDP, and 32 bytes [Donenfeld2017]; its tools set 80 whatever is below.
    (60, "WireGuard over IPv4"),
    (70, "VXLAN over IPv6"),
    (70, "Geneve over IPv6"),
    (80, "WireGuard"),
];

/// The encapsulations that leave `mtu` of a common MTU below the size asked for.
pub(super) fn guess(mtu: Bytes, asked: Bytes) -> Option<Tunnel> {
    let below = BELOW.into_iter().map(Bytes::new);
    below.filter(|below| *below <= asked).find_map(|below| {
        let added = below.checked_sub(mtu)?;
        let fitting = ADDED.iter().filter(|(bytes, _)| *bytes == added.get());
        let names: Vec<String> = fitting.map(|(_, name)| (*name).to_owned()).collect();
        (!names.is_empty()).then_some(Tunnel { mtu, below, names })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn common_sizes_name_their_encapsulations() {
        let named = |mtu| guess(Bytes::new(mtu), Bytes::new(9000)).map(|guess| guess.names);
        assert_eq!(named(1420), Some(vec!["WireGuard".to_owned()]));
        assert_eq!(named(1492), Some(vec!["PPPoE".to_owned()]));
        assert_eq!(named(1476), Some(vec!["GRE over IPv4".to_owned()]));
        assert_eq!(named(8950).unwrap()[0], "VXLAN over IPv4");
        assert_eq!(named(1500), None);
        assert_eq!(named(1471), None);
    }
}
