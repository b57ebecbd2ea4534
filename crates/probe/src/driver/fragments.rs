//! Packets in fragments of a chosen size, from a raw socket.

use std::io::ErrorKind;
use std::net::SocketAddr;
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockaddrStorage, sendto};
use wire::probe::{Fragments, ProbePacket};

use super::socket::{self, Ends};
use os::error::{Error, OperationContext, Result};
use os::socket::Kind;

/// A raw socket that sends packets with the header of IP in front.
pub(super) struct Fragmenter {
    socket: OwnedFd,
    to: SocketAddr,
    whole: Vec<u8>,
    fragment: Vec<u8>,
}

impl Fragmenter {
    /// Opens the socket; `None` without the permission.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn open(ends: &Ends) -> Result<Option<Self>> {
        // A raw socket of this protocol takes the header of IP [raw(7)].
        let socket = match socket::open(Kind::Raw(libc::IPPROTO_RAW), ends) {
            Ok(socket) => socket,
            Err(error) if error.source.kind() == ErrorKind::PermissionDenied => return Ok(None),
            Err(error) => return Err(error),
        };
        let mut to = ends.to;
        to.set_port(0);
        Ok(Some(Self {
            socket,
            to,
            whole: Vec::new(),
            fragment: Vec::new(),
        }))
    }

    /// Sends a packet in fragments of at most `size` bytes. Those that the kernel
    /// rejects are lost.
    ///
    /// # Errors
    /// The packet cannot be written, or the kernel's.
    pub(super) fn send(
        &mut self,
        packet: &ProbePacket<'_>,
        size: usize,
        identification: u32,
    ) -> Result<()> {
        let unwritten = |error: wire::Error| Error::new("writing fragments", error.to_string());
        self.whole.clear();
        self.whole.resize(packet.buffer_len(), 0);
        packet.emit(&mut self.whole).map_err(unwritten)?;
        let to = SockaddrStorage::from(self.to);
        for fragment in Fragments::of(&self.whole, size, identification).map_err(unwritten)? {
            self.fragment.clear();
            self.fragment.resize(fragment.buffer_len(), 0);
            fragment.emit(&mut self.fragment).map_err(unwritten)?;
            let flags = MsgFlags::MSG_NOSIGNAL;
            match sendto(self.socket.as_raw_fd(), &self.fragment, &to, flags) {
                Ok(_) | Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::EMSGSIZE | Errno::EPERM) => {}
                Err(error) if super::receive::is_pending(error) => {}
                Err(error) => return Err(error).during(|| "sending fragments"),
            }
        }
        Ok(())
    }
}
