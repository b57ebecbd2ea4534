//! Neighbours: the link addresses of next hops.

use std::net::IpAddr;

use netlink_packet_core::NLM_F_ACK;
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::neighbour::{
    NeighbourAddress, NeighbourAttribute, NeighbourFlags, NeighbourMessage, NeighbourState,
};

use super::{Mode, Route, family};
use crate::error::{OperationContext, Result};

impl Route {
    /// The known neighbours on the interface `index`, with their Ethernet addresses.
    pub fn neighbours(&self, index: u32) -> Result<Vec<(IpAddr, [u8; 6])>> {
        let mut found = Vec::new();
        self.dump(
            RouteNetlinkMessage::GetNeighbour(NeighbourMessage::default()),
            "listing neighbours",
            |entry| {
                if let RouteNetlinkMessage::NewNeighbour(entry) = entry
                    && entry.header.ifindex == index
                    && is_usable(entry.header.state)
                {
                    found.extend(read(&entry));
                }
            },
        )?;
        Ok(found)
    }

    /// The Ethernet address of a neighbour on the interface `index`, if the kernel knows it.
    pub fn neighbour(&self, index: u32, neighbour: IpAddr) -> Result<Option<[u8; 6]>> {
        let entry = self.usable(index, neighbour)?;
        Ok(entry.and_then(|entry| Some(read(&entry)?.1)))
    }

    /// The kernel's entry of a neighbour on the interface `index` that can be sent to.
    fn usable(&self, index: u32, neighbour: IpAddr) -> Result<Option<NeighbourMessage>> {
        let mut message = NeighbourMessage::default();
        message.header.family = family(neighbour);
        message.header.ifindex = index;
        message.attributes = vec![destination(neighbour)];
        let mut found = None;
        let request = RouteNetlinkMessage::GetNeighbour(message);
        let answered = self.request_response(request, NLM_F_ACK, |entry| {
            if let RouteNetlinkMessage::NewNeighbour(entry) = entry
                && is_usable(entry.header.state)
            {
                found = Some(entry);
            }
        });
        match answered {
            Err(error) if error.raw_os_error() == Some(libc::ENOENT) => Ok(None),
            result => result
                .map(|()| found)
                .during(|| format!("looking up the neighbour {neighbour}")),
        }
    }

    /// Whether a packet to an address from which one arrived on the interface `index` would
    /// leave at once: the next hop is known, or its interface has none to look for.
    pub fn is_resolved(&self, to: IpAddr, index: u32) -> Result<bool> {
        if self.usable(index, to)?.is_some() {
            return Ok(true);
        }
        let is_local = matches!(to, IpAddr::V6(to) if to.is_unicast_link_local());
        let chosen = self.choose(to, is_local.then_some(index), None)?;
        if !self.looks_for_neighbours(chosen.interface)? {
            return Ok(true);
        }
        let hop = chosen.gateway.unwrap_or(to);
        Ok(self.usable(chosen.interface, hop)?.is_some())
    }

    /// Makes the kernel look for the link address of a neighbour.
    pub fn look_for(&self, index: u32, neighbour: IpAddr) -> Result<()> {
        let mut message = NeighbourMessage::default();
        message.header.family = family(neighbour);
        message.header.ifindex = index;
        message.header.state = NeighbourState::None;
        message.header.flags = NeighbourFlags::Use;
        message.attributes = vec![destination(neighbour)];
        self.apply(
            RouteNetlinkMessage::NewNeighbour(message),
            Mode::Replace,
            || format!("looking for the neighbour {neighbour}"),
        )
    }
}

fn destination(neighbour: IpAddr) -> NeighbourAttribute {
    NeighbourAttribute::Destination(match neighbour {
        IpAddr::V4(address) => NeighbourAddress::Inet(address),
        IpAddr::V6(address) => NeighbourAddress::Inet6(address),
    })
}

/// Whether a neighbour in this state can be sent to.
fn is_usable(state: NeighbourState) -> bool {
    matches!(
        state,
        NeighbourState::Reachable
            | NeighbourState::Stale
            | NeighbourState::Delay
            | NeighbourState::Probe
            | NeighbourState::Permanent
    )
}

fn read(entry: &NeighbourMessage) -> Option<(IpAddr, [u8; 6])> {
    let address = entry
        .attributes
        .iter()
        .find_map(|attribute| match attribute {
            NeighbourAttribute::Destination(NeighbourAddress::Inet(address)) => {
                Some(IpAddr::V4(*address))
            }
            NeighbourAttribute::Destination(NeighbourAddress::Inet6(address)) => {
                Some(IpAddr::V6(*address))
            }
            _ => None,
        })?;
    let link = entry
        .attributes
        .iter()
        .find_map(|attribute| match attribute {
            NeighbourAttribute::LinkLayerAddress(bytes) => bytes.as_slice().try_into().ok(),
            _ => None,
        })?;
    Some((address, link))
}
