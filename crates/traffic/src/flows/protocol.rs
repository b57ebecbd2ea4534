//! The protocol of a flow, and the keys that only some protocols have.

use std::env::consts::OS;

use anyhow::Result;
use keyfile::Section;
use os::socket::{self, missing};
use wire::control::{LEAST_COVERAGE, MOST_STREAMS, Protocol};

use crate::driver::sessions::{Options, kind};

/// The answer where DCCP is asked for. No other system has it either.
const NO_DCCP: &str = "Linux removed DCCP in version 6.16; write udp, or sctp with unordered messages for a protocol with congestion control";

/// Keys with the names of the protocols that have them.
const KEYS_OF_SOME: [(&str, &[&str]); 14] = [
    ("nagle", &["tcp", "sctp"]),
    ("mss", &["tcp"]),
    ("congestion", &["tcp"]),
    ("gso", &["udp"]),
    ("gro", &["udp"]),
    ("ecn", &["udp", "udplite"]),
    ("checksum_coverage", &["udplite"]),
    ("sctp_streams", &["sctp"]),
    ("unordered", &["sctp"]),
    // SCTP sets DF by itself, and Linux learned only later to bind it to an interface.
    ("pmtudisc", &["udp", "tcp", "udplite", "icmp"]),
    ("interface", &["udp", "tcp", "udplite", "icmp"]),
    ("flow_label", &["udp", "tcp", "udplite"]),
    ("source_port", &["udp", "tcp", "udplite", "sctp"]),
    ("destination_port", &["udp", "tcp", "udplite", "sctp"]),
];

/// The protocol that `keys` name, or `usual`; `None`: ICMP echoes.
pub(super) fn protocol(keys: &Section, usual: &str) -> Result<Option<Protocol>> {
    if keys.text("protocol")? == Some("dccp") {
        return Err(keys.reject("protocol", NO_DCCP));
    }
    let coverage = keys.number("checksum_coverage", 0, u16::MAX.into())?;
    let coverage = coverage.and_then(|bytes| u16::try_from(bytes).ok());
    let coverage = coverage.unwrap_or(0);
    if (1..LEAST_COVERAGE).contains(&coverage) {
        let why = format!(
            "a checksum covers the {LEAST_COVERAGE} bytes of the header at least; write {LEAST_COVERAGE} or more, or 0 for whole packets"
        );
        return Err(keys.reject("checksum_coverage", why));
    }
    let streams = keys.number("sctp_streams", 1, MOST_STREAMS.into())?;
    let streams = streams.and_then(|streams| u16::try_from(streams).ok());
    let sctp = Protocol::Sctp {
        streams: streams.unwrap_or(1),
        unordered: keys.truth("unordered", false)?,
    };
    let protocols = [
        ("udp", Some(Protocol::Udp)),
        ("tcp", Some(Protocol::Tcp)),
        ("sctp", Some(sctp)),
        ("udplite", Some(Protocol::UdpLite { coverage })),
        ("icmp", None),
    ];
    let protocol = keys.word("protocol", usual, &protocols)?;
    check_keys(keys, usual)?;
    Ok(protocol)
}

/// Rejects keys that flows of the protocol do not have; it is `usual` if they name none.
pub(super) fn check_keys(keys: &Section, usual: &str) -> Result<()> {
    let name = keys.text("protocol")?.unwrap_or(usual);
    for (key, having) in KEYS_OF_SOME {
        if keys.has(key) && !having.contains(&name) {
            let why = match having {
                [one] => format!("only flows of protocol {one} have it; leave it out"),
                [others @ .., last] => format!(
                    "only flows of protocols {} and {last} have it; leave it out",
                    others.join(", ")
                ),
                [] => continue,
            };
            return Err(keys.reject(key, why));
        }
    }
    Ok(())
}

/// Rejects by name what this system lacks.
pub(super) fn check_system(
    keys: &Section,
    transport: Option<Protocol>,
    options: &Options,
) -> Result<()> {
    if let Some(why) = transport.and_then(|transport| missing(kind(transport))) {
        return Err(keys.reject("protocol", why));
    }
    let socket = &options.socket;
    let of_linux = [
        ("protocol", transport.is_none()),
        ("interface", socket.device.is_some()),
        ("flow_label", socket.flow_label.is_some()),
        ("mss", socket.segment.is_some()),
        ("congestion", socket.congestion.is_some()),
        ("gso", options.segmentation > 1),
        ("gro", options.merge),
    ];
    let absent = of_linux
        .into_iter()
        .chain([
            ("dscp", cfg!(windows) && socket.dscp != 0),
            ("ecn", cfg!(windows) && socket.ecn != 0),
        ])
        .find(|(_, is_set)| *is_set && cfg!(not(target_os = "linux")));
    if let Some((key, _)) = absent {
        let why = format!("it needs Linux, and this program is for {OS}; leave it out");
        return Err(keys.reject(key, why));
    }
    let Some(transport) = transport else {
        return Ok(());
    };
    match (
        socket::has_path_mtu(socket.path_mtu, kind(transport)),
        transport,
    ) {
        (false, Protocol::Tcp) => {
            let why = format!("for TCP it needs Linux, and this program is for {OS}; leave it out");
            Err(keys.reject("pmtudisc", why))
        }
        (false, _) => {
            let why = format!("{OS} lacks this mode; write do or dont, or leave it out");
            Err(keys.reject("pmtudisc", why))
        }
        (true, _) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pairs: &[(&str, &str)]) -> Result<Option<Protocol>> {
        let mut keys = Section::default();
        for (key, value) in pairs {
            keys.option(key, value);
        }
        protocol(&keys, "udp")
    }

    #[test]
    fn keys_make_a_protocol_with_its_figures() {
        let lite = |coverage| Some(Protocol::UdpLite { coverage });
        let sctp = |streams, unordered| Some(Protocol::Sctp { streams, unordered });
        for (pairs, expected) in [
            (&[][..], Some(Protocol::Udp)),
            (&[("protocol", "icmp")], None),
            (&[("protocol", "udplite")], lite(0)),
            (
                &[("protocol", "udplite"), ("checksum_coverage", "0")],
                lite(0),
            ),
            (
                &[("protocol", "udplite"), ("checksum_coverage", "8")],
                lite(8),
            ),
            (
                &[("protocol", "udplite"), ("checksum_coverage", "65535")],
                lite(65_535),
            ),
            (&[("protocol", "sctp")], sctp(1, false)),
            (
                &[
                    ("protocol", "sctp"),
                    ("sctp_streams", "1024"),
                    ("unordered", "on"),
                    ("nagle", "on"),
                ],
                sctp(1024, true),
            ),
        ] {
            assert_eq!(read(pairs).unwrap(), expected, "{pairs:?}");
        }
    }

    #[test]
    fn keys_of_other_protocols_and_impossible_figures_are_rejected_by_name() {
        for (pairs, words) in [
            (
                &[("protocol", "dccp")][..],
                "--protocol dccp: Linux removed DCCP in version 6.16; write udp",
            ),
            (
                &[("checksum_coverage", "8")],
                "--checksum-coverage 8: only flows of protocol udplite have it",
            ),
            (
                &[("protocol", "udplite"), ("checksum_coverage", "7")],
                "--checksum-coverage 7: a checksum covers the 8 bytes",
            ),
            (
                &[("protocol", "udplite"), ("checksum_coverage", "65536")],
                "--checksum-coverage 65536: ",
            ),
            (
                &[("protocol", "udplite"), ("gso", "8")],
                "--gso 8: only flows of protocol udp have it",
            ),
            (
                &[("protocol", "udplite"), ("unordered", "on")],
                "--unordered on: only flows of protocol sctp have it",
            ),
            (
                &[("protocol", "sctp"), ("sctp_streams", "0")],
                "--sctp-streams 0: ",
            ),
            (
                &[("protocol", "sctp"), ("sctp_streams", "1025")],
                "--sctp-streams 1025: ",
            ),
            (
                &[("protocol", "sctp"), ("pmtudisc", "do")],
                "--pmtudisc do: only flows of protocols udp, tcp, udplite and icmp have it",
            ),
            (
                &[("protocol", "icmp"), ("source_port", "9")],
                "--source-port 9: only flows of protocols udp, tcp, udplite and sctp have it",
            ),
        ] {
            let error = read(pairs).unwrap_err().to_string();
            assert!(error.starts_with(words), "{error}");
            assert!(!error.contains('\n'), "{error}");
        }
    }
}
