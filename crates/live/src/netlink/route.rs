//! Routes and neighbours.

use std::net::IpAddr;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourMessage, NeighbourState,
};
use netlink_packet_route::route::{
    RouteAddress, RouteAttribute, RouteHeader, RouteMessage, RouteProtocol, RouteScope, RouteType,
};

use super::{Mode, Route, family};
use crate::error::Result;

impl Route {
    /// Sends everything that has no closer route to `gateway`.
    pub(crate) fn add_default_route(&self, interface: &str, gateway: IpAddr) -> Result<()> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(gateway);
        message.header.table = RouteHeader::RT_TABLE_MAIN;
        message.header.protocol = RouteProtocol::Static;
        message.header.scope = RouteScope::Universe;
        message.header.kind = RouteType::Unicast;
        message.attributes = vec![
            RouteAttribute::Gateway(match gateway {
                IpAddr::V4(address) => RouteAddress::Inet(address),
                IpAddr::V6(address) => RouteAddress::Inet6(address),
            }),
            RouteAttribute::Oif(self.index(interface)?),
        ];
        self.apply(RouteNetlinkMessage::NewRoute(message), Mode::Create, || {
            format!("routing through {gateway} on {interface}")
        })
    }

    /// Says for good which Ethernet address a neighbour has, so that no
    /// packet ever waits for neighbour discovery.
    pub(crate) fn add_neighbour(
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
