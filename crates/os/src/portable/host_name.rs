//! The parts of a host as users write it: a name, an address, an address of a link with its
//! interface, an address in brackets.

use std::net::{IpAddr, SocketAddr, ToSocketAddrs};

/// The host and the port of `HOST[:PORT]`; an address of IPv6 with a port is in brackets, which
/// go. `None` if the text is something else.
pub fn host_and_port(text: &str) -> Option<(&str, Option<u16>)> {
    let (host, port) = match text.strip_prefix('[') {
        Some(rest) => match rest.split_once(']')? {
            (host, "") => (host, None),
            (host, rest) => (host, Some(rest.strip_prefix(':')?)),
        },
        None => match text.split_once(':') {
            Some((host, port)) if !port.contains(':') => (host, Some(port)),
            // An address of IPv6 has several colons.
            _ => (text, None),
        },
    };
    let port = port.map(str::parse).transpose().ok()?;
    (!host.is_empty() && port != Some(0)).then_some((host, port))
}

/// The host without brackets and zone, and its zone.
pub(crate) fn parts<'a>(
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
pub(crate) fn found(host: &str, port: u16) -> std::result::Result<Vec<SocketAddr>, String> {
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
    fn a_host_may_have_a_port() {
        for (text, host, port) in [
            ("b", "b", None),
            ("192.0.2.2:80", "192.0.2.2", Some(80)),
            ("2001:db8::2", "2001:db8::2", None),
            ("[2001:db8::2]", "2001:db8::2", None),
            ("[fe80::1%eth0]:81", "fe80::1%eth0", Some(81)),
        ] {
            assert_eq!(host_and_port(text), Some((host, port)), "{text}");
        }
        for bad in [
            "", ":80", "b:", "b:x", "b:0", "b:65536", "[]:8", "[::1", "[::1]80",
        ] {
            assert_eq!(host_and_port(bad), None, "{bad}");
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
            let _ = (parts(&host, OPTION), host_and_port(&host));
        }
    }
}
