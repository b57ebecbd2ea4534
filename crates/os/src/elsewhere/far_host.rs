//! The addresses of a host on systems other than Linux.

use std::env::consts::OS;
use std::net::{SocketAddr, SocketAddrV6};

use crate::error::{Error, Result};
use crate::portable::host_name::{found, parts};

/// The addresses of `host`, with `port`. `interface` is the interface through which packets
/// are to leave, if one is chosen, by the option of that name.
///
/// # Errors
/// One line with what to write: there is no such host, its address belongs to no single host,
/// its zone is no number, or an interface is chosen.
pub fn addresses(
    host: &str,
    port: u16,
    (option, interface): (&str, Option<&str>),
) -> Result<Vec<SocketAddr>> {
    let rejected = |problem: String| Error::new(host, problem);
    if interface.is_some() {
        let problem = format!("it needs Linux, and this program is for {OS}; leave it out");
        return Err(Error::new(option, problem));
    }
    let (bare, zone) = parts(host, option).map_err(rejected)?;
    let zone = zone.map(|zone| {
        zone.parse().map_err(|_| {
            rejected(format!(
                "%{zone} is no number of an interface; write it as this system lists it"
            ))
        })
    });
    let zone = zone.transpose()?.unwrap_or(0);
    let found = found(bare, port).map_err(rejected)?;
    found
        .into_iter()
        .map(|address| fit(address, zone).map_err(|why| rejected(why.to_owned())))
        .collect()
}

/// The address in its zone, which those of a link have [RFC4007 s6].
fn fit(address: SocketAddr, zone: u32) -> std::result::Result<SocketAddr, &'static str> {
    let ip = address.ip();
    match address {
        _ if ip.is_unspecified() => Err("it is the address of no host; write one of a host"),
        _ if ip.is_multicast() => Err("it is a multicast address; write the address of a host"),
        SocketAddr::V4(four) if four.ip().is_broadcast() => {
            Err("it is a broadcast address; write the address of a host")
        }
        SocketAddr::V6(six) if six.ip().is_unicast_link_local() && six.scope_id() == 0 => {
            match zone {
                0 => Err("it needs an interface; write % and its number behind the address"),
                zone => Ok(SocketAddrV6::new(*six.ip(), six.port(), 0, zone).into()),
            }
        }
        other => Ok(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(host: &str, interface: Option<&str>) -> String {
        match addresses(host, 7, ("--interface", interface)) {
            Ok(addresses) => addresses[0].to_string(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn an_address_is_taken_or_answered_by_what_to_write() {
        for (host, expected) in [
            ("192.0.2.1", "192.0.2.1:7"),
            ("[2001:db8::1]", "[2001:db8::1]:7"),
            ("fe80::1%3", "[fe80::1%3]:7"),
            ("fe80::1", "fe80::1: it needs an interface"),
            ("fe80::1%eth0", "fe80::1%eth0: %eth0 is no number"),
            ("0.0.0.0", "0.0.0.0: it is the address of no host"),
            ("ff02::1%3", "ff02::1%3: it is a multicast address"),
            ("255.255.255.255", "255.255.255.255: it is a broadcast"),
        ] {
            let answer = answer(host, None);
            assert!(answer.starts_with(expected), "{answer}");
        }
        let answer = answer("192.0.2.1", Some("eth0"));
        assert!(
            answer.starts_with("--interface: it needs Linux"),
            "{answer}"
        );
    }
}
