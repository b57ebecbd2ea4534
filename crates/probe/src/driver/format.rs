//! The formats of the packets of each protocol.

use std::net::IpAddr;

use crate::machine::{Answer, ReplySize};
use link::Protocol;
use units::{Bytes, IpVersion, Time};
use wire::probe::Transport;

use super::sent::{Latest, Quoted};
use os::error::Result;

/// The key that distinguishes the sockets of an investigation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Key {
    pub(super) protocol: Protocol,
    pub(super) to: IpAddr,
    pub(super) flow: u16,
}

/// The format of a protocol's packets.
pub(super) trait Format {
    /// Writes what a socket sends for a probe of a packet of `size` to `bytes`. Returns
    /// the number that the header of the transport repeats.
    fn write(&mut self, id: u64, size: Bytes, reply: ReplySize, bytes: &mut Vec<u8>)
    -> Result<u32>;

    /// The header of a probe that another socket sends, from this local port; this
    /// socket gets the answer.
    fn transport(&mut self, id: u64, port: u16) -> Transport;

    /// The data behind that header; zeros follow up to the size of the packet.
    ///
    /// # Errors
    /// As [`Self::write`].
    fn data(&mut self, id: u64, _size: Bytes, _reply: ReplySize) -> Result<Vec<u8>> {
        Ok(id.to_be_bytes().to_vec())
    }

    /// A message for the socket to send before the next probe, with the default hop limit: it
    /// ends what earlier probes may have left open at the far end.
    ///
    /// # Errors
    /// As [`Self::write`].
    fn ending(&self) -> Result<Option<Vec<u8>>> {
        Ok(None)
    }

    /// Reads a reply: `bytes` as the socket delivered them.
    fn read(&mut self, bytes: &[u8], latest: &Latest) -> Option<Reply>;

    /// The probe that an error quotes, if the quote tells.
    fn quoted(&self, bytes: &[u8], latest: &Latest) -> Option<Quoted>;

    /// Bytes of the headers in front of those that an error quotes to this socket: of
    /// the message and of the packet in it.
    fn before_quote(&self) -> Bytes;
}

/// A reply that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) id: u64,
    /// The size of the whole packet.
    pub(super) size: Bytes,
    /// The MSS option of a SYN/ACK.
    pub(super) mss: Option<u16>,
    /// The fields of a reflector's reply.
    pub(super) reflected: Option<crate::machine::Reflected>,
}

/// An answer, and when it arrived.
pub(super) type Arrived = (Time, Answer);

/// The identifier at the start of the data of a packet.
pub(super) fn identifier(data: &[u8]) -> Option<u64> {
    data.first_chunk().copied().map(u64::from_be_bytes)
}

/// Bytes of the data of a packet of `size` behind headers, at least those of the
/// identifier.
pub(super) fn data_len(size: Bytes, version: IpVersion, header: usize) -> usize {
    let headers = version.header() + Bytes::new(header as u64);
    let data = size.get().saturating_sub(headers.get());
    usize::try_from(data).unwrap_or(0).max(wire::probe::ID_LEN)
}
