//! Frames by which nodes on Ethernet find each other: ARP [RFC826] for IPv4, and Neighbour
//! Discovery [RFC4861] for IPv6.

use core::net::{IpAddr, Ipv6Addr};

use crate::octets::split_mut;
use crate::protocol::ethernet::{self, ether_type};
use crate::protocol::icmpv6::neighbour;
use crate::protocol::ip::{Addresses, number};
use crate::protocol::{arp, icmp, ipv6};
use crate::{Error, Field};

/// Octets of the largest frame that is built.
pub const LARGEST: usize = ethernet::HEADER_LEN + ipv6::HEADER_LEN + neighbour::LEN;

/// The hop limit of Neighbour Discovery: no router forwards such a packet [RFC4861 s7.1].
const HOP_LIMIT: u8 = 255;

/// The Ethernet address of all nodes [IEEE802.3 s3.2.3].
const EVERYONE: [u8; 6] = [0xff; 6];

/// All nodes of a link [RFC4861 s2.3].
const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

/// A node: its IP address and its Ethernet address.
pub type Node = (IpAddr, [u8; 6]);

/// A frame that asks for a neighbour, or answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbour {
    /// A node that may not have said who it is asks for the Ethernet address of `target`.
    Question {
        /// The address of the node that asks.
        from: Option<Node>,
        /// The address that is looked for.
        target: IpAddr,
    },
    /// A node says who it is.
    Answer(Node),
}

impl Neighbour {
    /// Reads a frame.
    ///
    /// # Errors
    /// [`Error::Truncated`]; [`Error::Malformed`] for other frames, and those that nodes
    /// discard [RFC4861 s7.1].
    pub fn parse(frame: &[u8]) -> Result<Self, Error> {
        let header = ethernet::Fields::parse(frame)?;
        let packet = frame.get(ethernet::HEADER_LEN..).unwrap_or_default();
        match header.kind {
            ether_type::ARP => {
                let arp::Fields {
                    operation,
                    sender: (link, address),
                    target: (_, target),
                } = arp::Fields::parse(packet)?;
                let sender = (IpAddr::V4(address), link);
                Ok(match operation {
                    arp::Operation::Request => Self::Question {
                        // Who is about to take an address has none [RFC5227 s1.1].
                        from: (!address.is_unspecified()).then_some(sender),
                        target: IpAddr::V4(target),
                    },
                    arp::Operation::Reply => Self::Answer(sender),
                })
            }
            ether_type::IPV6 => Self::parse_v6(header, packet),
            _ => Err(Error::Malformed(Field::Type)),
        }
    }

    fn parse_v6(link: ethernet::Fields, packet: &[u8]) -> Result<Self, Error> {
        let header = ipv6::Fields::parse(packet)?;
        let hops = ipv6::Header::of(packet).hop_limit()?;
        if header.next_header != number::ICMPV6 || hops != HOP_LIMIT {
            return Err(Error::Malformed(Field::Type));
        }
        let length = usize::from(header.payload_length);
        let end = ipv6::HEADER_LEN + length;
        let message = packet.get(ipv6::HEADER_LEN..end).ok_or(Error::Truncated {
            need: end,
            have: packet.len(),
        })?;
        let ends = Addresses::V6(header.addresses);
        let sum = ends.pseudo_header(number::ICMPV6, header.payload_length.into());
        if sum.add(message).finish() != 0 {
            return Err(Error::Malformed(Field::Checksum));
        }
        let fields = neighbour::Fields::parse(message)?;
        let [source, _] = header.addresses;
        let [_, sender] = link.addresses;
        let target = IpAddr::V6(fields.target);
        Ok(match fields.operation {
            neighbour::Operation::Solicitation => {
                let from = (IpAddr::V6(source), fields.link.unwrap_or(sender));
                Self::Question {
                    from: (!source.is_unspecified()).then_some(from),
                    target,
                }
            }
            neighbour::Operation::Advertisement { .. } => {
                Self::Answer((target, fields.link.unwrap_or(sender)))
            }
        })
    }
}

/// Writes the frame with which `own` asks for `target`. Returns its length.
///
/// # Errors
/// [`Error::Truncated`] without room for [`LARGEST`] octets; [`Error::Malformed`] if the
/// addresses are of different versions.
pub fn emit_question(own: Node, target: IpAddr, frame: &mut [u8]) -> Result<usize, Error> {
    match (own.0, target) {
        (IpAddr::V4(address), IpAddr::V4(target)) => {
            let fields = arp::Fields {
                operation: arp::Operation::Request,
                sender: (own.1, address),
                target: ([0; 6], target),
            };
            emit_arp(fields, EVERYONE, frame)
        }
        (IpAddr::V6(address), IpAddr::V6(target)) => {
            // The solicited-node address ends as the target does [RFC4291 s2.7.1].
            let [.., a, b, c] = target.octets();
            let mut group = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00, 0).octets();
            group[13..].copy_from_slice(&[a, b, c]);
            let fields = neighbour::Fields {
                operation: neighbour::Operation::Solicitation,
                target,
                link: Some(own.1),
            };
            let ends = [address, Ipv6Addr::from_octets(group)];
            emit_v6(fields, ends, [group_link(ends[1]), own.1], frame)
        }
        _ => Err(Error::Malformed(Field::Version)),
    }
}

/// Writes the frame with which the router `own` answers the question of `to`. Returns its
/// length.
///
/// # Errors
/// As [`emit_question`].
pub fn emit_answer(own: Node, to: Option<Node>, frame: &mut [u8]) -> Result<usize, Error> {
    match (own.0, to) {
        (IpAddr::V4(address), Some((IpAddr::V4(asker), link))) => {
            let fields = arp::Fields {
                operation: arp::Operation::Reply,
                sender: (own.1, address),
                target: (link, asker),
            };
            emit_arp(fields, link, frame)
        }
        // Whoever probes for an address hears that it is in use [RFC5227 s2.1.1].
        (IpAddr::V4(address), None) => {
            let fields = arp::Fields {
                operation: arp::Operation::Reply,
                sender: (own.1, address),
                target: (EVERYONE, core::net::Ipv4Addr::UNSPECIFIED),
            };
            emit_arp(fields, EVERYONE, frame)
        }
        (IpAddr::V6(address), to) => {
            let (asker, link) = match to {
                Some((IpAddr::V6(asker), link)) => (asker, link),
                None => (ALL_NODES, group_link(ALL_NODES)),
                Some(_) => return Err(Error::Malformed(Field::Version)),
            };
            let fields = neighbour::Fields {
                operation: neighbour::Operation::Advertisement {
                    solicited: to.is_some(),
                },
                target: address,
                link: Some(own.1),
            };
            emit_v6(fields, [address, asker], [link, own.1], frame)
        }
        _ => Err(Error::Malformed(Field::Version)),
    }
}

/// The Ethernet address of a group [RFC2464 s7].
fn group_link(group: Ipv6Addr) -> [u8; 6] {
    let [.., a, b, c, d] = group.octets();
    [0x33, 0x33, a, b, c, d]
}

fn emit_arp(fields: arp::Fields, to: [u8; 6], frame: &mut [u8]) -> Result<usize, Error> {
    let link = ethernet::Fields {
        addresses: [to, fields.sender.0],
        kind: ether_type::ARP,
    };
    fields.emit(link.emit(frame)?)?;
    Ok(ethernet::HEADER_LEN + arp::LEN)
}

fn emit_v6(
    fields: neighbour::Fields,
    addresses: [Ipv6Addr; 2],
    links: [[u8; 6]; 2],
    frame: &mut [u8],
) -> Result<usize, Error> {
    let link = ethernet::Fields {
        addresses: links,
        kind: ether_type::IPV6,
    };
    let packet = link.emit(frame)?;
    let payload_length =
        u16::try_from(neighbour::LEN).map_err(|_| Error::Malformed(Field::Length))?;
    let header = ipv6::Fields {
        traffic_class: 0,
        payload_length,
        next_header: number::ICMPV6,
        addresses,
    };
    let (message, _) = split_mut::<{ neighbour::LEN }>(header.emit(packet)?)?;
    fields.emit(message)?;
    let sum = Addresses::V6(addresses).pseudo_header(number::ICMPV6, payload_length.into());
    let checksum = sum.add(message).finish();
    icmp::set_checksum(message, checksum)?;
    ipv6::Header::of(packet).set_hop_limit(HOP_LIMIT)?;
    Ok(LARGEST)
}

#[cfg(test)]
mod tests {
    use std::vec;

    use proptest::prelude::*;

    use super::*;

    const HERE: [u8; 6] = [2, 0, 0, 0, 0, 1];
    const THERE: [u8; 6] = [2, 0, 0, 0, 0, 2];

    fn nodes() -> [[Node; 2]; 2] {
        [["10.1.0.1", "10.1.0.2"], ["fd01::1", "fd01::2"]].map(|[here, there]| {
            [
                (here.parse().unwrap(), HERE),
                (there.parse().unwrap(), THERE),
            ]
        })
    }

    #[test]
    fn questions_and_answers_come_back_as_they_were() {
        for [here, there] in nodes() {
            let mut frame = [0xee; LARGEST];
            let length = emit_question(here, there.0, &mut frame).unwrap();
            let question = Neighbour::Question {
                from: Some(here),
                target: there.0,
            };
            assert_eq!(Neighbour::parse(&frame[..length]), Ok(question));
            assert!(ethernet::is_group([frame[0]; 6]));
            for to in [Some(here), None] {
                let length = emit_answer(there, to, &mut frame).unwrap();
                let answer = Neighbour::Answer(there);
                assert_eq!(Neighbour::parse(&frame[..length]), Ok(answer));
                assert_eq!(frame[..6] == HERE, to.is_some());
                assert_eq!(frame[6..12], THERE);
            }
            assert!(emit_question(here, there.0, &mut frame[..20]).is_err());
        }
        let [[four, _], [six, _]] = nodes();
        let mut frame = [0; LARGEST];
        assert!(emit_question(four, six.0, &mut frame).is_err());
        assert!(emit_answer(six, Some(four), &mut frame).is_err());
    }

    #[test]
    fn a_solicitation_goes_to_the_group_of_its_target() {
        let [_, [here, _]] = nodes();
        let mut frame = [0; LARGEST];
        let target = "fd01::1:2345:6789".parse().unwrap();
        emit_question(here, target, &mut frame).unwrap();
        assert_eq!(frame[..6], [0x33, 0x33, 0xff, 0x45, 0x67, 0x89]);
        let group: Ipv6Addr = "ff02::1:ff45:6789".parse().unwrap();
        assert_eq!(frame[38..54], group.octets());
    }

    #[test]
    fn what_a_router_forwarded_and_what_is_damaged_is_discarded() {
        let [_, [here, there]] = nodes();
        let mut frame = [0; LARGEST];
        emit_question(here, there.0, &mut frame).unwrap();
        let mut forwarded = frame;
        forwarded[21] = 254;
        let refused = Err(Error::Malformed(Field::Type));
        assert_eq!(Neighbour::parse(&forwarded), refused);
        frame[70] ^= 1;
        let refused = Err(Error::Malformed(Field::Checksum));
        assert_eq!(Neighbour::parse(&frame), refused);
    }

    proptest! {
        #[test]
        fn any_octets_are_read_or_refused(
            octets in prop::collection::vec(any::<u8>(), 0..100),
            kind in prop::sample::select(vec![ether_type::ARP, ether_type::IPV6]),
        ) {
            let mut octets = octets;
            if let Some(place) = octets.get_mut(12..14) {
                place.copy_from_slice(&kind.to_be_bytes());
            }
            let _ = Neighbour::parse(&octets);
        }
    }
}
