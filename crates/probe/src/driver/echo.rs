//! Echo requests, from a socket that the kernel gives to ordinary users, or a raw one.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::os::fd::OwnedFd;

use crate::machine::ReplySize;
use units::{Bytes, IpVersion};
use wire::probe::Transport;
use wire::protocol::icmp::{EchoHeader, HEADER_LEN};
use wire::protocol::ipv4;

use super::error::version;
use super::format::{Format, Reply, data_len, identifier};
use super::probe_socket::ProbeSocket;
use super::sent::{Latest, Quoted};
use super::socket::{Ends, state_fragments, zoned};
use os::error::{Error, OperationContext, Result};
use os::socket::{Options, begin_to_connect, bind_to, open_for_echoes};

/// The format of echo requests.
struct Echo {
    version: IpVersion,
    /// Whether the socket delivers the IPv4 header, and the echoes of others.
    raw: bool,
    /// Of a raw socket.
    identifier: u16,
    /// Whether the kernel compares a random identifier in errors with that of the socket, or
    /// this program does.
    is_random: bool,
}

/// Whether this process may send echo requests to `to`.
pub(super) fn is_allowed(to: SocketAddr) -> bool {
    open_for_echoes(to.ip(), &Options::default()).is_ok()
}

/// Opens a socket for echo requests with the identifier `number`, which is random: with the
/// sequence number, which is random too, nobody off the path can guess the eight bytes that
/// old routers quote [RFC792].
///
/// # Errors
/// The kernel's.
pub(super) fn open(ends: Ends, here: IpAddr, number: u16) -> Result<ProbeSocket> {
    let to = ends.to;
    let options = Options {
        bind: None,
        ..ends.options()
    };
    let (socket, raw) = open_for_echoes(to.ip(), &options)?;
    let _ = state_fragments(&socket, to.ip());
    let is_random = raw || bind_identifier(&socket, &ends, number)?;
    begin_to_connect(&socket, to).during(|| format!("connecting to {}", to.ip()))?;
    let echo = Echo {
        version: version(to.ip()),
        raw,
        identifier: number,
        is_random,
    };
    Ok(ProbeSocket::new(socket, ends, here, Box::new(echo)))
}

/// Binds a socket of the kernel for echoes to an address of this host and an identifier, or
/// to one of the kernel's choice if that one is in use. Returns whether it has this one.
fn bind_identifier(descriptor: &OwnedFd, ends: &Ends, number: u16) -> Result<bool> {
    let from = ends.from;
    let any = match ends.to {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let address = SocketAddr::new(from.unwrap_or(any), number);
    let mut address = zoned(address, ends.zone);
    if number != 0 && bind_to(descriptor, address).is_ok() {
        return Ok(true);
    }
    if from.is_some() {
        address.set_port(0);
        bind_to(descriptor, address)?;
    }
    Ok(false)
}

/// The sequence number of an echo request: a part of the probe's secret identifier.
fn sequence(id: u64) -> u16 {
    u16::try_from(id & u64::from(u16::MAX)).unwrap_or(0)
}

impl Format for Echo {
    fn write(&mut self, id: u64, size: Bytes, _: ReplySize, bytes: &mut Vec<u8>) -> Result<u32> {
        let length = HEADER_LEN + data_len(size, self.version, HEADER_LEN);
        bytes.clear();
        bytes.resize(length, 0);
        bytes[HEADER_LEN..][..8].copy_from_slice(&id.to_be_bytes());
        let sequence = sequence(id);
        let header = EchoHeader {
            reply: false,
            identifier: self.identifier,
            sequence,
        };
        header
            .emit(bytes, self.version)
            .map_err(|error| Error::new("writing an echo request", error.to_string()))?;
        Ok(sequence.into())
    }

    fn transport(&mut self, id: u64, port: u16) -> Transport {
        Transport::Echo(wire::probe::Echo {
            reply: false,
            // That of a socket that is not raw is the kernel's, which has the place of a
            // port.
            identifier: if self.raw { self.identifier } else { port },
            sequence: sequence(id),
        })
    }

    fn read(&mut self, bytes: &[u8], latest: &Latest) -> Option<Reply> {
        let header = match (self.raw, self.version) {
            (true, IpVersion::V4) => ipv4::Header::of(bytes).header_len().ok()?,
            _ => 0,
        };
        let message = bytes.get(header..)?;
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

    fn quoted(&self, bytes: &[u8], latest: &Latest) -> Option<Quoted> {
        let echo = EchoHeader::parse(bytes, self.version).ok()?;
        let is_ours = !echo.reply && (!self.raw || echo.identifier == self.identifier);
        let data = bytes.get(HEADER_LEN..).filter(|_| is_ours)?;
        if let Some(id) = identifier(data) {
            return latest.quoted(Some(id), false);
        }
        // An old router quotes the header alone, with both numbers.
        let sent = latest.latest(|sent| sent.number == u32::from(echo.sequence))?;
        Some(Quoted {
            sent,
            is_proven: self.is_random,
        })
    }

    fn before_quote(&self) -> Bytes {
        self.version.header() * 2 + Bytes::new(HEADER_LEN as u64)
    }
}
