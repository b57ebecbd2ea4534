//! The addresses of a host, as users write it: a name, an address, an address of a link
//! with its interface, an address in brackets.

use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use crate::error::{Error, Result};
use crate::netlink::{Listed, Route};
use crate::portable::host_name::{found, parts};

/// The addresses of `host`, with `port`. `interface` is the interface through which
/// packets are to leave, if one is chosen, by the option of that name.
///
/// # Errors
/// One line with what to write: there is no such host, its address belongs to no single
/// host, or it is one of a link and no interface is named.
pub fn addresses(
    host: &str,
    port: u16,
    (option, interface): (&str, Option<&str>),
) -> Result<Vec<SocketAddr>> {
    let route = Route::open()?;
    let all = route.interfaces()?;
    let rejected = |problem: String| Error::new(host, problem);
    let (bare, zone) = parts(host, option).map_err(rejected)?;
    if let (Some(zone), Some(interface)) = (zone, interface)
        && zone != interface
    {
        return Err(rejected(format!(
            "%{zone} and {option} {interface} are two interfaces; write one"
        )));
    }
    let zone = zone
        .or(interface)
        .map(|name| index(&all, name).ok_or_else(|| rejected(unknown(name))))
        .transpose()?;
    let found = found(bare, port).map_err(rejected)?;
    let mut problem = None;
    let mut addresses = Vec::new();
    for address in found {
        match fit(address, zone, &all, option) {
            Ok(address) if is_broadcast(&route, &address) => {
                problem = Some("it is a broadcast address; write the address of a host".to_owned());
            }
            Ok(address) => addresses.push(address),
            Err(why) => problem = Some(why),
        }
    }
    match problem {
        Some(problem) if addresses.is_empty() => Err(rejected(problem)),
        _ => Ok(addresses),
    }
}

/// The address with the interface that it needs. It needs one if it is unique on a link
/// only [RFC4007 s6].
fn fit(
    address: SocketAddr,
    zone: Option<u32>,
    all: &[Listed],
    option: &str,
) -> std::result::Result<SocketAddr, String> {
    let one = "write the address of a host";
    match address {
        SocketAddr::V4(four) if four.ip().is_multicast() => {
            Err(format!("it is a multicast address; {one}"))
        }
        SocketAddr::V4(four) if *four.ip() == Ipv4Addr::BROADCAST => {
            Err(format!("it is a broadcast address; {one}"))
        }
        SocketAddr::V4(four) if four.ip().is_unspecified() => Err(format!(
            "it is the address of no host; {one}, 127.0.0.1 for this one"
        )),
        SocketAddr::V6(six) if six.ip().is_multicast() => {
            Err(format!("it is a multicast address; {one}"))
        }
        SocketAddr::V6(six) if *six.ip() == Ipv6Addr::UNSPECIFIED => Err(format!(
            "it is the address of no host; {one}, ::1 for this one"
        )),
        SocketAddr::V6(six) if six.ip().is_unicast_link_local() && six.scope_id() == 0 => {
            let zone = zone.ok_or_else(|| needs_interface(six.ip(), all, option))?;
            Ok(SocketAddrV6::new(*six.ip(), six.port(), 0, zone).into())
        }
        other => Ok(other),
    }
}

/// Whether the kernel has the address as the broadcast address of a network of its own.
fn is_broadcast(route: &Route, address: &SocketAddr) -> bool {
    let chosen = route.choose(address.ip(), None, None);
    chosen.is_ok_and(|chosen| chosen.broadcast)
}

fn needs_interface(address: &Ipv6Addr, all: &[Listed], option: &str) -> String {
    let up = all.iter().filter(|one| one.up && !one.loopback);
    let names: Vec<&str> = up.map(|one| one.name.as_str()).collect();
    match names.as_slice() {
        [] => "it needs an interface, and none but loopback is up; type: ip link set NAME up"
            .to_owned(),
        [name] => format!("it needs an interface; write {address}%{name} or {option} {name}"),
        [first, ..] => format!(
            "it needs an interface; write {address}%{first} or {option} {first}, or another one of {}",
            names.join(", ")
        ),
    }
}

fn unknown(name: &str) -> String {
    format!("there is no interface {name}; `ip link` lists the interfaces")
}

/// The number of an interface, by its name or as it is written.
fn index(all: &[Listed], zone: &str) -> Option<u32> {
    let number = zone.parse().ok();
    let is = |one: &&Listed| one.name == zone || Some(one.index) == number;
    all.iter().find(is).map(|one| one.index)
}
