//! Capture files of arriving packets.

use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use wire::pcapng::LinkType;

use super::jumbo_path::JumboPath;
use os::capture::heard_at;
use os::capture_file::CaptureFile;
use os::clock::Epoch;
use os::error::{OperationContext, Result};

/// Bytes kept of each frame. For a jumbogram these are all headers; capture readers
/// reject frames above 256 KiB.
const SNAP: u32 = 256;

/// A capture file and the socket that feeds it.
pub(super) struct Capture {
    socket: OwnedFd,
    file: CaptureFile,
    epoch: Epoch,
}

impl Capture {
    /// Starts a new file of the packets that arrive at the end of `jumbo_path`.
    ///
    /// # Errors
    /// If the file exists or cannot be written, or the kernel rejects the socket.
    pub(super) fn begin(jumbo_path: &JumboPath, path: &Path) -> Result<Self> {
        let (namespace, interface) = jumbo_path.arrival();
        Ok(Self {
            file: CaptureFile::create(path, interface, LinkType::Ethernet, SNAP)?,
            socket: heard_at(namespace, interface)?,
            epoch: Epoch::now(),
        })
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
            let nanos = self.epoch.unix_nanos_at(self.epoch.elapsed());
            let kept = &head[..length.min(head.len())];
            self.file.packet(nanos, kept, length)?;
        }
    }
}
