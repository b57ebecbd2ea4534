//! The kernel's choice of a route, and interfaces by their number.

use std::net::IpAddr;

use netlink_packet_core::NLM_F_ACK;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::link::{
    AfSpecInet6, AfSpecUnspec, LinkAttribute, LinkFlags, LinkInfo, LinkMessage,
};
use netlink_packet_route::route::{RouteAttribute, RouteMessage, RouteType};
use units::Span;

use super::plain::plain;
use super::route_metrics;
use super::tunnel::{Encapsulation, encapsulation};
use super::{Route, family};
use crate::error::{OperationContext, Result};

/// The route that the kernel takes to an address.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Chosen {
    /// Index of the interface.
    pub interface: u32,
    /// The next router; `None` if the address is on the link.
    pub gateway: Option<IpAddr>,
    /// The source address that the kernel prefers.
    pub source: Option<IpAddr>,
    /// Whether the address is the broadcast address of a network.
    pub broadcast: bool,
    /// The MTU in bytes of the route, or the path MTU that the kernel remembers; `None`:
    /// that of the interface.
    pub mtu: Option<u32>,
    /// Of a path MTU that the kernel remembers: the time until it forgets it.
    pub expires: Option<Span>,
}

/// An interface in the kernel's list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listed {
    pub index: u32,
    pub name: String,
    /// Its MTU in bytes.
    pub mtu: u32,
    /// Whether it was set up.
    pub up: bool,
    /// Whether it has a carrier.
    pub carrier: bool,
    /// Whether it is the loopback interface.
    pub loopback: bool,
    /// The kernel's name of its kind, such as `vlan`; `None` for hardware.
    pub kind: Option<String>,
    /// Its MTU for IPv6 in bytes; `None` without IPv6.
    pub ipv6_mtu: Option<u32>,
    /// Its encapsulation, if it is a tunnel to one far end.
    pub tunnel: Option<Encapsulation>,
    /// Index of the interface on which it is stacked, such as the parent of a VLAN.
    pub(crate) lower: Option<u32>,
    /// Index of the other end of a veth pair, if that is in the same namespace.
    pub peer: Option<u32>,
    /// Index of the bridge or bond of which it is a port.
    pub controller: Option<u32>,
}

/// The interface that carries the packets of another one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Below {
    pub interface: String,
    /// The MTU in bytes towards the far end of the tunnel.
    pub mtu: u32,
    /// The largest packet of the upper interface, in bytes, that leaves in one piece.
    pub fits: u32,
}

impl Route {
    /// Asks for the route to an address, if given through one interface and from one
    /// source address.
    ///
    /// # Errors
    /// The kernel's, e.g. `ENETUNREACH` without a route.
    pub fn choose(
        &self,
        to: IpAddr,
        interface: Option<u32>,
        source: Option<IpAddr>,
    ) -> Result<Chosen> {
        let mut message = RouteMessage::default();
        message.header.address_family = family(to);
        let length = |address: IpAddr| if address.is_ipv4() { 32 } else { 128 };
        message.header.destination_prefix_length = length(to);
        message.attributes = vec![RouteAttribute::Destination(to.into())];
        if let Some(source) = source {
            message.header.source_prefix_length = length(source);
            message
                .attributes
                .push(RouteAttribute::Source(source.into()));
        }
        message
            .attributes
            .extend(interface.map(RouteAttribute::Oif));
        let mut chosen = Chosen::default();
        let request = RouteNetlinkMessage::GetRoute(message);
        self.request_response(request, NLM_F_ACK, |entry| {
            if let RouteNetlinkMessage::NewRoute(route) = entry {
                chosen = read(&route);
            }
        })
        .during(|| format!("looking for the route to {to}"))?;
        Ok(chosen)
    }

    /// Whether packets wait for the address of a neighbour on the interface `index`.
    pub(super) fn looks_for_neighbours(&self, index: u32) -> Result<bool> {
        let mut message = LinkMessage::default();
        message.header.index = index;
        let without = LinkFlags::Loopback | LinkFlags::Noarp | LinkFlags::Pointopoint;
        let mut looks = true;
        let request = RouteNetlinkMessage::GetLink(message);
        self.request_response(request, NLM_F_ACK, |entry| {
            if let RouteNetlinkMessage::NewLink(link) = entry {
                looks = !link.header.flags.intersects(without);
            }
        })
        .during(|| format!("looking up the interface {index}"))?;
        Ok(looks)
    }

    /// All interfaces of the namespace.
    pub fn interfaces(&self) -> Result<Vec<Listed>> {
        let mut interfaces = Vec::new();
        self.dump(
            RouteNetlinkMessage::GetLink(LinkMessage::default()),
            "listing interfaces",
            |entry| {
                if let RouteNetlinkMessage::NewLink(link) = entry {
                    interfaces.push(listed(&link));
                }
            },
        )?;
        // The ends of a veth pair name each other, but neither is stacked on the other.
        let peer = |own: &Listed| {
            let is_peer =
                |one: &&Listed| own.lower == Some(one.index) && one.lower == Some(own.index);
            interfaces.iter().find(is_peer).map(|peer| peer.index)
        };
        let peers: Vec<Option<u32>> = interfaces.iter().map(peer).collect();
        for (interface, peer) in interfaces.iter_mut().zip(peers) {
            interface.peer = peer;
            interface.lower = interface.lower.filter(|_| peer.is_none());
        }
        Ok(interfaces)
    }

    /// The interface that carries the packets of `upper`, if the kernel tells: that of the
    /// route to the far end of a tunnel, or the parent of a VLAN or the like.
    pub fn below(&self, upper: &Listed, all: &[Listed]) -> Option<Below> {
        let by_index = |index| all.iter().find(|one| one.index == index);
        if let Some(tunnel) = upper.tunnel {
            let chosen = self.choose(tunnel.far_end, None, None).ok()?;
            let lower = by_index(chosen.interface).filter(|lower| lower.index != upper.index)?;
            let mtu = chosen.mtu.map_or(lower.mtu, |mtu| mtu.min(lower.mtu));
            return Some(Below {
                interface: lower.name.clone(),
                mtu,
                fits: mtu.checked_sub(tunnel.headers)?,
            });
        }
        let lower = upper.lower.and_then(by_index)?;
        Some(Below {
            interface: lower.name.clone(),
            mtu: lower.mtu,
            fits: lower.mtu,
        })
    }
}

fn read(route: &RouteMessage) -> Chosen {
    let mut chosen = Chosen {
        broadcast: route.header.kind == RouteType::Broadcast,
        mtu: route_metrics::mtu(&route.attributes).0,
        expires: route_metrics::expires(route),
        ..Chosen::default()
    };
    for attribute in &route.attributes {
        match attribute {
            RouteAttribute::Oif(index) => chosen.interface = *index,
            RouteAttribute::Gateway(gateway) => chosen.gateway = plain(gateway),
            RouteAttribute::PrefSource(source) => chosen.source = plain(source),
            _ => {}
        }
    }
    chosen
}

fn listed(link: &LinkMessage) -> Listed {
    let flags = link.header.flags;
    let mut listed = Listed {
        index: link.header.index,
        up: flags.contains(LinkFlags::Up),
        carrier: flags.contains(LinkFlags::LowerUp),
        loopback: flags.contains(LinkFlags::Loopback),
        ..Listed::default()
    };
    let mut elsewhere = false;
    for attribute in &link.attributes {
        match attribute {
            LinkAttribute::IfName(name) => listed.name.clone_from(name),
            LinkAttribute::Mtu(mtu) => listed.mtu = *mtu,
            LinkAttribute::Link(index) => listed.lower = Some(*index),
            LinkAttribute::LinkNetNsId(_) => elsewhere = true,
            LinkAttribute::Controller(index) => listed.controller = Some(*index),
            LinkAttribute::LinkInfo(infos) => {
                listed.kind = infos.iter().find_map(kind);
                listed.tunnel = encapsulation(infos);
            }
            LinkAttribute::AfSpecUnspec(families) => {
                listed.ipv6_mtu = families.iter().find_map(ipv6_mtu);
            }
            _ => {}
        }
    }
    // An index of another namespace says nothing here.
    if elsewhere {
        listed.lower = None;
    }
    listed
}

fn kind(info: &LinkInfo) -> Option<String> {
    match info {
        LinkInfo::Kind(kind) => Some(kind.to_string()),
        _ => None,
    }
}

/// The MTU of an interface for IPv6, unless IPv6 is off there.
fn ipv6_mtu(family: &AfSpecUnspec) -> Option<u32> {
    let AfSpecUnspec::Inet6(attributes) = family else {
        return None;
    };
    let settings = attributes.iter().find_map(|attribute| match attribute {
        AfSpecInet6::DevConf(settings) => Some(settings),
        _ => None,
    })?;
    let is_on = settings.disable_ipv6 == 0;
    u32::try_from(settings.mtu6).ok().filter(|_| is_on)
}
