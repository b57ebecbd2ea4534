//! Test packets to a STAMP reflector [RFC8762], which tells both directions apart: it
//! answers large packets with small ones if it is asked to.

use std::net::IpAddr;

use crate::machine::{Reflected, ReplySize};
use units::{Bytes, IpVersion, Span};
use wire::probe::Transport;
use wire::stamp::{self, ErrorEstimate, SenderPacket, Timestamp};

use super::error::version;
use super::format::{Format, Reply, data_len};
use super::probe_socket::ProbeSocket;
use super::sent::{Latest, Quoted};
use super::socket::{self, Ends};
use os::clock::Epoch;
use os::error::{Error, OperationContext, Result};
use os::socket::{Kind, begin_to_connect};

/// Bytes of UDP's header [RFC768].
const HEADER_LEN: usize = 8;

/// The error of timestamps that a program takes before it sends. Whether the clock is
/// synchronised is unknown.
const ERROR: Span = Span::from_micros(100);

/// The format of test packets.
struct TestPacket {
    version: IpVersion,
    /// The destination port.
    port: u16,
    /// Of the next packet.
    sequence: u32,
}

/// Opens a socket for test packets.
///
/// # Errors
/// The kernel's.
pub(super) fn open(ends: Ends, here: IpAddr) -> Result<ProbeSocket> {
    let to = ends.to;
    let socket = socket::open(Kind::Datagram, &ends)?;
    begin_to_connect(&socket, to).during(|| format!("connecting to {to}"))?;
    let packet = TestPacket {
        version: version(to.ip()),
        port: to.port(),
        sequence: 0,
    };
    Ok(ProbeSocket::new(socket, ends, here, Box::new(packet)))
}

impl Format for TestPacket {
    fn write(
        &mut self,
        id: u64,
        size: Bytes,
        reply: ReplySize,
        bytes: &mut Vec<u8>,
    ) -> Result<u32> {
        let short_reply = reply == ReplySize::Small;
        let least = stamp::Probe::shortest(short_reply);
        bytes.clear();
        bytes.resize(data_len(size, self.version, HEADER_LEN).max(least), 0);
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        let packet = SenderPacket {
            sequence,
            sent: Timestamp::ntp(Epoch::now().unix_nanos()),
            error: ErrorEstimate::new(ERROR, false),
            session: 0,
        };
        let probe = stamp::Probe {
            packet,
            id,
            short_reply,
        };
        probe
            .emit(bytes)
            .map_err(|error| Error::new("writing a test packet", error.to_string()))?;
        Ok(sequence)
    }

    fn transport(&mut self, _id: u64, port: u16) -> Transport {
        Transport::Udp {
            ports: [port, self.port],
        }
    }

    fn data(&mut self, id: u64, size: Bytes, reply: ReplySize) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.write(id, size, reply, &mut bytes)?;
        Ok(bytes)
    }

    fn read(&mut self, bytes: &[u8], latest: &Latest) -> Option<Reply> {
        let reflected = stamp::Reflected::parse(bytes).ok()?;
        let id = latest.by_id(reflected.id?)?.id;
        let packet = reflected.packet;
        Some(Reply {
            id,
            size: self.version.header() + Bytes::new((HEADER_LEN + bytes.len()) as u64),
            mss: None,
            reflected: Some(Reflected {
                sequence: packet.sequence,
                sent: packet.request.sequence,
                hop_limit: packet.hop_limit,
                stateful: reflected.stateful,
                piece: reflected.piece.map(|piece| Bytes::new(piece.into())),
            }),
        })
    }

    fn quoted(&self, bytes: &[u8], latest: &Latest) -> Option<Quoted> {
        let is_cut = bytes.len() < stamp::Probe::shortest(false);
        latest.quoted(stamp::Probe::id_of(bytes), is_cut)
    }

    fn before_quote(&self) -> Bytes {
        self.version.header() * 2 + Bytes::new(2 * HEADER_LEN as u64)
    }
}
