//! The far ends of tunnels, and the headers that tunnels add.

use std::net::IpAddr;

use netlink_packet_route::link::{
    GreEncapType, GreIOFlags, InfoData, InfoGeneve, InfoGre, InfoGre6, InfoIpTunnel, InfoVxlan,
    Ip6TunnelFlags, LinkInfo, TunnelEncapType,
};

/// Headers of IPv4 [RFC791 s3.1] and IPv6 [RFC8200 s3].
const IPV4: u32 = 20;
const IPV6: u32 = 40;
/// UDP, the tunnel's header, and Ethernet, in VXLAN [RFC7348 s5] and in Geneve without
/// options [RFC8926 s3.4].
const ETHERNET_IN_UDP: u32 = 8 + 8 + ETHERNET;
const ETHERNET: u32 = 14;
/// GRE without and with its optional fields, of 4 bytes each [RFC2784] [RFC2890].
const GRE: u32 = 4;
const GRE_FIELD: u32 = 4;
/// The option that limits the depth of tunnels over IPv6 [RFC2473 s4.1.1].
const DEPTH_LIMIT: u32 = 8;

/// The packets that a tunnel interface sends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encapsulation {
    /// The far end of the tunnel.
    pub far_end: IpAddr,
    /// Bytes in front of an inner packet, with the outer header of IP.
    pub headers: u32,
}

/// The encapsulation of an interface with one known far end and headers of a known size.
pub(super) fn encapsulation(infos: &[LinkInfo]) -> Option<Encapsulation> {
    let data = infos.iter().find_map(|info| match info {
        LinkInfo::Data(data) => Some(data),
        _ => None,
    })?;
    let (far_end, added) = match data {
        InfoData::Vxlan(all) => (all.iter().find_map(vxlan_end)?, ETHERNET_IN_UDP),
        InfoData::Geneve(all) => (all.iter().find_map(geneve_end)?, ETHERNET_IN_UDP),
        InfoData::GreTun(all) => (all.iter().find_map(gre_end)?, gre(all)?),
        InfoData::GreTap(all) => (all.iter().find_map(gre_end)?, gre(all)? + ETHERNET),
        // The flags are not read: at least the shortest header.
        InfoData::GreTun6(all) => (all.iter().find_map(gre6_end)?, GRE),
        InfoData::GreTap6(all) => (all.iter().find_map(gre6_end)?, GRE + ETHERNET),
        InfoData::IpTunnel(all) => (all.iter().find_map(ip_end)?, ip(all)?),
        _ => return None,
    };
    let outer = match far_end {
        IpAddr::V4(_) => IPV4,
        IpAddr::V6(_) => IPV6,
    };
    // A tunnel without a far end has one for each destination.
    (!far_end.is_unspecified()).then_some(Encapsulation {
        far_end,
        headers: outer + added,
    })
}

fn vxlan_end(info: &InfoVxlan) -> Option<IpAddr> {
    match info {
        InfoVxlan::Group(four) => Some((*four).into()),
        InfoVxlan::Group6(six) => Some((*six).into()),
        _ => None,
    }
}

fn geneve_end(info: &InfoGeneve) -> Option<IpAddr> {
    match info {
        InfoGeneve::Remote(four) => Some((*four).into()),
        InfoGeneve::Remote6(six) => Some((*six).into()),
        _ => None,
    }
}

fn gre_end(info: &InfoGre) -> Option<IpAddr> {
    match info {
        InfoGre::Remote(four) => Some((*four).into()),
        _ => None,
    }
}

fn gre6_end(info: &InfoGre6) -> Option<IpAddr> {
    match info {
        InfoGre6::Remote(six) => Some((*six).into()),
        _ => None,
    }
}

const fn ip_end(info: &InfoIpTunnel) -> Option<IpAddr> {
    match info {
        InfoIpTunnel::Remote(end) => Some(*end),
        _ => None,
    }
}

/// Bytes of the header of GRE; `None` inside another encapsulation.
fn gre(all: &[InfoGre]) -> Option<u32> {
    let mut header = GRE;
    for info in all {
        match info {
            InfoGre::OFlags(flags) => {
                let fields = [GreIOFlags::Checksum, GreIOFlags::Key, GreIOFlags::Seq];
                let set = fields.into_iter().filter(|field| flags.contains(*field));
                header += set.map(|_| GRE_FIELD).sum::<u32>();
            }
            InfoGre::EncapType(kind) if *kind != GreEncapType::None => return None,
            _ => {}
        }
    }
    Some(header)
}

/// Bytes between the outer and the inner header of IP in IP [RFC2003] [RFC2473]; `None`
/// inside another encapsulation.
fn ip(all: &[InfoIpTunnel]) -> Option<u32> {
    let mut header = 0;
    for info in all {
        match info {
            InfoIpTunnel::Ipv6Flags(flags) if !flags.contains(Ip6TunnelFlags::IgnEncapLimit) => {
                header = DEPTH_LIMIT;
            }
            InfoIpTunnel::EncapType(kind) if *kind != TunnelEncapType::None => return None,
            _ => {}
        }
    }
    Some(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_far_ends_of_tunnels_are_read_with_the_headers_that_they_add() {
        let six: std::net::Ipv6Addr = "fd00::9".parse().unwrap();
        let ip = IpAddr::from([10, 0, 0, 9]);
        let gre = |flags| {
            InfoData::GreTun(vec![
                InfoGre::OFlags(flags),
                InfoGre::Remote([10, 0, 0, 9].into()),
            ])
        };
        let tunnel6 = |flags| {
            InfoData::IpTunnel(vec![
                InfoIpTunnel::Remote(six.into()),
                InfoIpTunnel::Ipv6Flags(flags),
            ])
        };
        let key = GreIOFlags::Key | GreIOFlags::Seq;
        let fou = InfoIpTunnel::EncapType(TunnelEncapType::Fou);
        for (data, expected) in [
            (
                InfoData::Vxlan(vec![InfoVxlan::Id(7), InfoVxlan::Group6(six)]),
                Some((six.into(), 70)),
            ),
            (
                InfoData::Geneve(vec![InfoGeneve::Remote([10, 0, 0, 9].into())]),
                Some((ip, 50)),
            ),
            (
                InfoData::IpTunnel(vec![InfoIpTunnel::Remote(ip)]),
                Some((ip, 20)),
            ),
            (gre(GreIOFlags::empty()), Some((ip, 24))),
            (gre(key), Some((ip, 32))),
            (
                InfoData::GreTap(vec![InfoGre::Remote([10, 0, 0, 9].into())]),
                Some((ip, 38)),
            ),
            (tunnel6(Ip6TunnelFlags::empty()), Some((six.into(), 48))),
            (
                tunnel6(Ip6TunnelFlags::IgnEncapLimit),
                Some((six.into(), 40)),
            ),
            // One that learns its ends, and one that has another end for each packet.
            (InfoData::Vxlan(vec![InfoVxlan::Id(7)]), None),
            (InfoData::GreTun(vec![InfoGre::Remote([0; 4].into())]), None),
            (
                InfoData::IpTunnel(vec![InfoIpTunnel::Remote(ip), fou]),
                None,
            ),
            (InfoData::Vlan(Vec::new()), None),
        ] {
            let found = encapsulation(&[LinkInfo::Data(data)]);
            assert_eq!(found.map(|one| (one.far_end, one.headers)), expected);
        }
    }
}
