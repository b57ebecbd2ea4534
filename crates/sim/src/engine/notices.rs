//! Packets that do not pass: routers cut them or notify their sources, and queues may
//! notify sources of drops.

use tcp::{Range, React};
use units::IpVersion;

use super::Engine;

use crate::fragments::{fragment_header, ip_header, pieces};
use crate::packet::{Body, Congestion, Content, Header, Packet, Piece, Segment};

/// Bytes of the header of ICMP [RFC4443 s3.2] [RFC792].
const ICMP_HEADER: u32 = 8;

/// Bytes of a packet that a notification of a drop quotes behind its header [RFC792].
const QUOTED: u32 = 8;

/// The largest ICMP error of a router: the smallest MTU of IPv6 [RFC4443 s3.2], or the
/// size that every IPv4 host accepts [RFC1812 s4.3.2.3].
const fn largest_answer(ip: IpVersion) -> u32 {
    match ip {
        IpVersion::V4 => 576,
        IpVersion::V6 => 1_280,
    }
}

impl<const TRACED: bool> Engine<'_, TRACED> {
    /// Forwards a packet that is too big for the next link in fragments, if it may be
    /// cut. Returns whether it was.
    #[cold]
    pub(super) fn cut(&mut self, node: usize, packet: &Header, mtu: u32) -> bool {
        let whole = *self.contents.of(packet);
        let Body::Datagram(piece) = whole.body else {
            return false;
        };
        if piece.dont_fragment {
            return false;
        }
        self.nodes[node].counts.cut += 1;
        self.nodes[node].counts.forwarded += 1;
        let header = fragment_header(packet.ip);
        for (offset, length) in pieces(packet.ip, mtu, piece.offset, piece.length) {
            let body = Body::Datagram(Piece {
                offset,
                length,
                ..piece
            });
            let fragment = Header {
                size: header + length,
                ..*packet
            };
            self.post(node, fragment, Content { body, ..whole });
        }
        self.contents.discard(&Packet::bare(*packet));
        true
    }

    /// Notifies the source of `packet`, which is gone, that it was too big, unless it was an
    /// ICMP error [RFC4443 s2.4] or a bundle. The scenario's check ensures that
    /// acknowledgements fit every link.
    #[cold]
    pub(super) fn answer(&mut self, node: usize, packet: &Header, mtu: u32) {
        let content = *self.contents.of(packet);
        if matches!(
            content.body,
            Body::TooBig { .. } | Body::Notice { .. } | Body::Bundle
        ) {
            return;
        }
        self.nodes[node].counts.answered += 1;
        let size = ip_header(packet.ip) + ICMP_HEADER + packet.size;
        let answer = Header {
            size: size.min(largest_answer(packet.ip)),
            ..self.to_source(packet)
        };
        let body = Body::TooBig { mtu };
        self.post(node, answer, Content { body, ..content });
    }

    /// The queue of a direction dropped `packet`, which is not a bundle; notifies its
    /// source if configured.
    pub(super) fn tell_source(&mut self, direction: usize, packet: &Header) {
        let Some(react) = self.notifies.get(direction).copied().flatten() else {
            return;
        };
        let content = *self.contents.of(packet);
        let Body::Segment(Segment::Data(data)) = content.body else {
            return;
        };
        let header = ip_header(packet.ip);
        let notice = Header {
            size: header + ICMP_HEADER + header + QUOTED,
            ..self.to_source(packet)
        };
        let body = Body::Notice {
            lost: Range {
                from: data.sequence,
                to: data.sequence + u64::from(data.length),
            },
            reduce: react == React::RetransmitAndReduce,
        };
        // The way back begins at the start of this direction.
        let node = self.directions[direction ^ 1].to as usize;
        if node == notice.to as usize {
            self.nodes[node].counts.received += 1;
            let content = self.contents.put(Content { body, ..content });
            self.receive(node, Packet::bare(Header { content, ..notice }));
        } else {
            self.post(node, notice, Content { body, ..content });
        }
    }

    /// The header of a notification of the source of `packet`.
    fn to_source(&self, packet: &Header) -> Header {
        let from = self.flows[packet.flow as usize].from;
        Header {
            to: u32::try_from(from).expect("a scenario has fewer nodes than that"),
            // A separate flow for queues.
            key: packet.key ^ 1,
            congestion: Congestion::Unable,
            ..*packet
        }
    }
}
