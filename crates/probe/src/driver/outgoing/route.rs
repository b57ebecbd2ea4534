//! The kernel's answer which interface that is.

use std::net::{IpAddr, SocketAddr};

use units::Bytes;

use super::Outgoing;
use os::error::{Error, Result};
use os::netlink::{Listed, Route};

impl Outgoing {
    /// Asks the kernel for the route to `to`, if given through one interface and from
    /// one source address.
    ///
    /// # Errors
    /// There is no route, the interface is unknown or down, or the address is not this
    /// host's: one line with the remedy.
    pub fn toward(
        to: SocketAddr,
        interface: Option<&str>,
        address: Option<IpAddr>,
    ) -> Result<Self> {
        let route = Route::open()?;
        let all = route.interfaces()?;
        let doing = || format!("looking for a route to {}", to.ip());
        let named = interface.map(|name| usable(&all, name)).transpose()?;
        let zone = match to {
            SocketAddr::V6(to) if to.scope_id() > 0 => Some(to.scope_id()),
            _ => named.map(|named| named.index),
        };
        let chosen = route.choose(to.ip(), zone, address).map_err(|_| {
            let without = route.choose(to.ip(), zone, None);
            let problem = match (address, without) {
                (Some(address), Ok(_)) => format!(
                    "no packet leaves from {address}; `ip address` shows the addresses of this host"
                ),
                _ => no_route(to.ip(), &all),
            };
            Error::new(doing(), problem)
        })?;
        let interface = all.iter().find(|listed| listed.index == chosen.interface);
        let interface = interface.ok_or_else(|| Error::new(doing(), no_route(to.ip(), &all)))?;
        usable(&all, &interface.name)?;
        let address = address.or(chosen.source);
        Ok(Self {
            interface: interface.name.clone(),
            index: interface.index,
            mtu: Bytes::new(interface.mtu.into()),
            ipv6: interface.ipv6_mtu.is_some(),
            loopback: interface.loopback,
            address: address.ok_or_else(|| {
                let family = if to.is_ipv4() { "IPv4" } else { "IPv6" };
                let problem = format!(
                    "{} has no {family} address; `ip address` shows the addresses",
                    interface.name
                );
                Error::new(doing(), problem)
            })?,
            gateway: chosen.gateway,
        })
    }
}

/// The interface `name`, if packets can leave through it.
fn usable<'a>(all: &'a [Listed], name: &str) -> Result<&'a Listed> {
    let doing = || format!("sending through {name}");
    let found = all.iter().find(|listed| listed.name == name);
    let found = found.ok_or_else(|| {
        let problem = "there is no such interface; `ip link` lists the interfaces";
        Error::new(doing(), problem)
    })?;
    if !found.up {
        let problem = format!("the interface is down; type: ip link set {name} up");
        return Err(Error::new(doing(), problem));
    }
    if !found.carrier {
        let problem = "the interface has no carrier; connect its cable, or set its other end up";
        return Err(Error::new(doing(), problem));
    }
    Ok(found)
}

/// Why there is no route, and what to type.
fn no_route(to: IpAddr, all: &[Listed]) -> String {
    let names = |is: fn(&Listed) -> bool| {
        let listed = all.iter().filter(|listed| is(listed));
        listed
            .map(|listed| listed.name.as_str())
            .collect::<Vec<_>>()
    };
    let up = names(|listed| listed.up && !listed.loopback);
    let down = names(|listed| !listed.up);
    match (up.is_empty(), down.as_slice()) {
        (true, [first, ..]) => format!(
            "no interface but loopback is up; type: ip link set {first} up (down: {})",
            down.join(", ")
        ),
        _ => format!("this host has none; `ip route get {to}` shows the kernel's answer"),
    }
}
