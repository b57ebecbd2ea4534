//! A network interface as a port for whole frames: a raw packet socket, which needs no
//! privilege beyond CAP_NET_RAW.
//!
//! This example forwards the frames that arrive at one interface through another:
//!
//! ```no_run
//! use jumbolab_os::clock;
//! use jumbolab_os::frames::Pool;
//! use jumbolab_os::kernel_clock::Mapping;
//! use jumbolab_os::pacing::{Poller, Round, Stop};
//! use jumbolab_os::port::{Port, Purpose};
//!
//! # fn main() -> jumbolab_os::Result<()> {
//! const PURPOSE: Purpose = Purpose {
//!     noun: "a bridge",
//!     verb: "bridging",
//! };
//! let mut near = Port::open("eth0", PURPOSE)?;
//! let mut far = Port::open("eth1", PURPOSE)?;
//! let (pool, mut mapping) = (Pool::default(), Mapping::now());
//! let mut poller = Poller::new()?;
//! let mut frames = Vec::new();
//! loop {
//!     let now = clock::monotonic();
//!     let more = near.has_frame();
//!     if more {
//!         mapping.renew();
//!     }
//!     near.receive(&mapping, now, &pool, |_at, frame| frames.push(frame));
//!     far.send(&frames)?;
//!     frames.clear();
//!     let round = Round {
//!         now,
//!         more,
//!         next: None,
//!         longest: None,
//!     };
//!     if poller.wait([&near, &far], Stop::default(), round)? {
//!         return Ok(());
//!     }
//! }
//! # }
//! ```

use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use nix::errno::Errno;
use nix::net::if_::if_indextoname;
use nix::sys::socket::{MsgFlags, recv, setsockopt, sockopt};
use units::{Bytes, Time};
use wire::protocol::ethernet;

use crate::error::{Error, OperationContext, Result};
use crate::frames::{Frame, Pool};
use crate::kernel_clock::Mapping;
use crate::netlink::Route;
use crate::offload::{Cutter, LARGEST_SUPER};
use crate::pacing::Source;
use crate::socket::{set_receive_buffer, take_error};
use crate::sys::packet::{self, BATCH, HEADER};
use crate::sys::packet_ring::{Arrival, PacketRing};

/// Bytes of frames too large for the ring that may wait in the socket.
const RECEIVE_BUFFER: Bytes = Bytes::new(4 << 20);

/// Bytes of framing around a packet: addresses, type, and a VLAN tag that the kernel
/// left in the frame besides the one that it removed [IEEE802.3 s3.1.1] [IEEE802.1Q].
const AROUND: usize = 14 + 4;

/// Bytes of the largest frame; MTUs may grow while frames are carried.
const LARGEST_FRAME: usize = 65_600;

/// Bytes of the largest super-packet with its framing.
const LARGEST: usize = AROUND + LARGEST_SUPER as usize;

/// The GSO type "none" of a virtio header [Virtio s5.1.6].
const GSO_NONE: u8 = 0;
/// The offset of the GSO type in a virtio header.
const GSO_TYPE: usize = 1;

/// Frames that a port could not pass on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Rejected {
    /// Frames dropped because the socket's buffer was full: the receiver was too slow.
    pub overrun: u64,
    /// Super-packets that could not be cut, such as those in tunnels: no wire carries them.
    pub super_packets: u64,
    /// Frames that the interface did not accept.
    pub unsent: u64,
    /// Frames that the kernel timestamped only on delivery to the program.
    pub unstamped: u64,
}

impl Rejected {
    /// The change since `earlier`.
    #[must_use]
    pub const fn since(self, earlier: Self) -> Self {
        Self {
            overrun: self.overrun - earlier.overrun,
            super_packets: self.super_packets - earlier.super_packets,
            unsent: self.unsent - earlier.unsent,
            unstamped: self.unstamped - earlier.unstamped,
        }
    }
}

/// The purpose of a port, for error messages.
#[derive(Clone, Copy, Debug)]
pub struct Purpose {
    /// For instance `emulation`, in "opening eth0 for emulation".
    pub noun: &'static str,
    /// For instance `emulating`, in "emulating on eth0".
    pub verb: &'static str,
}

/// A raw packet socket on one interface. It receives every frame that arrives at the
/// interface, regardless of its destination, and sends frames bypassing the interface's
/// queue.
pub struct Port {
    name: String,
    purpose: Purpose,
    index: u32,
    socket: OwnedFd,
    ring: PacketRing,
    /// The buffer for frames that do not fit the ring; allocated for the first one.
    large: Vec<u8>,
    cutter: Cutter,
    rejected: Rejected,
}

impl Port {
    /// Opens the interface `name` in the calling process's namespace.
    ///
    /// # Errors
    /// If the interface does not exist, or the kernel rejects the socket.
    pub fn open(name: &str, purpose: Purpose) -> Result<Self> {
        let route = Route::open()?;
        let index = route.index(name)?;
        let mtu = usize::try_from(route.mtu(name)?).unwrap_or(LARGEST_FRAME);
        let operation = || format!("opening {name} for {}", purpose.noun);
        let socket = packet::open(libc::SOCK_RAW).during(operation)?;
        let fd = socket.as_fd();
        packet::switch_on(fd, libc::PACKET_VNET_HDR).during(operation)?;
        packet::switch_on(fd, libc::PACKET_IGNORE_OUTGOING).during(operation)?;
        packet::switch_on(fd, libc::PACKET_QDISC_BYPASS).during(operation)?;
        packet::hear_all(fd, index).during(operation)?;
        setsockopt(&socket, sockopt::ReceiveTimestampns, &true).during(operation)?;
        // Without CAP_NET_ADMIN the kernel may grant less; frames that it drops are counted.
        set_receive_buffer(fd, RECEIVE_BUFFER)?;
        let ring = PacketRing::open(fd, mtu.min(LARGEST_FRAME - AROUND) + AROUND);
        let ring = ring.during(|| format!("mapping the frames of {name}"))?;
        packet::bind(fd, index, libc::ETH_P_ALL).during(operation)?;
        Ok(Self {
            name: name.to_owned(),
            purpose,
            index,
            socket,
            ring,
            large: Vec::new(),
            cutter: Cutter::default(),
            rejected: Rejected::default(),
        })
    }

    /// Whether a frame is waiting.
    pub fn has_frame(&self) -> bool {
        self.ring.has_frame()
    }

    /// Receives the frames that have arrived, at most one batch. Each frame is passed
    /// to `take` with the time at which the kernel received it according to
    /// `mapping`, or else `now`. A super-packet is passed as the frames that its sender's
    /// interface would have made of it. Returns whether there may be more. Renew `mapping`
    /// shortly before.
    pub fn receive(
        &mut self,
        mapping: &Mapping,
        now: Time,
        pool: &Pool,
        mut take: impl FnMut(Time, Frame),
    ) -> bool {
        self.take_batch(|bytes, arrival, rejected, cutter| {
            let verdict = verdict(bytes, arrival);
            if verdict == Verdict::Cut {
                rejected.overrun += 1;
                return;
            }
            rejected.unstamped += u64::from(!arrival.stamped);
            let at = mapping.instant_by_now(arrival.unix_nanos, now);
            let mut keep = |bytes: &[u8]| take(at.unwrap_or(now), pool.keep(bytes, arrival.tag));
            if verdict == Verdict::Whole {
                return keep(bytes);
            }
            let frame = bytes.get(HEADER..).unwrap_or_default();
            let link = ethernet::HEADER_LEN + wire::frame::tags(frame);
            if cutter.cut(bytes, link, keep).is_err() {
                rejected.super_packets += 1;
            }
        })
    }

    /// Receives the frames that have arrived, at most one batch, without a copy: each is
    /// passed to `take` behind its virtio header, with the offloads still to be done, and
    /// may be a super-packet; the number is the kernel's stamp, in nanoseconds since 1970.
    /// Frames of VLANs are left to the kernel. Returns whether there may be more.
    pub fn receive_raw(&mut self, mut take: impl FnMut(u64, &[u8])) -> bool {
        self.take_batch(
            |bytes, arrival, rejected, _| match verdict(bytes, arrival) {
                _ if arrival.tag.is_some() => {}
                Verdict::Cut => rejected.overrun += 1,
                Verdict::Whole | Verdict::SuperPacket => {
                    rejected.unstamped += u64::from(!arrival.stamped);
                    take(arrival.unix_nanos, bytes);
                }
            },
        )
    }

    /// Takes at most one batch of frames out of the ring. Returns whether there may be
    /// more.
    fn take_batch(
        &mut self,
        mut take: impl FnMut(&[u8], &Arrival<'_>, &mut Rejected, &mut Cutter),
    ) -> bool {
        for _ in 0..BATCH {
            let Self {
                ring,
                large,
                cutter,
                ..
            } = self;
            let frame = ring.take(|arrival| {
                let bytes = match arrival.in_socket {
                    true => read_whole(&self.socket, large),
                    false => arrival.bytes,
                };
                take(bytes, arrival, &mut self.rejected, cutter);
            });
            if frame.is_none() {
                return false;
            }
        }
        true
    }

    /// Sends `frames` while the interface accepts them; the others count as unsent.
    ///
    /// # Errors
    /// If the interface has disappeared. An interface that is down is not an error.
    pub fn send(&mut self, frames: &[Frame]) -> Result<()> {
        self.send_pieces(frames, Frame::pieces, |_| {})
    }

    /// Sends frames, each of the two `pieces` behind each other: a virtio header and the
    /// frame, which may be a super-packet. Those that the interface does not accept are handed
    /// to `unsent`. Otherwise as [`Port::send`].
    pub fn send_pieces<T>(
        &mut self,
        frames: &[T],
        pieces: impl Fn(&T) -> [&[u8]; 2],
        mut unsent: impl FnMut(&T),
    ) -> Result<()> {
        let mut rest = frames;
        while !rest.is_empty() {
            match packet::send(self.socket.as_fd(), rest.iter().map(&pieces)) {
                Ok(count) => rest = &rest[count..],
                Err(error) => match Errno::from_raw(error.raw_os_error().unwrap_or(0)) {
                    Errno::EINTR => {}
                    Errno::ENXIO | Errno::ENODEV => return Err(self.gone()),
                    // The interface is down, its MTU was lowered, or it has no room:
                    // this frame is lost, the next one may pass.
                    _ => {
                        self.rejected.unsent += 1;
                        unsent(&rest[0]);
                        rest = &rest[1..];
                    }
                },
            }
        }
        Ok(())
    }

    /// The frames that it could not pass on so far, without those that the kernel
    /// dropped since [`Port::count_overrun`].
    pub const fn rejected(&self) -> Rejected {
        self.rejected
    }

    /// Counts the frames that the kernel dropped before they were received.
    ///
    /// # Errors
    /// If the kernel does not provide the count.
    pub fn count_overrun(&mut self) -> Result<()> {
        let dropped = packet::dropped(self.socket.as_fd());
        self.rejected.overrun +=
            dropped.during(|| format!("asking {} what it dropped", self.name))?;
        Ok(())
    }

    /// Checks that the interface still exists: an idle socket does not report it.
    ///
    /// # Errors
    /// If it was removed, or moved to another namespace.
    pub fn check_there(&self) -> Result<()> {
        if_indextoname(self.index)
            .map(drop)
            .map_err(|_| self.gone())
    }

    fn gone(&self) -> Error {
        Error::new(self.operation(), "the interface is gone")
    }

    fn operation(&self) -> String {
        format!("{} on {}", self.purpose.verb, self.name)
    }
}

/// The descriptor to wait for.
impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

impl Source for Port {
    /// A pending error means that the interface went down. It may come up again, and the
    /// kernel then continues by itself.
    fn clear_error(&self) -> Result<()> {
        match take_error(self.socket.as_fd()) {
            Ok(()) => self.check_there(),
            Err(error) if error.raw_os_error() == Some(libc::ENETDOWN) => self.check_there(),
            error => error.during(|| self.operation()),
        }
    }
}

/// The classification of received data.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Whole,
    /// Segmentation was left to the interface.
    SuperPacket,
    /// The frame was truncated.
    Cut,
}

fn verdict(bytes: &[u8], arrival: &Arrival<'_>) -> Verdict {
    match bytes.get(GSO_TYPE) {
        _ if bytes.len() < arrival.length + HEADER => Verdict::Cut,
        Some(&GSO_NONE) => Verdict::Whole,
        Some(_) => Verdict::SuperPacket,
        None => Verdict::Cut,
    }
}

/// Receives the waiting frame from the socket, up to the largest size; empty if it is
/// gone.
fn read_whole<'a>(socket: &OwnedFd, large: &'a mut Vec<u8>) -> &'a [u8] {
    large.resize(HEADER + LARGEST, 0);
    #[expect(clippy::disallowed_methods, reason = "one frame of an interface")]
    let length = recv(socket.as_raw_fd(), large, MsgFlags::MSG_DONTWAIT).unwrap_or(0);
    &large[..length]
}
