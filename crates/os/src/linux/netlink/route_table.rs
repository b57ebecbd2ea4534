//! The MTUs that routes set, and the path MTUs that the kernel remembers.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use netlink_packet_core::NLM_F_ACK;
use netlink_packet_route::route::{
    RouteAttribute, RouteFlags, RouteMessage, RouteProtocol, RouteType,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};
use units::Span;

use super::plain::plain;
use super::route_metrics::{expires, mtu};
use super::route_words::{self, RouteWords};
use super::{Listed, Route, family};
use crate::error::{OperationContext, Result};

/// A unicast route, or the path MTU that the kernel remembers for one address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRoute {
    /// The first address of its prefix.
    pub network: IpAddr,
    /// Length of the prefix in bits.
    pub length: u8,
    /// Indices of the interfaces through which it leads.
    pub interfaces: Vec<u32>,
    /// The first router; `None` if there is none, or several.
    pub router: Option<IpAddr>,
    /// Of the routes to a network the kernel takes the one with the lowest metric.
    pub metric: u32,
    /// Its MTU in bytes, if it sets one.
    pub mtu: Option<u32>,
    /// Whether the kernel must not learn a smaller one.
    pub is_locked: bool,
    /// Whether it is of a router advertisement [RFC4861 s6.3.4].
    pub is_advertised: bool,
    /// Of a path MTU that the kernel remembers: the time until it forgets it.
    pub expires: Option<Span>,
    /// The route in words; `None` if it has attributes that this program cannot write.
    pub words: Option<RouteWords>,
}

impl Route {
    /// All unicast routes and all path MTUs that the kernel remembers. `interfaces` has
    /// their names.
    pub fn table_routes(&self, interfaces: &[Listed]) -> Result<Vec<TableRoute>> {
        let names = names(interfaces);
        let mut routes = Vec::new();
        for family in [AddressFamily::Inet, AddressFamily::Inet6] {
            let mut request = RouteMessage::default();
            request.header.address_family = family;
            let request = RouteNetlinkMessage::GetRoute(request);
            self.dump(request, "listing routes", |listed| {
                if let RouteNetlinkMessage::NewRoute(message) = listed {
                    routes.extend(read(&message, &names));
                }
            })?;
        }
        Ok(routes)
    }

    /// The route of a table that the kernel takes to an address, if given through one
    /// interface. `interfaces` has the names.
    ///
    /// # Errors
    /// The kernel's, e.g. `ENETUNREACH` without a route.
    pub fn matching(
        &self,
        to: IpAddr,
        interface: Option<u32>,
        interfaces: &[Listed],
    ) -> Result<Option<TableRoute>> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(to);
        message.header.destination_prefix_length = if to.is_ipv4() { 32 } else { 128 };
        message.header.flags = RouteFlags::FibMatch;
        message.attributes = vec![RouteAttribute::Destination(to.into())];
        let through = interface.map(RouteAttribute::Oif);
        message.attributes.extend(through);
        let names = names(interfaces);
        let mut found = None;
        let request = RouteNetlinkMessage::GetRoute(message);
        self.request_response(request, NLM_F_ACK, |entry| {
            if let RouteNetlinkMessage::NewRoute(route) = entry {
                found = read(&route, &names);
            }
        })
        .during(|| format!("looking for the route to {to}"))?;
        Ok(found)
    }
}

fn names(interfaces: &[Listed]) -> BTreeMap<u32, &str> {
    let names = interfaces.iter().map(|one| (one.index, one.name.as_str()));
    names.collect()
}

/// A unicast route that leads through an interface.
fn read(message: &RouteMessage, names: &BTreeMap<u32, &str>) -> Option<TableRoute> {
    if message.header.kind != RouteType::Unicast {
        return None;
    }
    let mut network = match message.header.address_family {
        AddressFamily::Inet => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        AddressFamily::Inet6 => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
        _ => return None,
    };
    let (mut interfaces, mut router, mut metric) = (Vec::new(), None, 0);
    for attribute in &message.attributes {
        match attribute {
            RouteAttribute::Destination(address) => network = plain(address)?,
            RouteAttribute::Oif(index) => interfaces.push(*index),
            RouteAttribute::Priority(number) => metric = *number,
            RouteAttribute::Gateway(address) => router = plain(address),
            RouteAttribute::MultiPath(hops) => {
                interfaces.extend(hops.iter().map(|hop| hop.interface_index));
            }
            _ => {}
        }
    }
    let (mtu, is_locked) = mtu(&message.attributes);
    let name = |index| names.get(&index).map(|name| (*name).to_owned());
    Some(TableRoute {
        network,
        length: message.header.destination_prefix_length,
        interfaces,
        router,
        metric,
        mtu,
        is_locked,
        is_advertised: message.header.protocol == RouteProtocol::Ra,
        expires: expires(message),
        words: route_words::words(message, name),
    })
}

#[cfg(test)]
mod tests;
