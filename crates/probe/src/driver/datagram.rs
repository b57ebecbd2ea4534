//! Datagrams, to a port that should be closed.

use std::net::IpAddr;

use crate::machine::ReplySize;
use units::{Bytes, IpVersion};
use wire::probe::Transport;

use super::error::version;
use super::format::{Format, Reply, data_len, identifier};
use super::probe_socket::ProbeSocket;
use super::sent::{Latest, Quoted};
use super::socket::{self, Ends};
use os::error::{OperationContext, Result};
use os::socket::{Kind, begin_to_connect};

/// Bytes of UDP's header [RFC768].
const HEADER_LEN: usize = 8;

/// The format of datagrams.
struct Datagram {
    version: IpVersion,
    /// The destination port.
    port: u16,
}

/// Opens a socket for datagrams.
///
/// # Errors
/// The kernel's.
pub(super) fn open(ends: Ends, here: IpAddr) -> Result<ProbeSocket> {
    let to = ends.to;
    let socket = socket::open(Kind::Datagram, &ends)?;
    begin_to_connect(&socket, to).during(|| format!("connecting to {to}"))?;
    let datagram = Datagram {
        version: version(to.ip()),
        port: to.port(),
    };
    Ok(ProbeSocket::new(socket, ends, here, Box::new(datagram)))
}

impl Format for Datagram {
    fn write(&mut self, id: u64, size: Bytes, _: ReplySize, bytes: &mut Vec<u8>) -> Result<u32> {
        bytes.clear();
        bytes.resize(data_len(size, self.version, HEADER_LEN), 0);
        bytes[..8].copy_from_slice(&id.to_be_bytes());
        Ok(0)
    }

    fn transport(&mut self, _id: u64, port: u16) -> Transport {
        Transport::Udp {
            ports: [port, self.port],
        }
    }

    fn read(&mut self, bytes: &[u8], latest: &Latest) -> Option<Reply> {
        // An echo service repeats the datagram [RFC862].
        let id = identifier(bytes)?;
        latest.by_id(id)?;
        Some(Reply {
            id,
            size: self.version.header() + Bytes::new((HEADER_LEN + bytes.len()) as u64),
            mss: None,
            reflected: None,
        })
    }

    fn quoted(&self, bytes: &[u8], latest: &Latest) -> Option<Quoted> {
        let id = identifier(bytes);
        latest.quoted(id, id.is_none())
    }

    fn before_quote(&self) -> Bytes {
        self.version.header() * 2 + Bytes::new(2 * HEADER_LEN as u64)
    }
}
