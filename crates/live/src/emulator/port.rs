//! An interface between whose wire and itself the emulator stands.

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::net::if_::if_indextoname;
use nix::sys::socket::{
    AddressFamily, SockFlag, SockProtocol, SockType, bind, setsockopt, socket, sockopt,
};
use units::Time;

use super::frame::{Frame, Pool};
use crate::capture::address;
use crate::clock::Epoch;
use crate::error::{During, Error, Result};
use crate::sys::packet::{self, BATCH, Received};

/// What may wait in the socket while the emulator is busy.
const RECEIVE_BUFFER: usize = 16 << 20;

/// Octets of the largest frame: MTUs may grow while frames are carried, so
/// that the present one says nothing.
const LARGEST_FRAME: usize = 65_600;

/// No GSO in a virtio header [Virtio s5.1.6].
const GSO_NONE: u8 = 0;
/// Where a virtio header says which GSO there is.
const GSO_TYPE: usize = 1;

/// What a port could not pass on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Refused {
    /// Frames that found no room in the socket: the emulator was too slow.
    pub overrun: u64,
    /// Super-packets, which no wire carries: switch segmentation offload off.
    pub super_packets: u64,
    /// Frames that the interface did not take.
    pub unsent: u64,
    /// Frames that came without the kernel's stamp.
    pub unstamped: u64,
}

impl Refused {
    /// What was refused since `earlier`.
    pub(super) const fn since(self, earlier: Self) -> Self {
        Self {
            overrun: self.overrun - earlier.overrun,
            super_packets: self.super_packets - earlier.super_packets,
            unsent: self.unsent - earlier.unsent,
            unstamped: self.unstamped - earlier.unstamped,
        }
    }
}

/// A raw packet socket on one interface.
pub(super) struct Port {
    name: String,
    index: u32,
    socket: OwnedFd,
    received: Received,
    pub(super) refused: Refused,
}

impl Port {
    /// Opens the interface called `name` in the calling process's namespace;
    /// `largest` is its MTU.
    pub(super) fn open(name: &str, index: u32) -> Result<Self> {
        let operation = || format!("opening {name} for emulation");
        let flags = SockFlag::SOCK_CLOEXEC | SockFlag::SOCK_NONBLOCK;
        // Bound to every protocol only once all options are set.
        let socket = socket(
            AddressFamily::Packet,
            SockType::Raw,
            flags,
            None::<SockProtocol>,
        )
        .during(operation)?;
        let fd = socket.as_fd();
        packet::switch_on(fd, libc::PACKET_VNET_HDR).during(operation)?;
        packet::switch_on(fd, libc::PACKET_IGNORE_OUTGOING).during(operation)?;
        packet::switch_on(fd, libc::PACKET_QDISC_BYPASS).during(operation)?;
        packet::hear_all(fd, index).during(operation)?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true).during(operation)?;
        // Without privilege the kernel gives less; what it drops is counted.
        if setsockopt(&socket, sockopt::RcvBufForce, &RECEIVE_BUFFER).is_err() {
            setsockopt(&socket, sockopt::RcvBuf, &RECEIVE_BUFFER).during(operation)?;
        }
        bind(socket.as_raw_fd(), &address(index)).during(operation)?;
        Ok(Self {
            name: name.to_owned(),
            index,
            socket,
            received: Received::new(LARGEST_FRAME),
            refused: Refused::default(),
        })
    }

    pub(super) fn fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Takes what has arrived, at most one batch; each frame goes to `take`
    /// with the instant at which the kernel got it. Returns whether there may
    /// be more.
    pub(super) fn receive(
        &mut self,
        epoch: Epoch,
        pool: &mut Pool,
        mut take: impl FnMut(Time, Frame, &mut Pool),
    ) -> Result<bool> {
        let count = match self.received.receive(self.socket.as_fd()) {
            Ok(count) => count,
            Err(error) => match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
                // An interface that is down says so once and is silent until
                // it is up again.
                Errno::EAGAIN | Errno::EINTR | Errno::ENETDOWN => return Ok(false),
                Errno::ENXIO | Errno::ENODEV => return Err(self.gone()),
                _ => return Err(error).during(|| format!("receiving on {}", self.name)),
            },
        };
        for position in 0..count {
            let (header, frame, length, stamp) = self.received.frame(position);
            if header[GSO_TYPE] != GSO_NONE || length > frame.len() {
                self.refused.super_packets += 1;
                continue;
            }
            let at = stamp.map(|stamp| epoch.time_of_stamp(stamp));
            self.refused.unstamped += u64::from(at.is_none());
            let kept = pool.keep(header, frame, wire::frame::flow(frame));
            take(at.unwrap_or_else(|| epoch.elapsed()), kept, pool);
        }
        Ok(count == BATCH)
    }

    /// Sends `frames` as far as the interface takes them.
    pub(super) fn send(&mut self, frames: &[Frame]) -> Result<()> {
        let mut rest = frames;
        while !rest.is_empty() {
            match packet::send(self.socket.as_fd(), rest.iter().map(Frame::octets)) {
                Ok(count) => rest = &rest[count..],
                Err(error) => match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
                    Errno::EINTR => {}
                    Errno::ENXIO | Errno::ENODEV => return Err(self.gone()),
                    // Down, too long for an MTU that was changed, or without
                    // room: this one is lost, the next may pass.
                    _ => {
                        self.refused.unsent += 1;
                        rest = &rest[1..];
                    }
                },
            }
        }
        Ok(())
    }

    /// Counts what the kernel dropped before it was received.
    pub(super) fn count_overrun(&mut self) -> Result<()> {
        let dropped = packet::dropped(self.socket.as_fd());
        self.refused.overrun +=
            dropped.during(|| format!("asking {} what it dropped", self.name))?;
        Ok(())
    }

    /// Looks whether there is still an interface: an idle socket does not tell.
    pub(super) fn check_there(&self) -> Result<()> {
        if_indextoname(self.index)
            .map(drop)
            .map_err(|_| self.gone())
    }

    fn gone(&self) -> Error {
        Error::new(
            format!("emulating on {}", self.name),
            "the interface is gone",
        )
    }
}
