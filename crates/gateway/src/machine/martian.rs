//! Packets with addresses that no router forwards.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use wire::protocol::ip::Addresses;

/// Whether a packet between these addresses stays on its link or in its host
/// [RFC1812 s5.3.7] [RFC4291 s2.5, s2.7].
pub(super) fn is_martian(addresses: Addresses) -> bool {
    let [source, destination] = addresses.ends();
    match (source, destination) {
        (IpAddr::V4(source), IpAddr::V4(destination)) => {
            source.is_multicast()
                || [source, destination].into_iter().any(is_local_v4)
                || matches!(destination.octets(), [224, 0, 0, _])
        }
        (IpAddr::V6(source), IpAddr::V6(destination)) => {
            source.is_multicast()
                || [source, destination].into_iter().any(is_local_v6)
                // The scopes of an interface and of a link [RFC4291 s2.7].
                || matches!(destination.octets(), [0xff, scope, ..] if scope & 0xf <= 2)
        }
        _ => false,
    }
}

/// Whether all packets to a network stay on a link or in a host.
#[cfg(target_os = "linux")]
pub(crate) fn is_local(network: IpAddr, length: u8) -> bool {
    match network {
        IpAddr::V4(network) => length >= 8 && is_local_v4(network),
        IpAddr::V6(network) => length >= 10 && is_local_v6(network),
    }
}

/// This network, loopback, and the broadcast of a link [RFC1122 s3.2.1.3].
const fn is_local_v4(address: Ipv4Addr) -> bool {
    address.octets()[0] == 0 || address.is_loopback() || address.is_broadcast()
}

/// No address, loopback, and the addresses of a link.
const fn is_local_v6(address: Ipv6Addr) -> bool {
    address.is_unspecified() || address.is_loopback() || address.is_unicast_link_local()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_of_a_host_or_a_link_are_told_from_those_that_travel() {
        let between = |source: &str, destination: &str| {
            is_martian(match (source.parse(), destination.parse()) {
                (Ok(IpAddr::V4(one)), Ok(IpAddr::V4(other))) => Addresses::V4([one, other]),
                (Ok(IpAddr::V6(one)), Ok(IpAddr::V6(other))) => Addresses::V6([one, other]),
                _ => panic!("{source} {destination}"),
            })
        };
        for (host, martians) in [
            (
                "10.1.0.2",
                &["127.9.0.1", "0.0.0.0", "0.1.2.3", "255.255.255.255"][..],
            ),
            ("fd01::2", &["::", "::1", "fe80::7"]),
        ] {
            assert!(!between(host, host));
            for martian in martians {
                assert!(between(host, martian), "{martian}");
                assert!(between(martian, host), "{martian}");
            }
        }
        for group in ["224.0.0.5", "239.1.1.1", "232.0.0.1"] {
            assert!(between(group, "10.1.0.2"), "{group}");
        }
        assert!(between("10.1.0.2", "224.0.0.5") && !between("10.1.0.2", "239.1.1.1"));
        assert!(between("ff0e::1", "fd01::2") && between("fd01::2", "ff02::1"));
        assert!(between("fd01::2", "ff11::1") && !between("fd01::2", "ff0e::1"));
    }
}
