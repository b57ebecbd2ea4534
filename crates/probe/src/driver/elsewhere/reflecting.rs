//! A socket that sends replies whole, on systems that do not tell to which of their addresses a
//! packet went: it has one address, from which its replies leave.

use std::net::SocketAddr;

use meter::departures::PathMtu;
use units::Bytes;

use os::deadline::Permit;
use os::error::{Error, Result};
use os::socket::{
    self, Errno, Kind, MsgFlags, Options, SocketRef, address_of, borrowed, open, receive_from,
    send_to,
};

/// Room for a burst of large packets.
const RECEIVE_BUFFER: Bytes = Bytes::new(4 << 20);

/// A socket of a reflector.
#[derive(Debug)]
pub(super) struct Socket {
    socket: socket::Socket,
    pub(super) address: SocketAddr,
}

/// The outcome of a read.
#[derive(Debug)]
pub(super) enum Received {
    Nothing,
    /// A packet that gets no reply.
    Other,
    Packet(Packet),
}

/// A packet, without its bytes.
#[derive(Debug)]
pub(super) struct Packet {
    pub(super) from: SocketAddr,
    pub(super) length: usize,
    /// The system's timestamp: there is none.
    pub(super) unix_nanos: Option<u64>,
    /// Its TTL or hop limit: 0, which is unknown.
    pub(super) hop_limit: u8,
    /// The largest piece in which it arrived: unknown.
    pub(super) piece: Option<Bytes>,
}

impl Packet {
    /// Index of the interface on which it arrived: unknown.
    pub(super) const fn interface(&self) -> u32 {
        0
    }
}

impl Socket {
    /// Opens a socket at `address`.
    ///
    /// # Errors
    /// It is no address of one host, or the system's.
    pub(super) fn open(address: SocketAddr) -> Result<Self> {
        if address.ip().is_unspecified() {
            return Err(Error::new(
                format!("reflecting on {}", address.ip()),
                "at all addresses it needs Linux; write one of this host after --listen",
            ));
        }
        let options = |path_mtu| Options {
            bind: Some(address),
            path_mtu,
            receive_buffer: Some(RECEIVE_BUFFER),
            v6_only: true,
            non_blocking: true,
            ..Options::default()
        };
        let opened = |path_mtu| open(Kind::Datagram, address.ip(), &options(path_mtu));
        // As large as the interface allows, where the system can ignore what it knows.
        let socket = opened(PathMtu::Probe).or_else(|_| opened(PathMtu::Do))?;
        let address = address_of(&socket)?;
        Ok(Self { socket, address })
    }

    /// What to wait for.
    pub(super) fn handle(&self) -> SocketRef<'_> {
        borrowed(&self.socket)
    }

    /// Reads the next packet, if one waits.
    ///
    /// # Errors
    /// None on these systems: what is no packet may be an error about an earlier reply.
    pub(super) fn receive(&self, room: &mut [u8], permit: Permit) -> Result<Received> {
        Ok(
            match receive_from(&self.socket, room, MsgFlags::MSG_DONTWAIT, permit) {
                Ok((length, Some(from))) if from.port() > 0 => Received::Packet(Packet {
                    from,
                    length,
                    unix_nanos: None,
                    hop_limit: 0,
                    piece: None,
                }),
                Err(Errno::EAGAIN | Errno::EINTR) => Received::Nothing,
                Ok(_) | Err(_) => Received::Other,
            },
        )
    }

    /// Sends a reply to a packet.
    ///
    /// # Errors
    /// The system's.
    pub(super) fn send(
        &self,
        bytes: &[u8],
        to: &Packet,
        _: bool,
    ) -> std::result::Result<(), Errno> {
        send_to(&self.socket, bytes, to.from).map(drop)
    }
}
