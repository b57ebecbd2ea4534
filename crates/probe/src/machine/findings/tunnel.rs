//! What a path MTU suggests: encapsulations whose headers explain it, and products that
//! have it.

use units::Bytes;

use super::super::Tunnel;

/// MTUs of the links that tunnels run over: Ethernet and jumbo frames.
const LINKS: [u64; 3] = [1500, 9000, 9216];

/// MTUs of networks that overlays and VPNs run over: PPPoE [RFC2516 s7], and the clouds
/// below. Shorter headers would explain too many sizes.
const NETWORKS: [u64; 5] = [1492, 9001, 8896, 1460, 1450];
const SHORTEST_OVERLAY: u64 = 50;

/// Bytes that encapsulations add to an IP packet.
const ADDED: [(u64, &str); 20] = [
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
    // The inner Ethernet header in addition.
    (38, "Ethernet in GRE over IPv4"),
    (42, "Ethernet in GRE with a key over IPv4"),
    // The header of IPv6 [RFC2473].
    (40, "IP over IPv6"),
    (44, "GRE over IPv6"),
    // The option of 8 bytes that limits the depth of tunnels [RFC2473 s4.1.1].
    (48, "IP over IPv6 with an encapsulation limit"),
    // IPv4, UDP, 8 bytes, and the inner Ethernet header [RFC7348 s5] [RFC8926 s3.4].
    (50, "VXLAN over IPv4"),
    (50, "Geneve over IPv4"),
    // IPv4, 8 bytes, a vector of 8, a check value of 16 and a trailer of 2 [RFC4303 s2]
    // [RFC4106 s3]. UDP adds 8 bytes, to pass translators of addresses [RFC3948 s2.1].
    (54, "IPsec (ESP with AES-GCM) over IPv4"),
    (62, "IPsec (ESP with AES-GCM) over UDP and IPv4"),
    (74, "IPsec (ESP with AES-GCM) over IPv6"),
    // IP, UDP, and 32 bytes [Donenfeld2017]; its tools set 80 whatever is below.
    (60, "WireGuard over IPv4"),
    (70, "VXLAN over IPv6"),
    (70, "Geneve over IPv6"),
    (80, "WireGuard over IPv6"),
    (80, "WireGuard"),
];

/// The MTU of a product's network.
#[derive(Clone, Copy)]
enum Rule {
    /// This one, unless a user sets another.
    Is(u64),
    /// That of the link below, less this.
    Below(u64),
}

/// Products of clouds, overlays of containers, and VPNs.
const PRODUCTS: [(Rule, &str); 12] = [
    // [TailscaleMtu].
    (Rule::Is(1280), "Tailscale"),
    // [GoogleInterconnect].
    (Rule::Is(1440), "Google Cloud Interconnect"),
    // [AwsVpnMtu].
    (Rule::Is(1446), "AWS Site-to-Site VPN"),
    // [HetznerNetworks].
    (Rule::Is(1450), "Hetzner Cloud private networks"),
    // The default and the maximum [GoogleVpcMtu].
    (Rule::Is(1460), "Google Cloud VPC"),
    (Rule::Is(8896), "Google Cloud VPC (its maximum)"),
    // Also peering between regions [AwsEc2Mtu].
    (
        Rule::Is(8500),
        "AWS Transit Gateway and peering between AWS regions",
    ),
    // Jumbo frames within a VPC [AwsEc2Mtu].
    (Rule::Is(9001), "AWS EC2"),
    // [CalicoMtu].
    (Rule::Below(20), "Calico with IP in IP"),
    // [CalicoMtu] [CiliumMtu] [NeutronMtu].
    (Rule::Below(50), "Calico, Cilium and OpenStack with VXLAN"),
    // [CalicoMtu].
    (Rule::Below(60), "Calico with WireGuard"),
    // [CiliumMtu].
    (Rule::Below(80), "Cilium with WireGuard"),
];

/// What explains a path MTU of `mtu`, if packets of `asked` should pass.
pub(in crate::machine) fn guess(mtu: Bytes, asked: Bytes) -> Option<Tunnel> {
    let links = LINKS.map(|below| (Bytes::new(below), 0));
    let networks = NETWORKS.map(|below| (Bytes::new(below), SHORTEST_OVERLAY));
    let mut all = links.into_iter().chain(networks);
    let found = all.find_map(|(below, shortest)| {
        let added = below.checked_sub(mtu)?.get();
        (below <= asked && added >= shortest).then_some(())?;
        let fitting = ADDED.iter().filter(|(bytes, _)| *bytes == added);
        let names: Vec<String> = fitting.map(|(_, name)| (*name).to_owned()).collect();
        (!names.is_empty()).then_some((below, names))
    });
    let (below, names) = found.map_or((None, Vec::new()), |(below, names)| (Some(below), names));
    let has_it = |rule: Rule| match rule {
        Rule::Is(size) => size == mtu.get(),
        Rule::Below(added) => below == Some(mtu + Bytes::new(added)),
    };
    let products = PRODUCTS.iter().filter(|(rule, _)| has_it(*rule));
    let products: Vec<String> = products.map(|(_, name)| (*name).to_owned()).collect();
    (!names.is_empty() || !products.is_empty()).then_some(Tunnel {
        mtu,
        below,
        names,
        products,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The MTU below, encapsulations and products for a path MTU, with 9216 asked for.
    fn of(mtu: u64) -> Option<(Option<u64>, String)> {
        let guess = guess(Bytes::new(mtu), Bytes::new(9216))?;
        let names: Vec<String> = guess.names.into_iter().chain(guess.products).collect();
        Some((guess.below.map(Bytes::get), names.join(", ")))
    }

    #[test]
    fn common_sizes_name_their_encapsulations_and_products() {
        for (mtu, below, words) in [
            (1492, Some(1500), "PPPoE"),
            (1480, Some(1500), "IP over IPv4, Calico with IP in IP"),
            (1476, Some(1500), "GRE over IPv4"),
            (1462, Some(1500), "Ethernet in GRE over IPv4"),
            (1460, Some(1500), "IP over IPv6, Google Cloud VPC"),
            (1458, Some(1500), "Ethernet in GRE with a key over IPv4"),
            (
                1446,
                Some(1500),
                "IPsec (ESP with AES-GCM) over IPv4, AWS Site-to-Site VPN",
            ),
            (
                1438,
                Some(1500),
                "IPsec (ESP with AES-GCM) over UDP and IPv4",
            ),
            (
                1450,
                Some(1500),
                "VXLAN over IPv4, Geneve over IPv4, Hetzner Cloud private networks, \
                 Calico, Cilium and OpenStack with VXLAN",
            ),
            (
                1420,
                Some(1500),
                "WireGuard over IPv6, WireGuard, Cilium with WireGuard",
            ),
            // WireGuard in a private network of Hetzner, and on a line with PPPoE.
            (
                1370,
                Some(1450),
                "WireGuard over IPv6, WireGuard, Cilium with WireGuard",
            ),
            (
                1412,
                Some(1492),
                "WireGuard over IPv6, WireGuard, Cilium with WireGuard",
            ),
            (1280, None, "Tailscale"),
            (
                8500,
                None,
                "AWS Transit Gateway and peering between AWS regions",
            ),
            (
                8951,
                Some(9001),
                "VXLAN over IPv4, Geneve over IPv4, Calico, Cilium and OpenStack with VXLAN",
            ),
        ] {
            assert_eq!(of(mtu), Some((below, words.to_owned())), "{mtu}");
        }
        for mtu in [1500, 1471, 9000, 1000] {
            assert_eq!(of(mtu), None, "{mtu}");
        }
    }

    #[test]
    fn a_link_below_is_no_larger_than_the_size_asked_for() {
        let found = |asked| guess(Bytes::new(1442), Bytes::new(asked)).map(|found| found.below);
        assert_eq!(found(1500), Some(Some(Bytes::new(1492))));
        assert_eq!(found(1480), None);
    }
}
