//! The network interfaces of this host on systems other than Linux.

#[cfg(windows)]
mod adapters;
mod listed;

use std::net::{IpAddr, SocketAddr};

use super::socket::{Kind, Options, address_of, connect, open};
use crate::error::{Error, OperationContext, Result};
pub use crate::portable::nic_parts::Interface;
use crate::portable::nic_parts::is_link_local;
pub(crate) use listed::{Listed, list};

/// All interfaces. The largest MTU is unknown.
///
/// # Errors
/// The system does not list them.
pub fn all() -> Result<Vec<Interface>> {
    Ok(list()?.into_iter().map(interface).collect())
}

fn interface(listed: Listed) -> Interface {
    let Listed { nic, addresses } = listed;
    let addresses = addresses.into_iter();
    Interface {
        name: nic.name,
        mtu: nic.mtu,
        largest_mtu: nic.largest_mtu,
        up: nic.up,
        addresses: addresses.filter(|one| !is_link_local(one)).collect(),
        offloads: nic.offloads,
    }
}

/// The name of the interface through which this host reaches an address.
///
/// # Errors
/// It has no route to it.
pub fn towards(address: IpAddr) -> Result<String> {
    let doing = || format!("looking for the interface towards {address}");
    // Connecting a datagram socket sends nothing, and chooses the local address. The port is
    // that of a service that discards what arrives [RFC863].
    let socket = open(Kind::Datagram, address, &Options::default())?;
    connect(&socket, SocketAddr::new(address, 9)).during(doing)?;
    of_address(address_of(&socket)?.ip())
}

/// The name of the interface with this address of this host.
///
/// # Errors
/// There is none.
pub fn of_address(own: IpAddr) -> Result<String> {
    let mut all = list()?.into_iter();
    let found = all.find(|one| one.addresses.contains(&own));
    let found = found.map(|one| one.nic.name);
    found.ok_or_else(|| {
        Error::new(
            "looking for an interface",
            format!("none has the address {own}"),
        )
    })
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, Ipv6Addr};

    use super::*;

    #[test]
    fn loopback_is_listed_with_its_address_and_found_by_it() {
        let all = all().unwrap();
        for address in [IpAddr::V4(Ipv4Addr::LOCALHOST), Ipv6Addr::LOCALHOST.into()] {
            let mut having = all.iter().filter(|one| one.addresses.contains(&address));
            let loopback = having.next().unwrap();
            assert!(loopback.up && loopback.mtu > 1_500, "{loopback:?}");
            assert_eq!(towards(address).unwrap(), loopback.name);
        }
    }
}
