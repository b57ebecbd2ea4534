//! Capture files of arriving packets.

use std::fs::File;
use std::io::Write;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use wire::pcapng::{Block, LinkType};

use super::jumbo_path::JumboPath;
use crate::capture::heard_at;
use crate::clock::Epoch;
use crate::error::{During, Result};

/// Octets kept of each frame. For a jumbogram these are all headers; capture readers
/// refuse frames above 256 KiB.
const SNAP: u32 = 256;

/// A capture file and the socket that feeds it.
pub(super) struct Capture {
    socket: OwnedFd,
    file: File,
    epoch: Epoch,
}

impl Capture {
    /// Starts a new file of the packets that arrive at the end of `jumbo_path`.
    ///
    /// # Errors
    /// If the file exists or cannot be written, or the kernel refuses the socket.
    pub(super) fn begin(jumbo_path: &JumboPath, path: &Path) -> Result<Self> {
        let file = files::create_new(path)
            .during(|| format!("--capture {}: a new file is written", path.display()))?;
        let (namespace, interface) = jumbo_path.arrival();
        let socket = heard_at(namespace, interface)?;
        let mut capture = Self {
            socket,
            file,
            epoch: Epoch::now(),
        };
        capture.write(&Block::Section)?;
        capture.write(&Block::Interface {
            kind: LinkType::Ethernet,
            name: interface,
            most: SNAP,
        })?;
        Ok(capture)
    }

    /// Writes the packets that have arrived since the last call.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub(super) fn drain(&mut self) -> Result<()> {
        let mut head = [0; SNAP as usize];
        loop {
            // With MSG_TRUNC the result is the frame's length, not that of the captured
            // part.
            #[expect(clippy::disallowed_methods, reason = "the interface is this program's")]
            let length = match recv(self.socket.as_raw_fd(), &mut head, MsgFlags::MSG_TRUNC) {
                Ok(length) => length,
                Err(Errno::EAGAIN) => return Ok(()),
                Err(error) => return Err(error).during(|| "reading captured frames"),
            };
            self.write(&Block::Packet {
                interface: 0,
                nanos: self.epoch.unix_nanos_at(self.epoch.elapsed()),
                octets: &head[..length.min(head.len())],
                length: u32::try_from(length).unwrap_or(u32::MAX),
            })?;
        }
    }

    fn write(&mut self, block: &Block<'_>) -> Result<()> {
        let mut octets = vec![0; block.buffer_len()];
        block
            .emit(&mut octets)
            .map_err(std::io::Error::other)
            .and_then(|()| self.file.write_all(&octets))
            .during(|| "writing the capture")
    }
}
