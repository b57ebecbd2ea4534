//! The MTU of a route, and the time until a cached one expires.

use netlink_packet_route::route::{RouteAttribute, RouteFlags, RouteMessage, RouteMetric};
use units::Span;

/// Ticks of the kernel's times in messages, in a second [LinuxUapi param.h].
const USER_HZ: u64 = 100;

/// The number of the metric of the MTU [LinuxUapi rtnetlink.h].
const RTAX_MTU: u32 = 2;

/// The MTU among the attributes of a route, and whether it is locked.
pub(super) fn mtu(attributes: &[RouteAttribute]) -> (Option<u32>, bool) {
    let (mut mtu, mut locked) = (None, 0);
    let metrics = attributes.iter().filter_map(|attribute| match attribute {
        RouteAttribute::Metrics(metrics) => Some(metrics),
        _ => None,
    });
    for metric in metrics.flatten() {
        match metric {
            RouteMetric::Mtu(value) => mtu = Some(*value),
            RouteMetric::Lock(bits) => locked = *bits,
            _ => {}
        }
    }
    (mtu, locked & 1 << RTAX_MTU > 0)
}

/// The time until the kernel forgets the path MTU that it remembers, if the route is one.
pub(super) fn expires(message: &RouteMessage) -> Option<Span> {
    let is_remembered = message.header.flags.contains(RouteFlags::Cloned);
    let ticks = message.attributes.iter().find_map(|one| match one {
        RouteAttribute::CacheInfo(info) => Some(info.expires),
        _ => None,
    });
    // The kernel's number is signed, and 0 without an end.
    let ticks = ticks.and_then(|ticks| i32::try_from(ticks).ok());
    let ticks = ticks.and_then(|ticks| u64::try_from(ticks).ok());
    let ticks = ticks.filter(|&ticks| is_remembered && ticks > 0)?;
    Some(Span::from_millis(1_000 / USER_HZ * ticks))
}
