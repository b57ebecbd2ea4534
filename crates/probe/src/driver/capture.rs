//! A capture file of the packets of an investigation.

use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use units::{Bytes, IpVersion, Time};
use wire::ip_packet::IpPacket;
use wire::pcapng::LinkType;
use wire::probe::Content;

use super::outgoing::Outgoing;
use super::receive::{Queue, Room};
use os::capture_file::CaptureFile;
use os::clock::{self, Epoch};
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::kernel_clock::Mapping;
use os::socket::{set_receive_buffer, stamp_arrivals};
use os::sys::packet;

/// Bytes kept of each packet: all headers, and the start of what an error quotes.
const SNAP: usize = 256;

/// Room for packets between two looks, in bytes of kernel memory.
const RECEIVE_BUFFER: Bytes = Bytes::new(8 << 20);

/// A capture file and the socket that feeds it.
pub(super) struct Capture {
    socket: OwnedFd,
    file: CaptureFile,
    far_end: IpAddr,
    /// The same time on both clocks.
    epoch: Epoch,
    begun: Time,
}

impl Capture {
    /// Starts a new file of the packets from and to `far_end`, and of errors about them,
    /// on the interface.
    ///
    /// # Errors
    /// The user may not capture, or the file exists or cannot be written.
    pub(super) fn begin(path: &Path, outgoing: &Outgoing, far_end: IpAddr) -> Result<Self> {
        let operation = || format!("--capture {}", path.display());
        // Without the header of the link, so that every kind of link will do.
        let socket = packet::open(libc::SOCK_DGRAM).map_err(|_| {
            Error::new(
                operation(),
                "capturing needs root (CAP_NET_RAW); use `sudo`",
            )
        })?;
        set_receive_buffer(socket.as_fd(), RECEIVE_BUFFER)?;
        stamp_arrivals(socket.as_fd())?;
        packet::bind(socket.as_fd(), outgoing.index, libc::ETH_P_ALL).during(operation)?;
        let most = u32::try_from(SNAP).unwrap_or(u32::MAX);
        Ok(Self {
            file: CaptureFile::create(path, &outgoing.interface, LinkType::RawIp, most)?,
            socket,
            far_end,
            epoch: Epoch::now(),
            begun: clock::monotonic(),
        })
    }

    /// Writes the packets that have crossed the interface since the last call.
    ///
    /// # Errors
    /// The file cannot be written.
    pub(super) fn drain(
        &mut self,
        room: &mut Room,
        mapping: &Mapping,
        deadline: &Deadline,
    ) -> Result<()> {
        while let Ok(permit) = deadline.permit() {
            let Some(packet) = room.read(&self.socket, Queue::Replies, mapping, permit)? else {
                break;
            };
            if !self.is_ours(packet.bytes) {
                continue;
            }
            let since = packet.at.since(self.begun).unwrap_or_default();
            let bytes = &packet.bytes[..packet.bytes.len().min(SNAP)];
            let nanos = self.epoch.unix_nanos() + since.as_nanos();
            self.file.packet(nanos, bytes, packet.bytes.len())?;
        }
        Ok(())
    }

    /// Whether a packet goes to or comes from the far end, or is about such a packet.
    fn is_ours(&self, bytes: &[u8]) -> bool {
        let Ok(packet) = IpPacket::parse(bytes) else {
            return false;
        };
        let is_of_far_end = |packet: &IpPacket<'_>| packet.addresses.ends().contains(&self.far_end);
        let version = match self.far_end {
            IpAddr::V4(_) => IpVersion::V4,
            IpAddr::V6(_) => IpVersion::V6,
        };
        is_of_far_end(&packet)
            || matches!(
                Content::of_icmp(packet.payload, version),
                Ok(Content::Error { quote, .. }) if is_of_far_end(&quote.packet)
            )
    }
}
