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
    pub(crate) fn add_address(&self, interface: &str, address: IpAddr, prefix: u8) -> Result<()> {
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
    pub(crate) fn has_address(&self, interface: &str, address: IpAddr) -> Result<bool> {
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
}
