//! Gateways at the edges of a domain.

use std::net::IpAddr;

use crate::testbed::{Path, Testbed};
use plan::setting::{Domain, Route};
use queue::AggregatorSettings;
use units::IpVersion;

use crate::edge_gateway::EdgeGateway;

/// The addresses of hosts to which an edge has no route, because its gateway carries what
/// is for them.
pub(super) fn unrouted(domain: &Domain) -> Vec<(usize, IpAddr)> {
    if domain.aggregate.is_none() {
        return Vec::new();
    }
    let edges = domain.edges.iter();
    edges
        .flat_map(|&edge| {
            let addresses = domain.addresses.iter().map(|(_, address)| *address);
            addresses
                .filter(move |address| egress(domain, *address).is_some_and(|other| other != edge))
                .map(move |address| (edge, address))
        })
        .collect()
}

/// The edge through which `address` is reached: that of the longest prefix
/// [RFC1812 s5.2.4.3].
fn egress(domain: &Domain, address: IpAddr) -> Option<usize> {
    let covers = |route: &&Route| covers(route, address);
    let routes = domain.routes.iter().filter(covers);
    routes
        .max_by_key(|route| route.length)
        .map(|route| route.egress)
}

fn covers(route: &Route, address: IpAddr) -> bool {
    let bits = |address: IpAddr| match address {
        IpAddr::V4(four) => (u128::from(four.to_bits()) << 96, true),
        IpAddr::V6(six) => (six.to_bits(), false),
    };
    let ((network, four), (address, other)) = (bits(route.network), bits(address));
    let differ = (network ^ address).checked_shr(128 - u32::from(route.length));
    four == other && differ.unwrap_or(0) == 0
}

/// The gateways of `domain`, none where it aggregates nothing. Every other edge to which there
/// is a path is a peer.
pub(super) fn of_domain(domain: &Domain, testbed: &Testbed, path: &Path) -> Vec<EdgeGateway> {
    let Some(aggregate) = &domain.aggregate else {
        return Vec::new();
    };
    let ends = |edge: usize, other: usize| {
        let own = testbed.address_toward(path, edge, other)?;
        Some([own, testbed.address_toward(path, other, edge)?])
    };
    let edges = domain.edges.iter();
    let one = |&edge: &usize| {
        let others = domain.edges.iter().filter(|&&other| other != edge);
        let peers = others.filter_map(|&other| Some((other, ends(edge, other)?)));
        let name = testbed.nodes[edge].name.clone();
        gateway(
            (domain, aggregate),
            path.ip,
            name,
            &peers.collect::<Vec<_>>(),
        )
    };
    edges.map(one).collect()
}

/// The gateway of the edge `node` with its `peers`: their nodes, and the addresses of both
/// ends.
fn gateway(
    (domain, aggregate): (&Domain, &AggregatorSettings),
    ip: IpVersion,
    node: String,
    peers: &[(usize, [IpAddr; 2])],
) -> EdgeGateway {
    let row = |route: &Route| {
        let peer = peers.iter().position(|(edge, _)| *edge == route.egress)?;
        Some((route.network, route.length, route.next_as, peer))
    };
    EdgeGateway {
        node,
        peers: peers.iter().map(|(_, ends)| *ends).collect(),
        prefixes: domain.routes.iter().filter_map(row).collect(),
        mtu: aggregate.mtu,
        trigger: aggregate.trigger,
        tick: aggregate.tick,
        share: aggregate.share,
        in_udp: aggregate.encapsulation.header.get() > header(ip),
        shaping: domain.shaping,
    }
}

/// Bytes in front of the entries of a bundle in IP.
fn header(ip: IpVersion) -> u64 {
    let ip = match ip {
        IpVersion::V4 => 20,
        IpVersion::V6 => 40,
    };
    ip + wire::bundle::HEADER_LEN as u64
}

#[cfg(test)]
mod tests {
    use plan::setting::Destination;
    use queue::{Encapsulation, Tick, Trigger};
    use units::{Bytes, Span};

    use super::*;

    fn domain() -> Domain {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let route = |network: &str, length, egress| Route {
            network: address(network),
            length,
            next_as: 0,
            egress,
            via: Vec::new(),
        };
        Domain {
            edges: vec![1, 2],
            aggregate: Some(AggregatorSettings {
                mtu: Bytes::new(3_000),
                whole: Bytes::new(3_000),
                trigger: Trigger::Timer(Span::from_millis(10)),
                encapsulation: Encapsulation {
                    header: Bytes::new(28 + 6),
                    entry: Bytes::new(4),
                    framing: Bytes::ZERO,
                },
                tick: Tick::Micro,
                share: 1.0,
            }),
            addresses: vec![(0, address("10.1.0.1")), (3, address("10.2.0.3"))],
            routes: vec![
                route("0.0.0.0", 0, 1),
                route("10.1.0.0", 16, 1),
                route("10.2.0.0", 16, 2),
            ],
            destination: Destination::Egress,
            shaping: true,
        }
    }

    #[test]
    fn what_a_gateway_carries_has_no_other_route_at_its_edge() {
        let address = |text: &str| text.parse::<IpAddr>().unwrap();
        let [near, far] = ["10.1.0.1", "10.2.0.3"].map(address);
        assert_eq!(unrouted(&domain()), [(1, far), (2, near)]);
        let mut without = domain();
        without.aggregate = None;
        assert!(unrouted(&without).is_empty());
        // The longest prefix counts, and the default covers everything of its version.
        assert_eq!(egress(&domain(), address("10.2.255.255")), Some(2));
        assert_eq!(egress(&domain(), address("10.3.0.0")), Some(1));
        assert_eq!(egress(&domain(), address("2001:db8::1")), None);
    }

    #[test]
    fn a_gateway_has_the_rows_of_its_peers_and_the_settings_of_the_domain() {
        let domain = domain();
        let aggregate = domain.aggregate.as_ref().unwrap();
        let ends = ["198.18.2.1", "198.18.2.2"].map(|text| text.parse().unwrap());
        let made = gateway(
            (&domain, aggregate),
            IpVersion::V4,
            "r1".to_owned(),
            &[(2, ends)],
        );
        let network: IpAddr = "10.2.0.0".parse().unwrap();
        assert_eq!(made.prefixes, [(network, 16, 0, 0)]);
        assert_eq!((made.peers, made.mtu), (vec![ends], Bytes::new(3_000)));
        assert!(made.in_udp && made.shaping && made.trigger == aggregate.trigger);
    }
}
