//! Fragments that this host makes of packets outside of a tunnel.

use std::net::IpAddr;

use crate::machine::PathReport;
use netlink_packet_route::link::{
    InfoData, InfoGeneve, InfoIpTunnel, InfoVxlan, LinkAttribute, LinkInfo, LinkMessage,
};
use units::{Bytes, IpVersion};

use super::Outgoing;
use os::fragments::Fragments;
use os::netlink::Route;

/// Bytes between the outer and the inner IP packet in VXLAN [RFC7348 s5] and Geneve
/// without options [RFC8926 s3.4]: UDP, the tunnel's header, and Ethernet.
const ETHERNET_IN_UDP: u64 = 8 + 8 + 14;

/// The tunnel through which probes leave, before they do.
pub(super) struct Tunnel {
    ip: IpVersion,
    /// The largest packet inside that leaves whole.
    fits: Bytes,
    before: Fragments,
}

impl Tunnel {
    /// The tunnel of this interface, if it is one to a known end, and if its packets may be
    /// too large for the interface below.
    pub(super) fn of(outgoing: &Outgoing) -> Option<Self> {
        let route = Route::open().ok()?;
        let (end, added) = ends(&route.link(&outgoing.interface).ok()?)?;
        let ip = match end {
            IpAddr::V4(_) => IpVersion::V4,
            IpAddr::V6(_) => IpVersion::V6,
        };
        let below = route.choose(end, None, None).ok()?.interface;
        let all = route.interfaces().ok()?;
        let below = all.iter().find(|one| one.index == below)?;
        let fits = Bytes::new(below.mtu.into()).checked_sub(ip.header() + Bytes::new(added))?;
        let before = Fragments::here(ip).ok()?;
        (fits < outgoing.mtu).then_some(Self { ip, fits, before })
    }

    /// Adds to the report that this host made fragments since then, if it did.
    pub(super) fn add_to(&self, report: &mut PathReport) {
        let Ok(now) = Fragments::here(self.ip) else {
            return;
        };
        let made = now.since(&self.before).made;
        if made > 0 {
            report.add_outer_fragments(made, self.fits);
        }
    }
}

/// The far end of a tunnel, and the bytes between its header of IP and the inner packet.
fn ends(link: &LinkMessage) -> Option<(IpAddr, u64)> {
    let infos = link
        .attributes
        .iter()
        .find_map(|attribute| match attribute {
            LinkAttribute::LinkInfo(infos) => Some(infos),
            _ => None,
        })?;
    let data = infos.iter().find_map(|info| match info {
        LinkInfo::Data(data) => Some(data),
        _ => None,
    })?;
    match data {
        InfoData::Vxlan(all) => all.iter().find_map(|one| match one {
            InfoVxlan::Group(four) => Some((IpAddr::V4(*four), ETHERNET_IN_UDP)),
            InfoVxlan::Group6(six) => Some((IpAddr::V6(*six), ETHERNET_IN_UDP)),
            _ => None,
        }),
        InfoData::Geneve(all) => all.iter().find_map(|one| match one {
            InfoGeneve::Remote(four) => Some((IpAddr::V4(*four), ETHERNET_IN_UDP)),
            InfoGeneve::Remote6(six) => Some((IpAddr::V6(*six), ETHERNET_IN_UDP)),
            _ => None,
        }),
        // IP in IP [RFC2003].
        InfoData::IpTunnel(all) => all.iter().find_map(|one| match one {
            InfoIpTunnel::Remote(end) => Some((*end, 0)),
            _ => None,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_ends_of_tunnels_are_read_with_the_bytes_that_they_add() {
        let link = |data| {
            let mut link = LinkMessage::default();
            link.attributes = vec![LinkAttribute::LinkInfo(vec![LinkInfo::Data(data)])];
            link
        };
        let six: std::net::Ipv6Addr = "fd00::9".parse().unwrap();
        let ip = IpAddr::from([10, 0, 0, 9]);
        for (data, expected) in [
            (
                InfoData::Vxlan(vec![InfoVxlan::Id(7), InfoVxlan::Group6(six)]),
                Some((IpAddr::V6(six), 30)),
            ),
            (
                InfoData::Geneve(vec![InfoGeneve::Remote([10, 0, 0, 9].into())]),
                Some((ip, 30)),
            ),
            (
                InfoData::IpTunnel(vec![InfoIpTunnel::Remote(ip)]),
                Some((ip, 0)),
            ),
            // One that learns its ends.
            (InfoData::Vxlan(vec![InfoVxlan::Id(7)]), None),
            (InfoData::Vlan(Vec::new()), None),
        ] {
            assert_eq!(ends(&link(data)), expected);
        }
    }
}
