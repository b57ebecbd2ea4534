//! Arrivals at a socket of ICMP: echo replies, and errors about echo requests.

use units::IpVersion;
use wire::icmp_error::Cause;
use wire::ip_packet::IpPacket;
use wire::protocol::icmp::{EchoHeader, Fields, HEADER_LEN};

use super::super::EchoKind;

/// An answer to the echo request with these numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Answered {
    pub(super) identifier: u16,
    pub(super) sequence: u16,
    pub(super) kind: EchoKind,
}

/// The answer in a packet, if it is one. IPv4 arrives with its header, IPv6 without
/// [FreeBsdIcmp] [RFC3542 s3].
pub(super) fn of(version: IpVersion, bytes: &[u8]) -> Option<Answered> {
    let message = match version {
        IpVersion::V4 => behind_header(bytes)?,
        IpVersion::V6 => bytes,
    };
    if let Ok(echo) = EchoHeader::parse(message, version) {
        let length = message.len() - HEADER_LEN;
        let kind = EchoKind::Reply { length };
        return echo.reply.then_some(answered(echo, kind));
    }
    let cause = Cause::of(Fields::parse(message).ok()?, version)?;
    let quoted = IpPacket::parse(&message[HEADER_LEN..]).ok()?;
    let echo = EchoHeader::parse(quoted.payload, version).ok()?;
    let kind = match cause {
        Cause::TooBig { .. } => EchoKind::TooBig,
        Cause::HopLimitExceeded => EchoKind::HopLimitExceeded,
        Cause::Unreachable { .. } => EchoKind::Unreachable,
        Cause::ReassemblyTimeExceeded => return None,
    };
    (!echo.reply).then_some(answered(echo, kind))
}

const fn answered(echo: EchoHeader, kind: EchoKind) -> Answered {
    Answered {
        identifier: echo.identifier,
        sequence: echo.sequence,
        kind,
    }
}

/// The bytes behind the header of IPv4. Its length field is not read: BSD systems have left out
/// the header there, and its order of bytes has been that of the host [FreeBsdIcmp].
fn behind_header(bytes: &[u8]) -> Option<&[u8]> {
    let words = usize::from(bytes.first()? & 0xf);
    bytes.get(words.max(5) * 4..)
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

    use proptest::prelude::*;
    use wire::icmp_error::IcmpError;
    use wire::probe::{Echo, ProbePacket, Transport};
    use wire::protocol::ip::Addresses;

    use super::*;

    /// Bytes of the header of IP, without options.
    const fn header(version: IpVersion) -> usize {
        match version {
            IpVersion::V4 => 20,
            IpVersion::V6 => 40,
        }
    }

    /// A whole packet with an echo message of 100 bytes of data.
    fn packet(version: IpVersion, reply: bool) -> Vec<u8> {
        let packet = ProbePacket {
            addresses: match version {
                IpVersion::V4 => Addresses::V4([1, 2].map(|host| Ipv4Addr::new(10, 0, 0, host))),
                IpVersion::V6 => {
                    let of = |host| Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, host);
                    Addresses::V6([1, 2].map(of))
                }
            },
            hop_limit: 9,
            flow_label: 0,
            identification: 0,
            dont_fragment: true,
            transport: Transport::Echo(Echo {
                reply,
                identifier: 7,
                sequence: 300,
            }),
            data: &[],
            size: u32::try_from(header(version) + HEADER_LEN + 100).unwrap(),
        };
        let mut bytes = vec![0; packet.buffer_len()];
        packet.emit(&mut bytes).unwrap();
        bytes
    }

    /// The part of a packet that arrives at a socket.
    fn at_socket(version: IpVersion, packet: &[u8]) -> Vec<u8> {
        match version {
            IpVersion::V4 => {
                let mut bytes = packet.to_vec();
                // As BSD systems have changed the length.
                bytes[2..4].copy_from_slice(&[108, 0]);
                bytes
            }
            IpVersion::V6 => packet[40..].to_vec(),
        }
    }

    /// The error of a router about an echo request, as it arrives.
    fn error(version: IpVersion, cause: Cause) -> Vec<u8> {
        let about = packet(version, false);
        let router = match version {
            IpVersion::V4 => IpAddr::V4(Ipv4Addr::new(10, 0, 9, 1)),
            IpVersion::V6 => "2001:db8:9::1".parse().unwrap(),
        };
        let error = IcmpError::about(&about, cause, router).unwrap();
        let mut bytes = vec![0; error.buffer_len()];
        error.emit(&mut bytes).unwrap();
        at_socket(version, &bytes)
    }

    #[test]
    fn replies_and_errors_name_the_request_that_they_answer() {
        let answered = |kind| {
            Some(Answered {
                identifier: 7,
                sequence: 300,
                kind,
            })
        };
        for version in [IpVersion::V4, IpVersion::V6] {
            let reply = at_socket(version, &packet(version, true));
            let whole = EchoKind::Reply { length: 100 };
            assert_eq!(of(version, &reply), answered(whole));
            // Its own request, which a host sends to itself.
            assert_eq!(
                of(version, &at_socket(version, &packet(version, false))),
                None
            );
            for (cause, kind) in [
                (Cause::TooBig { mtu: 1_280 }, EchoKind::TooBig),
                (Cause::HopLimitExceeded, EchoKind::HopLimitExceeded),
                (Cause::Unreachable { code: 1 }, EchoKind::Unreachable),
            ] {
                assert_eq!(of(version, &error(version, cause)), answered(kind));
            }
            assert_eq!(
                of(version, &error(version, Cause::ReassemblyTimeExceeded)),
                None
            );
        }
    }

    proptest! {
        #[test]
        fn no_bytes_make_it_panic(mut bytes: Vec<u8>, four: bool, place: usize, value: u8) {
            let version = if four { IpVersion::V4 } else { IpVersion::V6 };
            of(version, &bytes);
            bytes = error(version, Cause::TooBig { mtu: 1_280 });
            let place = place % bytes.len();
            bytes[place] = value;
            of(version, &bytes);
            of(version, &bytes[..place]);
        }
    }
}
