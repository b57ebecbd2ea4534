//! Addresses of interfaces.

use std::net::IpAddr;

use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::address::{
    AddressAttribute, AddressFlags, AddressHeaderFlags, AddressMessage,
};

use super::{Mode, Route, family};
use crate::error::Result;

impl Route {
    /// Assigns an address to `interface`, usable at once: duplicate address detection
    /// [RFC4862 s5.4] would delay the first packet by a second.
    pub fn add_address(&self, interface: &str, address: IpAddr, prefix: u8) -> Result<()> {
        let mut message = AddressMessage::default();
        message.header.family = family(address);
        message.header.prefix_len = prefix;
        message.header.index = self.index(interface)?;
        message.header.flags = AddressHeaderFlags::Nodad;
        message.attributes = vec![
            AddressAttribute::Local(address),
            AddressAttribute::Address(address),
            AddressAttribute::Flags(AddressFlags::Nodad),
        ];
        self.apply(
            RouteNetlinkMessage::NewAddress(message),
            Mode::Create,
            || format!("giving {interface} the address {address}/{prefix}"),
        )
    }

    /// Whether `interface` has `address` in a usable state.
    pub fn has_address(&self, interface: &str, address: IpAddr) -> Result<bool> {
        let index = self.index(interface)?;
        let mut found = false;
        self.dump(
            RouteNetlinkMessage::GetAddress(AddressMessage::default()),
            "listing addresses",
            |entry| {
                if let RouteNetlinkMessage::NewAddress(entry) = entry {
                    let tentative = entry.header.flags.contains(AddressHeaderFlags::Tentative);
                    let same = entry.attributes.iter().any(|attribute| {
                    matches!(attribute, AddressAttribute::Address(own) if *own == address)
                });
                    found |= entry.header.index == index && same && !tentative;
                }
            },
        )?;
        Ok(found)
    }

    /// Index of the interface that has `address`.
    pub(crate) fn holder_of(&self, address: IpAddr) -> Result<Option<u32>> {
        let mut holder = None;
        self.dump(
            RouteNetlinkMessage::GetAddress(AddressMessage::default()),
            "listing addresses",
            |entry| {
                if let RouteNetlinkMessage::NewAddress(entry) = entry {
                    // The peer of a point-to-point link is `Address` there, and the own
                    // address `Local`, which IPv6 leaves out if there is no peer.
                    let own = |attribute: &AddressAttribute| match attribute {
                        AddressAttribute::Local(own) => Some(*own),
                        _ => None,
                    };
                    let only = |attribute: &AddressAttribute| match attribute {
                        AddressAttribute::Address(own) => Some(*own),
                        _ => None,
                    };
                    let held = (entry.attributes.iter().find_map(own))
                        .or_else(|| entry.attributes.iter().find_map(only));
                    if held == Some(address) {
                        holder = Some(entry.header.index);
                    }
                }
            },
        )?;
        Ok(holder)
    }
}
