//! Echo requests, from a socket that the kernel gives to ordinary users, or a raw one.

use std::net::{IpAddr, SocketAddr};

use nix::sys::socket::{SockProtocol, SockType};
use proto::probe::ReplySize;
use units::{Bytes, IpVersion};
use wire::probe::Transport;
use wire::protocol::icmp::{EchoHeader, HEADER_LEN};
use wire::protocol::ipv4;

use super::error::version;
use super::line::{Format, Line, Reply, data_len, identifier};
use super::sent::{Latest, Quoted};
use super::socket::{self, Ends};
use crate::error::{During, Error, Result};

/// The format of echo requests.
struct Echo {
    version: IpVersion,
    /// Whether the socket delivers the IPv4 header, and the echoes of others.
    raw: bool,
    identifier: u16,
    sequence: u16,
}

/// Whether this process may send echo requests to `to`.
pub(super) fn is_allowed(to: SocketAddr) -> bool {
    open(to).is_some()
}

/// A socket for echoes, and whether it is raw.
fn open(to: SocketAddr) -> Option<(std::os::fd::OwnedFd, bool)> {
    let protocol = match to {
        SocketAddr::V4(_) => SockProtocol::Icmp,
        SocketAddr::V6(_) => SockProtocol::IcmpV6,
    };
    let attempt = |kind| socket::open(to, kind, Some(protocol)).ok();
    let datagrams = attempt(SockType::Datagram).map(|socket| (socket, false));
    datagrams.or_else(|| attempt(SockType::Raw).map(|socket| (socket, true)))
}

/// The remedy where echo requests are not allowed.
pub(super) const REMEDY: &str = "this user may not send echo requests; type: sudo sysctl net.ipv4.ping_group_range='0 2147483647'";

/// Opens a line for echo requests. `number` identifies those of a raw socket.
///
/// # Errors
/// The kernel's.
pub(super) fn line(ends: Ends, here: IpAddr, number: u16) -> Result<Line> {
    let to = ends.to;
    let (socket, raw) =
        open(to).ok_or_else(|| Error::new("opening a socket for echoes", REMEDY))?;
    socket::prepare(&socket, &ends)?;
    socket::join(&socket, to).during(|| format!("connecting to {}", to.ip()))?;
    let echo = Echo {
        version: version(to.ip()),
        raw,
        identifier: number,
        sequence: 0,
    };
    Ok(Line::new(socket, ends, here, Box::new(echo)))
}

impl Format for Echo {
    fn write(&mut self, id: u64, size: Bytes, _: ReplySize, octets: &mut Vec<u8>) -> Result<u32> {
        let length = HEADER_LEN + data_len(size, self.version, HEADER_LEN);
        octets.clear();
        octets.resize(length, 0);
        octets[HEADER_LEN..][..8].copy_from_slice(&id.to_be_bytes());
        self.sequence = self.sequence.wrapping_add(1);
        let header = EchoHeader {
            reply: false,
            identifier: self.identifier,
            sequence: self.sequence,
        };
        header
            .emit(octets, self.version)
            .map_err(|error| Error::new("writing an echo request", error.to_string()))?;
        Ok(self.sequence.into())
    }

    fn transport(&mut self, _id: u64, port: u16) -> Transport {
        self.sequence = self.sequence.wrapping_add(1);
        Transport::Echo(wire::probe::Echo {
            reply: false,
            // That of a socket that is not raw is the kernel's, which has the place of a
            // port.
            identifier: if self.raw { self.identifier } else { port },
            sequence: self.sequence,
        })
    }

    fn read(&mut self, octets: &[u8], latest: &Latest) -> Option<Reply> {
        let header = match (self.raw, self.version) {
            (true, IpVersion::V4) => ipv4::Header::of(octets).header_len().ok()?,
            _ => 0,
        };
        let message = octets.get(header..)?;
        let echo = EchoHeader::parse(message, self.version).ok()?;
        let is_ours = echo.reply && (!self.raw || echo.identifier == self.identifier);
        let id = identifier(message.get(HEADER_LEN..)?).filter(|_| is_ours)?;
        latest.by_id(id)?;
        let ip = match header {
            0 => self.version.header(),
            header => Bytes::new(header as u64),
        };
        Some(Reply {
            id,
            size: ip + Bytes::new(message.len() as u64),
            mss: None,
            reflected: None,
        })
    }

    fn quoted(&self, octets: &[u8], latest: &Latest) -> Option<Quoted> {
        let echo = EchoHeader::parse(octets, self.version).ok()?;
        let is_ours = !echo.reply && (!self.raw || echo.identifier == self.identifier);
        let data = octets.get(HEADER_LEN..).filter(|_| is_ours)?;
        let id = identifier(data);
        let quoted = latest.quoted(id, id.is_none())?;
        // A quote without the identifier has the sequence number.
        let sequence = u32::from(echo.sequence);
        match quoted.is_proven {
            true => Some(quoted),
            false => latest
                .latest(|sent| sent.number == sequence)
                .map(|sent| Quoted { sent, ..quoted }),
        }
    }

    fn before_quote(&self) -> Bytes {
        self.version.header() * 2 + Bytes::new(HEADER_LEN as u64)
    }
}
