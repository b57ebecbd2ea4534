//! Addresses, routes and neighbours of a path.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use units::IpVersion;

use super::{Addresses, Forwarder, Interface, Node, Part, Path, Testbed};
use crate::testbed::advertise;
use os::error::{Error, Result};

/// Derives addresses from links and sides.
#[derive(Clone, Copy)]
pub(super) struct Plan {
    ip: IpVersion,
    by_router: bool,
}

impl Plan {
    pub(super) fn of(path: &Path) -> Self {
        Self {
            ip: path.ip,
            by_router: path.addresses == Addresses::Router,
        }
    }

    /// Prefix length of a subnet.
    pub(super) const fn prefix_length(self) -> u8 {
        match self.ip {
            IpVersion::V4 => 24,
            IpVersion::V6 => 64,
        }
    }

    /// The prefix of an IPv6 subnet, in the block reserved for benchmarks [RFC5180 s8].
    fn prefix(subnet: usize) -> Ipv6Addr {
        let number = u16::try_from(subnet).unwrap_or(u16::MAX);
        Ipv6Addr::new(0x2001, 0x2, 0, number, 0, 0, 0, 0)
    }

    /// The network address of a link's subnet.
    pub(super) fn network(self, subnet: usize) -> IpAddr {
        match self.ip {
            IpVersion::V4 => Ipv4Addr::new(198, 18, byte(subnet), 0).into(),
            IpVersion::V6 => Self::prefix(subnet).into(),
        }
    }

    /// The address of `interface`. Static addresses have the number of the side as host
    /// part (IPv4 from the benchmark block [RFC2544 sC.2.2]); with a router they
    /// combine the prefix with the interface identifier.
    pub(super) fn address(self, interface: &Interface) -> IpAddr {
        let host = interface.side + 1;
        match (self.ip, self.by_router) {
            (IpVersion::V4, _) => Ipv4Addr::new(198, 18, byte(interface.subnet), host).into(),
            (IpVersion::V6, false) => {
                let mut bytes = Self::prefix(interface.subnet).octets();
                bytes[15] = host;
                Ipv6Addr::from(bytes).into()
            }
            (IpVersion::V6, true) => {
                with_identifier(Self::prefix(interface.subnet), interface.mac).into()
            }
        }
    }
}

/// The number of a subnet, of which a path has a few only.
fn byte(subnet: usize) -> u8 {
    u8::try_from(subnet).unwrap_or(u8::MAX)
}

/// The link-local address that an interface assigns itself [RFC4291 s2.5.6].
pub(super) fn link_local(mac: [u8; 6]) -> Ipv6Addr {
    with_identifier(Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), mac)
}

/// `prefix` combined with the modified EUI-64 of `mac` [RFC4291 App A].
fn with_identifier(prefix: Ipv6Addr, mac: [u8; 6]) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac;
    let mut bytes = prefix.octets();
    bytes[8..].copy_from_slice(&[a ^ 0x02, b, c, 0xff, 0xfe, d, e, f]);
    bytes.into()
}

impl Testbed {
    /// Assigns every interface its address, and adds routes to the other links to every
    /// node.
    pub(super) fn address_by_hand(&self, path: &Path) -> Result<()> {
        let plan = Plan::of(path);
        for (node, interface) in self.addressed() {
            node.namespace.route.add_address(
                &interface.name,
                plan.address(interface),
                plan.prefix_length(),
            )?;
        }
        let Some(gateways) = self.gateways(path) else {
            return Ok(());
        };
        for (host, gateway) in [self.sender(), self.receiver()].into_iter().zip(gateways) {
            host.namespace
                .route
                .add_default_route(&host.interfaces[0].name, gateway)?;
        }
        self.route_between_routers(path)
    }

    /// The addresses of the routers next to the sender and the receiver, if there are
    /// routers.
    pub(super) fn gateways(&self, path: &Path) -> Option<[IpAddr; 2]> {
        let last = self.nodes.len().checked_sub(2).filter(|&last| last > 0)?;
        let address = |node: usize, towards: usize| {
            Plan::of(path).address(&self.nodes[node].interfaces[towards])
        };
        (path.middle == Forwarder::Router).then(|| [address(1, 0), address(last, 1)])
    }

    /// Adds routes to the other links to every router of a chain.
    fn route_between_routers(&self, path: &Path) -> Result<()> {
        let plan = Plan::of(path);
        // Router number n is between the links n - 1 and n.
        for number in 1..self.nodes.len() - 1 {
            let router = &self.nodes[number];
            for link in (0..path.links.len()).filter(|&link| link + 1 != number && link != number) {
                let back = link < number;
                let (next, towards) = if back {
                    (number - 1, 1)
                } else {
                    (number + 1, 0)
                };
                let gateway = plan.address(&self.nodes[next].interfaces[towards]);
                let out = &router.interfaces[usize::from(!back)];
                let network = (plan.network(link), plan.prefix_length());
                router
                    .namespace
                    .route
                    .add_route(Some(network), &out.name, gateway)?;
            }
        }
        Ok(())
    }

    /// The interfaces with addresses, which switches do not have.
    fn addressed(&self) -> impl Iterator<Item = (&Node, &Interface)> {
        self.interfaces()
            .filter(|(node, _)| node.part != Part::Forwarder(Forwarder::Switch))
    }

    /// Lets the router advertise prefix, MTU and default route to the hosts, as in the
    /// 2019 study [Praptodiyono2019 s2], and waits until they are configured.
    pub(super) fn address_by_router(&self, path: &Path) -> Result<()> {
        if path.middle != Forwarder::Router || path.links.len() != 2 || path.ip != IpVersion::V6 {
            return Err(Error::new(
                "addressing the hosts",
                "Router Advertisements need IPv6 and one router",
            ));
        }
        let (plan, router) = (Plan::of(path), &self.nodes[1]);
        for interface in &router.interfaces {
            router.namespace.route.add_address(
                &interface.name,
                plan.address(interface),
                plan.prefix_length(),
            )?;
        }
        for (host, towards) in [(self.sender(), 0), (self.receiver(), 1)] {
            let (own, routers) = (&host.interfaces[0], &router.interfaces[towards]);
            advertise::until_taken(&router.namespace, routers, Plan::prefix(own.subnet), || {
                host.namespace
                    .route
                    .has_address(&own.name, plan.address(own))
            })?;
            let mtu = host
                .namespace
                .parameter(&format!("ipv6/conf/{}/mtu", own.name))?;
            if mtu != u64::from(routers.mtu) {
                return Err(Error::new(
                    format!("advertising MTU {} to the {}", routers.mtu, host.name),
                    format!("it took {mtu}"),
                ));
            }
        }
        Ok(())
    }

    /// Adds permanent neighbour entries for all pairs of neighbours.
    pub(super) fn introduce_neighbours(&self, path: &Path) -> Result<()> {
        let plan = Plan::of(path);
        let ends: Vec<_> = self.addressed().collect();
        for &(node, own) in &ends {
            let others = ends
                .iter()
                .filter(|(_, other)| other.subnet == own.subnet && other.mac != own.mac);
            for (_, other) in others {
                node.namespace
                    .route
                    .add_neighbour(&own.name, plan.address(other), other.mac)?;
                if path.ip == IpVersion::V6 {
                    node.namespace.route.add_neighbour(
                        &own.name,
                        link_local(other.mac).into(),
                        other.mac,
                    )?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_follow_the_example_of_the_rfc() {
        // RFC 4291 Appendix A: 34-56-78-9A-BC-DE gives 3656:78FF:FE9A:BCDE.
        let address = link_local([0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde]);
        assert_eq!(address.to_string(), "fe80::3656:78ff:fe9a:bcde");
    }
}
