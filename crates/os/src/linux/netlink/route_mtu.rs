//! MTUs in the metrics of IPv6 routes, which the kernel changes together with the MTU of
//! their interface.

use netlink_packet_core::{DecodeError, Emitable, Parseable};
use netlink_packet_route::route::{
    RouteAttribute, RouteFlags, RouteMessage, RouteMetric, RouteProtocol,
};
use netlink_packet_route::{AddressFamily, RouteNetlinkMessage};

use super::{Mode, Route};
use crate::error::{Error, Result};

/// An IPv6 route with an MTU in its metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RouteMtu {
    /// The route without this MTU, as a message to the kernel. It identifies the route.
    pub(crate) route: Vec<u8>,
    /// Index of its interface.
    pub(crate) interface: u32,
    /// Whether it is of a router advertisement, whose successor sets the MTU again.
    pub(crate) advertised: bool,
    /// The MTU in bytes.
    pub(crate) mtu: u32,
}

impl Route {
    /// All IPv6 routes through one interface with an MTU in their metrics.
    pub(crate) fn route_mtus(&self) -> Result<Vec<RouteMtu>> {
        let mut message = RouteMessage::default();
        message.header.address_family = AddressFamily::Inet6;
        let mut routes = Vec::new();
        self.dump(
            RouteNetlinkMessage::GetRoute(message),
            "listing IPv6 routes",
            |entry| {
                if let RouteNetlinkMessage::NewRoute(route) = entry {
                    routes.extend(with_mtu(route));
                }
            },
        )?;
        Ok(routes)
    }

    /// Replaces a route of [`Route::route_mtus`] by the same with another MTU.
    pub(crate) fn set_route_mtu(&self, route: &[u8], mtu: u32) -> Result<()> {
        let operation = || format!("giving an IPv6 route MTU {mtu}");
        let mut message =
            parse(route).map_err(|error| Error::new(operation(), error.to_string()))?;
        let metrics = message
            .attributes
            .iter_mut()
            .find_map(|attribute| match attribute {
                RouteAttribute::Metrics(metrics) => Some(metrics),
                _ => None,
            });
        match metrics {
            Some(metrics) => metrics.push(RouteMetric::Mtu(mtu)),
            None => message
                .attributes
                .push(RouteAttribute::Metrics(vec![RouteMetric::Mtu(mtu)])),
        }
        let message = RouteNetlinkMessage::NewRoute(message);
        self.apply(message, Mode::Replace, operation)
    }
}

fn parse(route: &[u8]) -> std::result::Result<RouteMessage, DecodeError> {
    RouteMessage::parse(route)
}

/// The route, if it has one interface and an MTU.
fn with_mtu(mut route: RouteMessage) -> Option<RouteMtu> {
    let (mut interface, mut mtu) = (None, None);
    for attribute in &mut route.attributes {
        match attribute {
            RouteAttribute::Oif(index) => interface = Some(*index),
            RouteAttribute::Metrics(metrics) => metrics.retain(|metric| match metric {
                RouteMetric::Mtu(value) => {
                    mtu = Some(*value);
                    false
                }
                _ => true,
            }),
            _ => {}
        }
    }
    // State that is not part of the route: its age, and whether the link is up. A route
    // that refers to a nexthop object takes interface and router from it.
    let by_object = route
        .attributes
        .iter()
        .any(|attribute| matches!(attribute, RouteAttribute::NhId(_)));
    route.attributes.retain(|attribute| match attribute {
        RouteAttribute::CacheInfo(_) => false,
        RouteAttribute::Metrics(metrics) => !metrics.is_empty(),
        RouteAttribute::Oif(_) | RouteAttribute::Gateway(_) => !by_object,
        _ => true,
    });
    route.header.flags &= RouteFlags::Onlink;
    let mut bytes = vec![0; route.buffer_len()];
    route.emit(&mut bytes);
    Some(RouteMtu {
        route: bytes,
        interface: interface?,
        advertised: route.header.protocol == RouteProtocol::Ra,
        mtu: mtu?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_route_is_the_same_whatever_its_mtu_and_age() {
        let route = |mtu, flags| {
            let mut route = RouteMessage::default();
            route.header.address_family = AddressFamily::Inet6;
            route.header.flags = flags;
            route.attributes = vec![
                RouteAttribute::Metrics(vec![RouteMetric::Mtu(mtu), RouteMetric::Hoplimit(7)]),
                RouteAttribute::Oif(3),
            ];
            with_mtu(route).unwrap()
        };
        let one = route(1400, RouteFlags::empty());
        let other = route(1280, RouteFlags::Linkdown);
        assert_eq!((one.mtu, other.mtu, one.interface), (1400, 1280, 3));
        assert_eq!(one.route, other.route);
        let read = parse(&one.route).unwrap();
        assert!(
            read.attributes
                .contains(&RouteAttribute::Metrics(vec![RouteMetric::Hoplimit(7)]))
        );
        assert!(with_mtu(RouteMessage::default()).is_none());
        assert!(parse(&[1, 2]).is_err());
    }
}
