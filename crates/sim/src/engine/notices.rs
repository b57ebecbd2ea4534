//! Notifications of sources about dropped packets.

use tcp::{Range, React};

use super::{Engine, ICMP_HEADER};

use crate::fragments::ip_header;
use crate::packet::{Body, Congestion, Content, Header, Packet, Segment};

/// Octets of a packet that a notification quotes behind its header [RFC792].
const QUOTED: u32 = 8;

impl<const TRACED: bool> Engine<'_, TRACED> {
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
        // The way back begins at the start of this direction.
        let node = self.directions[direction ^ 1].to as usize;
        let from = self.flows[packet.flow as usize].from;
        let header = ip_header(packet.ip);
        let notice = Header {
            to: u32::try_from(from).expect("a scenario has fewer nodes than that"),
            size: header + ICMP_HEADER + header + QUOTED,
            // A separate flow for queues.
            key: packet.key ^ 1,
            congestion: Congestion::Unable,
            ..*packet
        };
        let body = Body::Notice {
            lost: Range {
                from: data.sequence,
                to: data.sequence + u64::from(data.length),
            },
            reduce: react == React::RetransmitAndReduce,
        };
        if node == from {
            let content = self.contents.put(Content { body, ..content });
            self.receive(node, Packet::bare(Header { content, ..notice }));
        } else {
            self.post(node, notice, Content { body, ..content });
        }
    }
}
