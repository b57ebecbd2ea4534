//! The addresses of a host, as users write it: a name, an address, an address of a link
//! with its interface, an address in brackets.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6, ToSocketAddrs};

use crate::error::{Error, Result};
use crate::netlink::{Listed, Route};

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

/// The host without brackets and zone, and its zone.
fn parts<'a>(
    host: &'a str,
    option: &str,
) -> std::result::Result<(&'a str, Option<&'a str>), String> {
    let bare = match (host.strip_prefix('['), host.strip_suffix(']')) {
        (Some(bare), Some(_)) => &bare[..bare.len() - 1],
        // An address with a port may follow.
        (None, None) | (Some(_), None) if !is_half_open(host) => host,
        _ => return Err("a bracket is missing; write the address without brackets".to_owned()),
    };
    let (bare, zone) = match bare.split_once('%') {
        Some((_, "")) => return Err("the name of an interface is missing behind %".to_owned()),
        Some((bare, zone)) => (bare, Some(zone)),
        None => (bare, None),
    };
    match (bare.parse::<IpAddr>(), zone) {
        (Ok(address), Some(zone)) if !is_of_link(address) => Err(format!(
            "an address of a single link alone has a zone; write {address} {option} {zone}"
        )),
        _ => Ok((bare, zone)),
    }
}

/// Whether a bracket opens and none closes.
fn is_half_open(host: &str) -> bool {
    host.starts_with('[') && !host.contains(']')
}

/// Whether an address belongs to one link, so that it may have a zone [RFC4007 s6].
const fn is_of_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(_) => false,
        IpAddr::V6(six) => six.is_unicast_link_local() || six.is_multicast(),
    }
}

/// The addresses of a name, or the one that is written.
fn found(host: &str, port: u16) -> std::result::Result<Vec<SocketAddr>, String> {
    if let Ok(address) = host.parse::<IpAddr>() {
        return Ok(vec![SocketAddr::new(address, port)]);
    }
    if let Ok(address) = host.parse::<SocketAddr>() {
        let (ip, port) = (address.ip(), address.port());
        return Err(format!("a host has no port here; write {ip} --port {port}"));
    }
    if let Some((address, length)) = host.split_once('/')
        && let Ok(address) = address.parse::<IpAddr>()
        && length.parse::<u8>().is_ok()
    {
        return Err(format!("a host has no prefix length; write {address}"));
    }
    let found = (host, port).to_socket_addrs().map_err(|_| {
        format!("no such host; check the name (`getent ahosts {host}`), or write an address")
    })?;
    Ok(found.collect())
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

#[cfg(test)]
mod tests {
    use super::*;

    const OPTION: &str = "--interface";

    #[test]
    fn a_host_is_parted_into_its_address_and_its_zone() {
        for (host, expected) in [
            ("fe80::1%eth0", ("fe80::1", Some("eth0"))),
            ("[fe80::1%eth0]", ("fe80::1", Some("eth0"))),
            ("[fd00::2]", ("fd00::2", None)),
            ("[fd00::2]:443", ("[fd00::2]:443", None)),
            ("name.example", ("name.example", None)),
            ("name.example%eth0", ("name.example", Some("eth0"))),
            ("", ("", None)),
        ] {
            assert_eq!(parts(host, OPTION), Ok(expected), "{host}");
        }
    }

    #[test]
    fn what_is_written_wrong_is_answered_by_what_to_write() {
        let answer =
            |host: &str| parts(host, OPTION).and_then(|(bare, _)| found(bare, 0).map(drop));
        for (host, words) in [
            ("[fd00::2", "a bracket is missing"),
            ("fd00::2]", "a bracket is missing"),
            ("[", "a bracket is missing"),
            ("]", "a bracket is missing"),
            ("fe80::1%", "interface is missing behind %"),
            ("10.0.0.1%eth0", "write 10.0.0.1 --interface eth0"),
            ("fd00::2%eth0", "write fd00::2 --interface eth0"),
            ("10.0.0.1/24", "no prefix length; write 10.0.0.1"),
            ("fd00::/64", "no prefix length; write fd00::"),
            ("[fd00::2]:443", "write fd00::2 --port 443"),
        ] {
            let why = answer(host).unwrap_err();
            assert!(why.contains(words), "{host}: {why}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_parted_or_answered(host in "[\\[\\]%:/.0-9a-fé]{0,20}") {
            let _ = parts(&host, OPTION);
        }
    }
}
