//! Addresses in routes.

use std::net::IpAddr;

use netlink_packet_route::route::RouteAddress;

/// An address of IPv4 or IPv6 in a route.
pub(super) const fn plain(address: &RouteAddress) -> Option<IpAddr> {
    match address {
        RouteAddress::Inet(address) => Some(IpAddr::V4(*address)),
        RouteAddress::Inet6(address) => Some(IpAddr::V6(*address)),
        _ => None,
    }
}
