//! Routes and neighbours.

use std::net::IpAddr;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteMetric, RouteProtocol,
    RouteScope, RouteType,
};
use units::Span;

use super::{Mode, Route, family};
use crate::error::Result;

/// A route to one host.
pub struct HostRoute<'a> {
    pub interface: &'a str,
    pub destination: IpAddr,
    /// `None` if the host is on the link.
    pub gateway: Option<IpAddr>,
}

/// The settings of TCP for connections over a route; absent ones are the kernel's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OfTcp {
    /// The congestion control.
    pub congestion: Option<String>,
    /// Segments of the first window.
    pub initial_window: Option<u32>,
    /// The least retransmission timeout, in whole milliseconds.
    pub min_rto: Option<Span>,
    /// Whether every segment is acknowledged at once.
    pub acknowledges_each: bool,
}

/// The number of the metric of the least timeout, which the kernel obeys only where it is
/// locked [LinuxUapi rtnetlink.h].
const RTAX_RTO_MIN: u32 = 13;

impl OfTcp {
    fn metrics(&self) -> Vec<RouteMetric> {
        let millis = |span: Span| u32::try_from(span.as_nanos() / 1_000_000).unwrap_or(u32::MAX);
        let timeout = self.min_rto.map(|timeout| {
            let least = RouteMetric::RtoMin(millis(timeout));
            [RouteMetric::Lock(1 << RTAX_RTO_MIN), least]
        });
        let window = self.initial_window.map(RouteMetric::InitCwnd);
        let each = self.acknowledges_each.then_some(RouteMetric::QuickAck(1));
        let congestion = self.congestion.clone().map(RouteMetric::CcAlgo);
        let metrics = [window, each, congestion].into_iter().flatten();
        timeout.into_iter().flatten().chain(metrics).collect()
    }
}

impl Route {
    /// Adds a default route via `gateway`.
    pub fn add_default_route(&self, interface: &str, gateway: IpAddr) -> Result<()> {
        self.add_route(None, interface, gateway)
    }

    /// Adds or replaces the route via `gateway` to `network` (address and prefix length).
    pub fn set_route(&self, network: (IpAddr, u8), interface: &str, gateway: IpAddr) -> Result<()> {
        self.route_via(Some(network), interface, gateway, Mode::Replace)
    }

    /// Adds a route via `gateway` to the network (address and prefix length), or a
    /// default route.
    pub fn add_route(
        &self,
        network: Option<(IpAddr, u8)>,
        interface: &str,
        gateway: IpAddr,
    ) -> Result<()> {
        self.route_via(network, interface, gateway, Mode::Create)
    }

    fn route_via(
        &self,
        network: Option<(IpAddr, u8)>,
        interface: &str,
        gateway: IpAddr,
        mode: Mode,
    ) -> Result<()> {
        let mut message = unicast(gateway);
        message.attributes = vec![
            RouteAttribute::Gateway(route_address(gateway)),
            RouteAttribute::Oif(self.index(interface)?),
        ];
        if let Some((prefix, length)) = network {
            message.header.destination_prefix_length = length;
            let destination = RouteAttribute::Destination(route_address(prefix));
            message.attributes.push(destination);
        }
        self.apply(RouteNetlinkMessage::NewRoute(message), mode, || {
            format!("routing through {gateway} on {interface}")
        })
    }

    /// Adds or removes a route to a network through an interface alone, which is preferred
    /// to those of routing daemons.
    pub fn set_network_route(
        &self,
        interface: &str,
        (network, length): (IpAddr, u8),
        is_there: bool,
    ) -> Result<()> {
        let mut message = unicast(network);
        message.header.destination_prefix_length = length;
        message.header.scope = RouteScope::Link;
        message.attributes = vec![
            RouteAttribute::Destination(route_address(network)),
            RouteAttribute::Oif(self.index(interface)?),
            // The best metric; IPv6 takes 0 for the default, 1024.
            RouteAttribute::Priority(1),
        ];
        let operation = || format!("routing {network}/{length} to {interface}");
        if is_there {
            return self.apply(
                RouteNetlinkMessage::NewRoute(message),
                Mode::Create,
                operation,
            );
        }
        let message = RouteNetlinkMessage::DelRoute(message);
        match self.apply(message, Mode::Change, operation) {
            Err(error) if error.source.raw_os_error() == Some(libc::ESRCH) => Ok(()),
            result => result,
        }
    }

    /// Adds a route to one host on the link of an interface.
    pub fn add_route_to_host(&self, interface: &str, host: IpAddr) -> Result<()> {
        let mut message = unicast(host);
        message.header.destination_prefix_length = match host {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        };
        message.header.scope = RouteScope::Link;
        message.attributes = vec![
            RouteAttribute::Destination(route_address(host)),
            RouteAttribute::Oif(self.index(interface)?),
        ];
        self.apply(RouteNetlinkMessage::NewRoute(message), Mode::Create, || {
            format!("routing to {host} on {interface}")
        })
    }

    /// Creates or replaces the route to one host, with settings of TCP.
    pub fn set_host_route(&self, route: &HostRoute<'_>, tcp: &OfTcp) -> Result<()> {
        let mut message = self.host_route(route)?;
        let metrics = RouteAttribute::Metrics(tcp.metrics());
        message.attributes.push(metrics);
        self.apply(
            RouteNetlinkMessage::NewRoute(message),
            Mode::Replace,
            || {
                let congestion = tcp.congestion.as_deref();
                let with = congestion.map_or_else(
                    || "settings of TCP".to_owned(),
                    |name| format!("congestion control {name}"),
                );
                format!("routing to {} with {with}", route.destination)
            },
        )
    }

    /// Removes the route to one host, if there is one.
    pub fn remove_host_route(&self, route: &HostRoute<'_>) -> Result<()> {
        // Routes match by destination; their metrics may differ.
        let message = self.host_route(route)?;
        let operation = || format!("removing the route to {}", route.destination);
        match self.apply(
            RouteNetlinkMessage::DelRoute(message),
            Mode::Change,
            operation,
        ) {
            Err(error) if error.source.raw_os_error() == Some(libc::ESRCH) => Ok(()),
            result => result,
        }
    }

    fn host_route(&self, route: &HostRoute<'_>) -> Result<RouteMessage> {
        let mut message = unicast(route.destination);
        message.header.destination_prefix_length = match route.destination {
            IpAddr::V4(_) => 32,
            IpAddr::V6(_) => 128,
        };
        message.header.scope = match route.gateway {
            Some(_) => RouteScope::Universe,
            None => RouteScope::Link,
        };
        message.attributes = vec![
            RouteAttribute::Destination(route_address(route.destination)),
            RouteAttribute::Oif(self.index(route.interface)?),
        ];
        let gateway = route.gateway.map(route_address);
        message
            .attributes
            .extend(gateway.map(RouteAttribute::Gateway));
        Ok(message)
    }

    /// Sets the Ethernet address of a neighbour permanently, so that no packet waits
    /// for neighbour discovery.
    pub fn add_neighbour(
        &self,
        interface: &str,
        neighbour: IpAddr,
        address: [u8; 6],
    ) -> Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = family(neighbour);
        message.header.ifindex = self.index(interface)?;
        message.header.state = NeighbourState::Permanent;
        message.attributes = vec![
            NeighbourAttribute::Destination(match neighbour {
                IpAddr::V4(address) => NeighbourAddress::Inet(address),
                IpAddr::V6(address) => NeighbourAddress::Inet6(address),
            }),
            NeighbourAttribute::LinkLayerAddress(address.to_vec()),
        ];
        self.apply(
            RouteNetlinkMessage::NewNeighbour(message),
            Mode::Replace,
            || format!("naming the neighbour {neighbour} on {interface}"),
        )
    }
}

/// A route of the main table in the family of `address`.
fn unicast(address: IpAddr) -> RouteMessage {
    let mut message = RouteMessage::default();
    message.header.address_family = family(address);
    message.header.table = RouteHeader::RT_TABLE_MAIN;
    message.header.protocol = RouteProtocol::Static;
    message.header.scope = RouteScope::Universe;
    message.header.kind = RouteType::Unicast;
    message
}

fn route_address(address: IpAddr) -> RouteAddress {
    match address {
        IpAddr::V4(address) => RouteAddress::Inet(address),
        IpAddr::V6(address) => RouteAddress::Inet6(address),
    }
}
