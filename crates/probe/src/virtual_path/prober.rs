//! The prober's host: probes become packets, and packets become answers.

use core::net::IpAddr;
use std::collections::{BTreeMap, VecDeque};

use crate::machine::{Answer, AnswerKind, Probe, QuotedHeader, Reflected, ReplySize, Target};
use link::Protocol;
use units::{Bytes, IpVersion, Span, Time};
use wire::icmp_error::Cause;
use wire::probe::{Content, Echo, ProbePacket, Quote, QuotedTransport, Tcp, Transport};
use wire::protocol::ip::Addresses;
use wire::protocol::tcp::flag;
use wire::stamp::{self, ErrorEstimate, SenderPacket, Timestamp};

use super::bytes::{Received, divided, emitted};
use super::network::Network;
use super::{ProbePath, Prober, addresses};

/// The port that TCP probes try.
pub(super) const TCP_PORT: u16 = 443;
/// The port of UDP probes without a reflector: that of traceroute, closed everywhere.
const UDP_PORT: u16 = 33_434;
/// The source port of flow 0, and the identifier of its echoes.
const FIRST_SOURCE: u16 = 50_000;
/// The hop limit of probes without one of their own [LinuxDoc ip-sysctl].
const HOP_LIMIT: u8 = 64;
/// Bytes of a TCP header without options.
pub(super) const TCP_HEADER: u64 = 20;
/// Bytes of the MSS option of each SYN [RFC9293 s3.7.1].
const MSS_OPTION: u64 = 4;
/// The number of probes whose identifiers are remembered, for answers of TCP.
const REMEMBERED: usize = 4_096;

/// The host of a prober.
#[derive(Debug)]
pub(super) struct Endpoint {
    version: IpVersion,
    own: IpAddr,
    far_end: IpAddr,
    mtu: Bytes,
    reflects: bool,
    /// Identifiers of probes, and the payload of their segments.
    sent: VecDeque<(u64, u32)>,
    /// The number of test packets sent to the reflector, by flow.
    test_packets: BTreeMap<u16, u32>,
    identification: u16,
}

impl Endpoint {
    pub(super) fn new(path: &ProbePath) -> Self {
        let addresses = addresses(path.version, path.links.len());
        let ends = (addresses.first(), addresses.last());
        let unspecified = [IpAddr::from([0; 4]); 2];
        Self {
            version: path.version,
            own: ends.0.unwrap_or(&unspecified)[0],
            far_end: ends.1.unwrap_or(&unspecified)[1],
            mtu: path.links.first().map_or(Bytes::ZERO, |link| link.mtu),
            reflects: path.far_end.reflects,
            sent: VecDeque::new(),
            test_packets: BTreeMap::new(),
            identification: 0,
        }
    }

    /// Hands over what has arrived, and sends what the prober wants to send now.
    pub(super) fn exchange(&mut self, now: Time, network: &mut Network, prober: &mut impl Prober) {
        let mut busy = true;
        while busy {
            busy = false;
            while let Some(packet) = network.take_received() {
                busy = true;
                if let Some(answer) = self.read(&packet) {
                    prober.answered(now, &answer);
                }
            }
            while let Some(probe) = prober.poll_probe(now) {
                busy = true;
                match self.packets(now, &probe) {
                    Ok(packets) => packets
                        .into_iter()
                        .for_each(|packet| network.send(now, packet)),
                    Err(answer) => prober.answered(now, &answer),
                }
            }
        }
    }

    /// The packets of a probe, or the answer of the local system that it is too big.
    fn packets(&mut self, now: Time, probe: &Probe) -> Result<Vec<Vec<u8>>, Answer> {
        let least = probe.fragment_size.unwrap_or(probe.size);
        if least > self.mtu {
            return Err(Answer {
                id: probe.id,
                from: self.own,
                kind: AnswerKind::LocallyTooBig { mtu: self.mtu },
            });
        }
        if self.sent.len() == REMEMBERED {
            self.sent.pop_front();
        }
        let headers = self.version.header().get() + TCP_HEADER + MSS_OPTION;
        let payload = probe.size.get().saturating_sub(headers);
        let payload = u32::try_from(payload).unwrap_or_default();
        self.sent.push_back((probe.id, payload));
        self.identification = self.identification.wrapping_add(1);
        let whole = self.whole(now, probe);
        Ok(match (whole, probe.fragment_size) {
            (None, _) => Vec::new(),
            (Some(whole), None) => vec![whole],
            (Some(whole), Some(size)) => divided(&whole, size, self.identification.into()),
        })
    }

    /// The whole packet of a probe; `None` if IP cannot express it.
    fn whole(&mut self, now: Time, probe: &Probe) -> Option<Vec<u8>> {
        let to = match probe.to {
            Target::FarEnd => self.far_end,
            Target::Router(address) => address,
        };
        let addresses = match (self.own, to) {
            (IpAddr::V4(own), IpAddr::V4(to)) => Addresses::V4([own, to]),
            (IpAddr::V6(own), IpAddr::V6(to)) => Addresses::V6([own, to]),
            _ => return None,
        };
        let source = FIRST_SOURCE.wrapping_add(probe.flow);
        let mut data = probe.id.to_be_bytes().to_vec();
        let transport = match probe.protocol {
            Protocol::Icmp => Transport::Echo(Echo {
                reply: false,
                identifier: source,
                sequence: self.identification,
            }),
            Protocol::Udp if self.reflects && to == self.far_end => {
                data = self.test_packet(now, probe)?;
                Transport::Udp {
                    ports: [source, stamp::PORT],
                }
            }
            Protocol::Udp => Transport::Udp {
                ports: [source, UDP_PORT],
            },
            Protocol::Tcp => {
                data.clear();
                let headers = self.version.header().get() + TCP_HEADER;
                Transport::Tcp(Tcp {
                    ports: [source, TCP_PORT],
                    sequence: low_half(probe.id),
                    acknowledgement: 0,
                    flags: flag::SYN,
                    window: u16::MAX,
                    mss: u16::try_from(self.mtu.get().saturating_sub(headers)).ok(),
                })
            }
        };
        let size = u32::try_from(probe.size.get()).ok()?;
        let label = u32::from(probe.flow) + 1;
        let mut packet = packet(addresses, label, transport, &data, size);
        // A probe that is smaller than its identifier needs is sent as large as that.
        let least = u32::try_from(packet.headers() + data.len()).ok()?;
        packet.size = size.max(least);
        packet.hop_limit = probe.hop_limit.unwrap_or(HOP_LIMIT);
        packet.identification = self.identification;
        packet.dont_fragment = probe.fragment_size.is_none();
        emitted(&packet)
    }

    /// The payload of a probe to the reflector.
    fn test_packet(&mut self, now: Time, probe: &Probe) -> Option<Vec<u8>> {
        let short_reply = probe.reply == ReplySize::Small;
        let headers = self.version.header().get() + 8;
        let room = usize::try_from(probe.size.get().saturating_sub(headers)).ok()?;
        let mut bytes = vec![0; room.max(stamp::Probe::shortest(short_reply))];
        let number = self.test_packets.entry(probe.flow).or_default();
        let test = stamp::Probe {
            packet: SenderPacket {
                sequence: *number,
                sent: Timestamp::ntp(now.as_nanos()),
                error: ErrorEstimate::new(Span::from_micros(1), true),
                session: 0,
            },
            id: probe.id,
            short_reply,
        };
        *number = number.wrapping_add(1);
        test.emit(&mut bytes).ok()?;
        Some(bytes)
    }

    /// The answer that a packet is, if it is one.
    fn read(&self, packet: &Received) -> Option<Answer> {
        let received = wire::probe::Received::parse(&packet.bytes).ok()?;
        let [from, to] = received.packet.addresses.ends();
        if to != self.own {
            return None;
        }
        let reply = |mss, is_unreachable, reflected| AnswerKind::Reply {
            size: Bytes::new(received.packet.size.into()),
            fragment_size: packet.fragment,
            mss,
            is_unreachable,
            reflected,
        };
        let (id, kind) = match received.content {
            Content::Data {
                transport: Transport::Echo(Echo { reply: true, .. }),
                ..
            } => (received.id()?, reply(None, false, None)),
            Content::Data {
                transport: Transport::Udp { ports },
                data,
            } if ports[0] == stamp::PORT => {
                let answer = stamp::Reflected::parse(data).ok()?;
                let reflected = Reflected {
                    sequence: answer.packet.sequence,
                    sent: answer.packet.request.sequence,
                    stateful: answer.stateful,
                    hop_limit: answer.packet.hop_limit,
                    piece: answer.piece.map(|piece| Bytes::new(piece.into())),
                };
                (answer.id?, reply(None, false, Some(reflected)))
            }
            Content::Data {
                transport: Transport::Tcp(tcp),
                ..
            } => {
                let id = self.of_segment(tcp.acknowledgement)?;
                (id, reply(tcp.mss, false, None))
            }
            Content::Data { .. } => return None,
            Content::Error { cause, quote } => {
                let id = self.quoted(&quote)?;
                let arrived = quote.packet.addresses.ends()[1] == from;
                let kind = match cause {
                    Cause::HopLimitExceeded => AnswerKind::HopLimitExceeded {
                        quoted: Some(QuotedHeader::of(&quote.packet)),
                    },
                    Cause::TooBig { mtu } => AnswerKind::TooBig {
                        announced: Bytes::new(mtu.into()),
                        quoted: Bytes::new(quote.packet.size.into()),
                    },
                    cause if arrived && cause.is_port_unreachable(self.version) => {
                        reply(None, true, None)
                    }
                    Cause::Unreachable { code } => AnswerKind::Unreachable {
                        code,
                        prohibited: cause.is_prohibited(self.version),
                    },
                    Cause::ReassemblyTimeExceeded => return None,
                };
                (id, kind)
            }
        };
        Some(Answer { id, from, kind })
    }

    /// The identifier of the quoted probe.
    fn quoted(&self, quote: &Quote<'_>) -> Option<u64> {
        match quote.transport? {
            QuotedTransport::Udp { ports } if ports[1] == stamp::PORT => {
                stamp::Probe::id_of(quote.data)
            }
            QuotedTransport::Tcp { sequence, .. } => self.of_sequence(sequence),
            QuotedTransport::Echo(_) | QuotedTransport::Udp { .. } => quote.id,
        }
    }

    /// The identifier of the probe with this sequence number.
    fn of_sequence(&self, sequence: u32) -> Option<u64> {
        let newest_first = self.sent.iter().rev();
        let mut ids = newest_first.map(|&(id, _)| id);
        ids.find(|id| low_half(*id) == sequence)
    }

    /// The identifier of the probe that this acknowledgement answers: an open port
    /// acknowledges the SYN alone, a closed one also the data.
    fn of_segment(&self, acknowledgement: u32) -> Option<u64> {
        let newest_first = self.sent.iter().rev();
        let mut fitting = newest_first.filter(|(id, payload)| {
            let data = acknowledgement.wrapping_sub(low_half(*id)).wrapping_sub(1);
            data == 0 || data == *payload
        });
        fitting.next().map(|&(id, _)| id)
    }
}

/// The lower half of an identifier, which is the sequence number of a SYN.
fn low_half(id: u64) -> u32 {
    u32::try_from(id & u64::from(u32::MAX)).unwrap_or_default()
}

/// A packet with the defaults of Linux.
pub(super) const fn packet(
    addresses: Addresses,
    flow_label: u32,
    transport: Transport,
    data: &[u8],
    size: u32,
) -> ProbePacket<'_> {
    ProbePacket {
        addresses,
        hop_limit: HOP_LIMIT,
        flow_label,
        identification: 0,
        dont_fragment: true,
        transport,
        data,
        size,
    }
}
