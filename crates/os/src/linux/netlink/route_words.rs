//! Routes in the words of `ip route`, so that a command can change them.

use netlink_packet_route::AddressFamily;
use netlink_packet_route::route::{
    RouteAttribute, RouteFlags, RouteHeader, RouteMessage, RouteMetric, RouteNextHop,
    RouteNextHopFlags, RouteProtocol, RouteScope, RouteVia,
};
use std::fmt::Write as _;

use super::plain::plain;

/// A route as `ip route` writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RouteWords {
    is_ipv6: bool,
    /// Everything but the MTU and several next hops.
    words: String,
    /// Several next hops, which are written last.
    next_hops: String,
}

impl RouteWords {
    /// The command that gives the route this MTU in bytes, or takes it away.
    pub fn change(&self, mtu: Option<u32>) -> String {
        let mtu = mtu.map_or_else(String::new, |mtu| format!(" mtu {mtu}"));
        self.command("change", &mtu)
    }

    /// The command that removes the route.
    pub fn removal(&self) -> String {
        self.command("del", "")
    }

    /// Whether the kernel entered the route for an address of this host.
    pub fn is_of_address(&self) -> bool {
        self.words.contains(&protocol(RouteProtocol::Kernel))
    }

    fn command(&self, verb: &str, mtu: &str) -> String {
        let family = if self.is_ipv6 { "-6 " } else { "" };
        let (words, next_hops) = (&self.words, &self.next_hops);
        format!("ip {family}route {verb} {words}{mtu}{next_hops}")
    }
}

/// The route in words; `None` if it has attributes for which this program has none.
/// `name` is the name of an interface by its index.
pub(super) fn words(
    message: &RouteMessage,
    name: impl Fn(u32) -> Option<String>,
) -> Option<RouteWords> {
    let header = &message.header;
    let mut words = prefix(message)?;
    let mut next_hops = String::new();
    let (mut table, mut has_router) = (u32::from(header.table), false);
    let mut metrics = String::new();
    let (mut device, mut rest) = (String::new(), String::new());
    let by_object = (message.attributes.iter()).any(|one| matches!(one, RouteAttribute::NhId(_)));
    for attribute in &message.attributes {
        match attribute {
            RouteAttribute::Destination(_) | RouteAttribute::CacheInfo(_) => {}
            // A nexthop object has them.
            RouteAttribute::Gateway(_) | RouteAttribute::Oif(_) if by_object => {}
            RouteAttribute::Gateway(router) => {
                has_router = true;
                words += &format!(" via {}", plain(router)?);
            }
            RouteAttribute::Via(RouteVia::Inet6(router)) => {
                has_router = true;
                words += &format!(" via inet6 {router}");
            }
            RouteAttribute::Oif(index) => device += &format!(" dev {}", name(*index)?),
            RouteAttribute::NhId(number) => words += &format!(" nhid {number}"),
            RouteAttribute::MultiPath(hops) => {
                for hop in hops {
                    next_hops += &next_hop(hop, &name)?;
                }
            }
            RouteAttribute::Table(number) => table = *number,
            RouteAttribute::PrefSource(source) => rest += &format!(" src {}", plain(source)?),
            RouteAttribute::Priority(number) => rest += &format!(" metric {number}"),
            RouteAttribute::Metrics(all) => metrics = self::metrics(all)?,
            RouteAttribute::Preference(preference) => match u8::from(*preference) {
                // The kernel's default [LinuxUapi icmpv6.h].
                0 => {}
                1 => rest += " pref high",
                3 => rest += " pref low",
                _ => return None,
            },
            _ => return None,
        }
    }
    words += &device;
    words += &rest;
    if table != u32::from(RouteHeader::RT_TABLE_MAIN) {
        words += &format!(" table {table}");
    }
    words += &protocol(header.protocol);
    let is_ipv6 = header.address_family == AddressFamily::Inet6;
    let has_hops = has_router || by_object || !next_hops.is_empty();
    let usual = match has_hops {
        true => RouteScope::Universe,
        false => RouteScope::Link,
    };
    // IPv6 has no scopes of routes.
    if !is_ipv6 && header.scope != usual {
        words += &format!(" scope {}", u8::from(header.scope));
    }
    if header.flags.contains(RouteFlags::Onlink) && next_hops.is_empty() {
        words += " onlink";
    }
    Some(RouteWords {
        is_ipv6,
        words: words + &metrics,
        next_hops,
    })
}

/// The destination of a route, without a type, which only others than unicast have.
fn prefix(message: &RouteMessage) -> Option<String> {
    let header = &message.header;
    if header.source_prefix_length > 0 || header.tos > 0 {
        return None;
    }
    let destination = message.attributes.iter().find_map(|one| match one {
        RouteAttribute::Destination(address) => Some(plain(address)),
        _ => None,
    });
    match (destination, header.destination_prefix_length) {
        (None, 0) => Some("default".to_owned()),
        (Some(address), length) => Some(format!("{}/{length}", address?)),
        (None, _) => None,
    }
}

/// The protocol that entered a route, by its number where `ip route` may have no name.
fn protocol(protocol: RouteProtocol) -> String {
    match protocol {
        // What `ip route` takes if it is not written.
        RouteProtocol::Boot | RouteProtocol::Unspec => String::new(),
        RouteProtocol::Kernel => " proto kernel".to_owned(),
        RouteProtocol::Static => " proto static".to_owned(),
        other => format!(" proto {}", u8::from(other)),
    }
}

/// The metrics but for the MTU.
fn metrics(all: &[RouteMetric]) -> Option<String> {
    let locked = all.iter().find_map(|metric| match metric {
        RouteMetric::Lock(bits) => Some(*bits),
        _ => None,
    });
    let locked = locked.unwrap_or(0);
    let mut words = String::new();
    for metric in all {
        // The number of a metric is its bit [LinuxUapi rtnetlink.h].
        let (bit, name, value) = match metric {
            RouteMetric::Lock(_) | RouteMetric::Mtu(_) => continue,
            RouteMetric::CcAlgo(name) => (16, "congctl", name.clone()),
            RouteMetric::Window(value) => (3, "window", value.to_string()),
            // The kernel counts eighths and quarters of a millisecond.
            RouteMetric::Rtt(value) => (4, "rtt", format!("{}ms", value / 8)),
            RouteMetric::RttVar(value) => (5, "rttvar", format!("{}ms", value / 4)),
            RouteMetric::SsThresh(value) => (6, "ssthresh", value.to_string()),
            RouteMetric::Cwnd(value) => (7, "cwnd", value.to_string()),
            RouteMetric::Advmss(value) => (8, "advmss", value.to_string()),
            RouteMetric::Reordering(value) => (9, "reordering", value.to_string()),
            RouteMetric::Hoplimit(value) => (10, "hoplimit", value.to_string()),
            RouteMetric::InitCwnd(value) => (11, "initcwnd", value.to_string()),
            RouteMetric::Features(1) => (12, "features", "ecn".to_owned()),
            // `ip route` locks it always.
            RouteMetric::RtoMin(value) => (0, "rto_min", format!("{value}ms")),
            RouteMetric::InitRwnd(value) => (14, "initrwnd", value.to_string()),
            RouteMetric::QuickAck(value) => (15, "quickack", value.to_string()),
            RouteMetric::FastopenNoCookie(value) => (17, "fastopen_no_cookie", value.to_string()),
            _ => return None,
        };
        let lock = match bit > 0 && locked & 1 << bit > 0 {
            true => " lock",
            false => "",
        };
        write!(words, " {name}{lock} {value}").ok()?;
    }
    Some(words)
}

fn next_hop(hop: &RouteNextHop, name: impl Fn(u32) -> Option<String>) -> Option<String> {
    let mut words = " nexthop".to_owned();
    for attribute in &hop.attributes {
        match attribute {
            RouteAttribute::Gateway(router) => words += &format!(" via {}", plain(router)?),
            RouteAttribute::Via(RouteVia::Inet6(router)) => {
                words += &format!(" via inet6 {router}");
            }
            _ => return None,
        }
    }
    words += &format!(" dev {}", name(hop.interface_index)?);
    // The kernel counts the weight from zero.
    words += &format!(" weight {}", u32::from(hop.hops) + 1);
    if hop.flags.contains(RouteNextHopFlags::Onlink) {
        words += " onlink";
    }
    Some(words)
}
