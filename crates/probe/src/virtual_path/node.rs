//! A host or a router: what it does with packets for itself, and the limit of its error
//! messages.

use core::net::IpAddr;
use std::collections::BTreeMap;
use std::net::SocketAddr;

use crate::machine::stamp::{Arrival, Limits, Reflector};
use units::{Bytes, IpVersion, Span, Time};
use wire::icmp_error::Cause;
use wire::probe::{Content, Echo, Tcp, Transport};
use wire::protocol::ip::Addresses;
use wire::protocol::tcp::flag;
use wire::stamp::{self, ErrorEstimate};

use super::bytes::{Received, emitted, error};
use super::reassembly::Reassembly;
use super::{FarEnd, prober};

/// Linux sends six errors to one peer in a row, and then one a second
/// (`icmp_ratelimit`); messages that a packet was too big are not limited
/// [LinuxDoc ip-sysctl].
const BURST: u64 = 6;
const EVERY: Span = Span::from_secs(1);

/// The hop limit of packets that a node sends [LinuxDoc ip-sysctl].
const HOP_LIMIT: u8 = 64;

/// Seconds of the clock of reflectors at the start: any time will do.
const CLOCK: u64 = 1_700_000_000_000_000_000;

/// A host or a router.
#[derive(Debug)]
pub(super) struct Node {
    version: IpVersion,
    /// The services of this node besides echoes; `None`: a router, whose ports are
    /// closed.
    services: Option<FarEnd>,
    /// The MTU of the interface towards the prober, for the segment size that an open
    /// port announces.
    mtu: Bytes,
    /// When each peer's credit for error messages is full again.
    credit: BTreeMap<IpAddr, Time>,
    reassembly: Reassembly,
    /// The reflector of test packets, if there is one.
    reflector: Option<Reflector>,
    /// The largest packet to a destination, as messages said.
    path_mtus: BTreeMap<IpAddr, Bytes>,
    identification: u16,
}

impl Node {
    pub(super) fn new(version: IpVersion, services: Option<FarEnd>, mtu: Bytes) -> Self {
        let error = ErrorEstimate::new(Span::from_micros(1), true);
        Self {
            version,
            services,
            mtu,
            credit: BTreeMap::new(),
            reassembly: Reassembly::new(),
            reflector: services
                .filter(|services| services.reflects)
                .map(|_| Reflector::new(Limits::default(), error)),
            path_mtus: BTreeMap::new(),
            identification: 0,
        }
    }

    /// The largest packet that the node sends whole to `to`: unlimited unless a message
    /// said otherwise.
    pub(super) fn path_mtu(&self, to: IpAddr) -> Option<Bytes> {
        self.path_mtus.get(&to).copied()
    }

    /// A number for the fragments of a packet.
    pub(super) fn next_identification(&mut self) -> u16 {
        self.identification = self.identification.wrapping_add(1);
        self.identification
    }

    /// The error about a packet, if the limit allows one to its source now.
    pub(super) fn limited_error(
        &mut self,
        now: Time,
        bytes: &[u8],
        cause: Cause,
        from: IpAddr,
    ) -> Option<Vec<u8>> {
        let error = error(bytes, cause, from)?;
        let to = wire::ip_packet::IpPacket::parse(&error)
            .ok()?
            .addresses
            .ends()[1];
        let full_at = self.credit.get(&to).copied().unwrap_or(Time::ZERO).max(now) + EVERY;
        let granted = full_at <= now + EVERY * BURST;
        if granted {
            self.credit.insert(to, full_at);
        }
        granted.then_some(error)
    }

    /// Takes a packet that is addressed to this node. Returns what it answers.
    pub(super) fn receive(&mut self, now: Time, bytes: Vec<u8>) -> Option<Vec<u8>> {
        let Received { bytes, fragment } = self.reassembly.receive(bytes)?;
        let received = wire::probe::Received::parse(&bytes).ok()?;
        let packet = received.packet;
        let [_, own] = packet.addresses.ends();
        match received.content {
            Content::Data {
                transport:
                    Transport::Echo(Echo {
                        reply: false,
                        identifier,
                        sequence,
                    }),
                data,
            } => {
                let reply = Transport::Echo(Echo {
                    reply: true,
                    identifier,
                    sequence,
                });
                self.answer(
                    packet.addresses,
                    packet.flow_label,
                    reply,
                    data,
                    packet.size,
                )
            }
            Content::Data {
                transport: Transport::Udp { ports },
                data,
            } => {
                if let Some(reflector) = &mut self.reflector
                    && ports[1] == stamp::PORT
                {
                    let unix_nanos = CLOCK + now.as_nanos();
                    let arrival = Arrival {
                        from: SocketAddr::new(packet.addresses.ends()[0], ports[0]),
                        unix_nanos,
                        hop_limit: packet.hop_limit,
                        piece: Some(fragment.unwrap_or_else(|| Bytes::new(packet.size.into()))),
                        is_resolved: true,
                        bytes: data,
                    };
                    let mut reply = vec![0; data.len()];
                    let length = reflector.reflect(now, unix_nanos, &arrival, &mut reply);
                    reply.truncate(length.ok()?);
                    let [source, destination] = ports;
                    let ports = Transport::Udp {
                        ports: [destination, source],
                    };
                    let size = u32::try_from(reply.len()).ok()? + packet.size
                        - u32::try_from(data.len()).ok()?;
                    return self.answer(packet.addresses, packet.flow_label, ports, &reply, size);
                }
                let cause = Cause::port_unreachable(self.version);
                self.limited_error(now, &bytes, cause, own)
            }
            Content::Data {
                transport: Transport::Tcp(tcp),
                data,
            } => {
                let reply = self.segment(tcp, data)?;
                let label = packet.flow_label;
                let mut answer = prober::packet(reversed(packet.addresses), label, reply, &[], 0);
                answer.size = u32::try_from(answer.headers()).ok()?;
                emitted(&answer)
            }
            Content::Data { .. } => None,
            Content::Error {
                cause: Cause::TooBig { mtu },
                quote,
            } => {
                // Linux ignores announcements below the smallest MTU of IPv6, and fragments
                // by itself where it does not set DF [RFC8201 s4].
                let [_, to] = quote.packet.addresses.ends();
                let least = self.version.smallest_mtu();
                if quote.packet.addresses.ends()[0] == own && mtu >= least {
                    self.path_mtus.insert(to, Bytes::new(mtu.into()));
                }
                None
            }
            Content::Error { .. } => None,
        }
    }

    /// An answer as large as `size`, which routers may fragment over IPv4.
    fn answer(
        &mut self,
        addresses: Addresses,
        label: u32,
        transport: Transport,
        data: &[u8],
        size: u32,
    ) -> Option<Vec<u8>> {
        let mut packet = prober::packet(reversed(addresses), label, transport, data, size);
        packet.identification = self.next_identification();
        packet.dont_fragment = false;
        packet.hop_limit = HOP_LIMIT;
        emitted(&packet)
    }

    /// The segment that answers a SYN [RFC9293 s3.5]: SYN and ACK from an open port,
    /// which does not take the data yet, or RST.
    fn segment(&self, tcp: Tcp, data: &[u8]) -> Option<Transport> {
        if tcp.flags & (flag::SYN | flag::ACK | flag::RST) != flag::SYN {
            return None;
        }
        let [source, destination] = tcp.ports;
        let open = self.services.is_some_and(|services| services.listens)
            && destination == prober::TCP_PORT;
        let after_syn = tcp.sequence.wrapping_add(1);
        let headers = self.version.header().get() + prober::TCP_HEADER;
        Some(Transport::Tcp(if open {
            Tcp {
                ports: [destination, source],
                sequence: 1,
                acknowledgement: after_syn,
                flags: flag::SYN | flag::ACK,
                window: u16::MAX,
                mss: u16::try_from(self.mtu.get().saturating_sub(headers)).ok(),
            }
        } else {
            let data = u32::try_from(data.len()).unwrap_or_default();
            Tcp {
                ports: [destination, source],
                sequence: 0,
                acknowledgement: after_syn.wrapping_add(data),
                flags: flag::RST | flag::ACK,
                window: 0,
                mss: None,
            }
        }))
    }
}

const fn reversed(addresses: Addresses) -> Addresses {
    match addresses {
        Addresses::V4([a, b]) => Addresses::V4([b, a]),
        Addresses::V6([a, b]) => Addresses::V6([b, a]),
    }
}
