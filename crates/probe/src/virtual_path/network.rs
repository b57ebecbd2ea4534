//! The nodes of a path and the links between them.

use core::iter::Peekable;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::collections::VecDeque;

use link::Direction;
use link::middlebox::{Middlebox, Outcome};
use link::{BadSettings, Link};
use meter::departures::{Distribution, Schedule};
use units::{Bytes, IpVersion, Seed, Time};
use wire::icmp_error::Cause;
use wire::ip_packet::{IpPacket, set_hop_limit};

use super::bytes::{OnLink, Received, divided, error, length};
use super::node::Node;
use super::reassembly::Reassembly;
use super::{Cross, PathLink, ProbePath};

/// The addresses at both ends of each of `links` links, nearer to the prober first.
pub fn addresses(version: IpVersion, links: usize) -> Vec<[IpAddr; 2]> {
    let link = |number: u8| {
        [1, 2].map(|end: u8| match version {
            // Reserved for tests [RFC2544] and documentation [RFC3849].
            IpVersion::V4 => IpAddr::V4(Ipv4Addr::new(198, 18, number, end)),
            IpVersion::V6 => {
                let [number, end] = [number, end].map(u16::from);
                IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, number, 0, 0, 0, 0, end))
            }
        })
    };
    (0..u8::MAX).take(links).map(link).collect()
}

/// The path in operation. Node 0 is the prober's host; link `n` joins nodes `n` and
/// `n + 1`.
pub(super) struct Network {
    nodes: Vec<Node>,
    links: Vec<Wire>,
    /// Packets that arrived at the prober's host, and fragments of more.
    reassembly: Reassembly,
    received: VecDeque<Received>,
}

struct Wire {
    mtu: Bytes,
    ends: [IpAddr; 2],
    directions: [Link<OnLink>; 2],
    cross: [Option<Peekable<Schedule>>; 2],
    middlebox: Middlebox,
}

impl Wire {
    fn new(link: &PathLink, ends: [IpAddr; 2], seed: Seed) -> Result<Self, BadSettings> {
        let own = seed.derive("link").derive(&link.name);
        let [there, back] = link.directions.clone();
        let cross = |number: usize| {
            let Cross { packet, gaps } = link.cross[number].clone()?;
            let size = Distribution::Constant(packet.get() as f64);
            let seed = own.derive("cross").with(number as u64);
            Some(Schedule::new(Time::ZERO, gaps, size, seed).peekable())
        };
        Ok(Self {
            mtu: link.mtu,
            ends,
            directions: [
                Link::new(there, own.derive("there"))?,
                Link::new(back, own.derive("back"))?,
            ],
            cross: [cross(0), cross(1)],
            middlebox: Middlebox::new(link.rules.clone(), seed.derive("branches"), Time::ZERO),
        })
    }
}

impl Network {
    pub(super) fn new(path: &ProbePath) -> Result<Self, BadSettings> {
        let addresses = addresses(path.version, path.links.len());
        let links: Result<Vec<Wire>, _> = path
            .links
            .iter()
            .zip(addresses)
            .map(|(link, ends)| Wire::new(link, ends, path.seed))
            .collect();
        let last = path.links.len();
        let node = |number: usize| {
            let services = (number == last).then_some(path.far_end);
            let towards_prober = number.checked_sub(1).map(|link| path.links[link].mtu);
            Node::new(
                path.version,
                services,
                towards_prober.unwrap_or(Bytes::ZERO),
            )
        };
        Ok(Self {
            nodes: (0..=last).map(node).collect(),
            links: links?,
            reassembly: Reassembly::new(),
            received: VecDeque::new(),
        })
    }

    /// The prober's host sends a packet.
    pub(super) fn send(&mut self, now: Time, bytes: Vec<u8>) {
        self.route(now, 0, bytes, true);
    }

    /// The next packet that the prober's host received.
    pub(super) fn take_received(&mut self) -> Option<Received> {
        self.received.pop_front()
    }

    /// When the next packet arrives somewhere.
    pub(super) fn next_event(&mut self) -> Option<Time> {
        let links = self.links.iter_mut();
        let events = links.flat_map(|wire| {
            let Wire {
                directions, cross, ..
            } = wire;
            let out = directions.iter().map(Link::next_timeout);
            let cross = cross.iter_mut().map(|cross| {
                let (at, _) = cross.as_mut()?.peek()?;
                Some(*at)
            });
            out.chain(cross).flatten().collect::<Vec<_>>()
        });
        events.min()
    }

    /// Lets everything happen that happens by `now`.
    pub(super) fn advance(&mut self, now: Time) {
        let mut busy = true;
        while busy {
            busy = false;
            for link in 0..self.links.len() {
                for direction in 0..2 {
                    self.add_cross(now, link, direction);
                    while let Some(delivery) =
                        self.links[link].directions[direction].poll_transmit(now)
                    {
                        busy = true;
                        if let OnLink::Ip(packet) = delivery.packet {
                            let node = link + 1 - direction;
                            for _ in 1..delivery.copies {
                                self.arrive(delivery.at, node, packet.bytes.clone());
                            }
                            self.arrive(delivery.at, node, packet.bytes);
                        }
                    }
                }
            }
        }
    }

    fn add_cross(&mut self, now: Time, link: usize, direction: usize) {
        let wire = &mut self.links[link];
        let Some(cross) = &mut wire.cross[direction] else {
            return;
        };
        while let Some((at, size)) = cross.next_if(|(at, _)| *at <= now) {
            wire.directions[direction].receive(at, OnLink::Cross(size));
        }
    }

    /// The node with this address.
    fn locate(&self, address: IpAddr) -> Option<usize> {
        self.links.iter().enumerate().find_map(|(number, wire)| {
            let end = wire.ends.iter().position(|end| *end == address)?;
            Some(number + end)
        })
    }

    /// The address with which a node answers the prober: that of its interface towards
    /// it.
    fn address(&self, node: usize) -> Option<IpAddr> {
        let wire = self.links.get(node.checked_sub(1)?)?;
        Some(wire.ends[1])
    }

    /// A packet arrives at a node.
    fn arrive(&mut self, now: Time, node: usize, mut bytes: Vec<u8>) {
        let Ok(packet) = IpPacket::parse_whole(&bytes) else {
            return;
        };
        let (to, hop_limit) = (packet.addresses.ends()[1], packet.hop_limit);
        if self.locate(to) == Some(node) {
            if node == 0 {
                self.received.extend(self.reassembly.receive(bytes));
            } else if let Some(answer) = self.nodes[node].receive(now, bytes) {
                self.route(now, node, answer, true);
            }
        } else if hop_limit <= 1 {
            let Some(from) = self.address(node) else {
                return;
            };
            let cause = Cause::HopLimitExceeded;
            let answer = self.nodes[node].limited_error(now, &bytes, cause, from);
            if let Some(answer) = answer {
                self.route(now, node, answer, true);
            }
        } else if set_hop_limit(&mut bytes, hop_limit - 1).is_ok() {
            self.route(now, node, bytes, false);
        }
    }

    /// A node sends a packet of its own, or forwards one.
    fn route(&mut self, now: Time, node: usize, bytes: Vec<u8>, own: bool) {
        let Ok(packet) = IpPacket::parse_whole(&bytes) else {
            return;
        };
        let to = packet.addresses.ends()[1];
        let whole_only = packet.dont_fragment;
        let Some(there) = self.locate(to).filter(|there| *there != node) else {
            return;
        };
        let (link, direction) = if there > node {
            (node, Direction::Forward)
        } else {
            (node - 1, Direction::Reverse)
        };
        let mtu = self.links[link].mtu;
        let known = if own {
            self.nodes[node].path_mtu(to)
        } else {
            None
        };
        let most = known.map_or(mtu, |known| known.min(mtu));
        if length(&bytes) <= most {
            self.enter(now, node, link, direction, bytes);
        } else if own && node != 0 || !whole_only {
            let identification = self.nodes[node].next_identification();
            for part in divided(&bytes, most, identification.into()) {
                self.enter(now, node, link, direction, part);
            }
        } else if let Some(from) = self.address(node) {
            let mtu = u32::try_from(most.get()).unwrap_or(u32::MAX);
            if let Some(answer) = error(&bytes, Cause::TooBig { mtu }, from) {
                self.route(now, node, answer, true);
            }
        }
    }

    /// A packet enters a link.
    fn enter(
        &mut self,
        now: Time,
        node: usize,
        link: usize,
        direction: Direction,
        mut bytes: Vec<u8>,
    ) {
        let wire = &mut self.links[link];
        if wire.middlebox.pass(now, &mut bytes, direction) == Outcome::Drop {
            return;
        }
        let way = &mut wire.directions[direction as usize];
        let Some(OnLink::Ip(rejected)) = way.receive(now, OnLink::Ip(bytes.into())) else {
            return;
        };
        // A link has no address: its messages come from the packet's destination.
        let mtu = way.advertised_mtu().filter(|_| way.may_answer(now));
        let Some(mtu) = mtu.and_then(|mtu| u32::try_from(mtu.get()).ok()) else {
            return;
        };
        let packet = IpPacket::parse_whole(&rejected.bytes).ok();
        let answer = packet.and_then(|packet| {
            let from = packet.addresses.ends()[1];
            error(&rejected.bytes, Cause::TooBig { mtu }, from)
        });
        if let Some(answer) = answer {
            // It reaches the node in front of the link.
            self.arrive(now, node, answer);
        }
    }
}
