//! The network interfaces of this host, with their addresses and MTUs.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::os::fd::AsFd;

use nix::ifaddrs::getifaddrs;

use crate::error::{Error, OperationContext, Result};
use crate::netlink::Route;
pub use crate::portable::nic_parts::Interface;
use crate::portable::nic_parts::is_link_local;
use crate::socket;
use crate::sys::ethtool;

/// All interfaces, in the kernel's order.
///
/// # Errors
/// If the kernel does not list them.
pub fn all() -> Result<Vec<Interface>> {
    let route = Route::open()?;
    let control = socket::control()?;
    let mut addresses: BTreeMap<String, Vec<IpAddr>> = BTreeMap::new();
    for entry in getifaddrs().during(|| "listing addresses")? {
        let Some(address) = entry.address else {
            continue;
        };
        let four = address.as_sockaddr_in().map(|four| IpAddr::V4(four.ip()));
        let six = || address.as_sockaddr_in6().map(|six| IpAddr::V6(six.ip()));
        if let Some(address) = four.or_else(six).filter(|address| !is_link_local(address)) {
            let of = addresses.entry(entry.interface_name).or_default();
            of.push(address);
        }
    }
    let interfaces = route.interfaces()?.into_iter();
    let interface = |listed: crate::netlink::Listed| {
        let features = ethtool::features(control.as_fd(), &listed.name).unwrap_or_default();
        let on = features
            .into_iter()
            .filter(|(name, feature)| ethtool::is_offload(name) && feature.active);
        Ok(Interface {
            mtu: listed.mtu,
            largest_mtu: route.largest_mtu(&listed.name)?,
            up: listed.up && listed.carrier,
            addresses: addresses.remove(&listed.name).unwrap_or_default(),
            offloads: on.map(|(name, _)| name).collect(),
            name: listed.name,
        })
    };
    interfaces.map(interface).collect()
}

/// The name of the interface through which this host reaches an address.
///
/// # Errors
/// If it has no route to it.
pub fn towards(address: IpAddr) -> Result<String> {
    let route = Route::open()?;
    let index = route.choose(address, None, None)?.interface;
    let interfaces = route.interfaces()?.into_iter();
    let mut found = interfaces.filter(|one| one.index == index);
    let operation = || format!("looking for the interface towards {address}");
    let found = found.next();
    found
        .map(|one| one.name)
        .ok_or_else(|| Error::new(operation(), "it is gone; check it with `ip link`"))
}

/// Packets dropped so far by the queue in front of an interface.
///
/// # Errors
/// If the kernel does not know the interface.
pub fn queue_drops(interface: &str) -> Result<u64> {
    Ok(Route::open()?.queue_drops(interface)?.into())
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    #[test]
    fn loopback_is_listed_with_its_address_and_no_link_local_one_is() {
        let all = all().unwrap();
        let loopback = all.iter().find(|interface| interface.name == "lo").unwrap();
        assert!(loopback.mtu > 1_500, "{loopback:?}");
        let address = IpAddr::V4(Ipv4Addr::LOCALHOST);
        assert!(loopback.addresses.contains(&address), "{loopback:?}");
        for interface in &all {
            assert!(
                !interface.addresses.iter().any(is_link_local),
                "{interface:?}"
            );
        }
        assert!(queue_drops("no-such").is_err());
        assert_eq!(towards(address).unwrap(), "lo");
    }
}
