//! Observation of frames that cross an interface, to verify the effect of the offload
//! flags.

use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use units::{Bytes, Framing};
use wire::frame::{Summary, is_between};

use crate::error::{OperationContext, Result};
use crate::namespace::Namespace;
use crate::netlink::Route;
use crate::socket::set_receive_buffer;
use crate::sys::packet;

/// Bytes captured of each frame: the headers.
const SNAP: usize = 128;

/// Room for frames between two looks.
const RECEIVE_BUFFER: Bytes = Bytes::new(4 << 20);

/// A listener on one interface.
pub struct Capture {
    socket: OwnedFd,
    /// The addresses between which frames count; `None`: all frames do.
    ends: Option<[IpAddr; 2]>,
}

/// A summary of the captured frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Seen {
    /// Frames that carried IP.
    pub frames: u64,
    /// The largest IP packet in bytes. A packet above the MTU is a super-packet, which
    /// no wire carries.
    pub largest_packet: Bytes,
}

impl Capture {
    /// Captures all frames on `interface` of `namespace`, in both directions.
    ///
    /// # Errors
    /// If the kernel rejects a packet socket.
    pub fn open(namespace: &Namespace, interface: &str) -> Result<Self> {
        Self::of(heard_at(namespace, interface)?)
    }

    /// Captures the frames between two addresses on `interface` of the caller's
    /// namespace, in both directions.
    ///
    /// # Errors
    /// If the kernel rejects a packet socket, which needs CAP_NET_RAW.
    pub fn here(interface: &str, ends: [IpAddr; 2]) -> Result<Self> {
        let index = Route::open()?.index(interface)?;
        let all = Self::of(heard(index, interface)?)?;
        Ok(Self {
            ends: Some(ends),
            ..all
        })
    }

    fn of(socket: OwnedFd) -> Result<Self> {
        // Frames beyond the buffer are missed. The largest frame is still seen, because
        // all frames of a flow are segmented alike.
        set_receive_buffer(socket.as_fd(), RECEIVE_BUFFER)?;
        Ok(Self { socket, ends: None })
    }

    /// Reads the frames captured so far.
    ///
    /// # Errors
    /// If the interface has disappeared.
    pub fn drain(&self) -> Result<Seen> {
        let mut seen = Seen::default();
        let mut head = [0; SNAP];
        loop {
            // With MSG_TRUNC the result is the frame's length, not that of the captured
            // part.
            #[expect(clippy::disallowed_methods, reason = "the interface is this program's")]
            let length = match recv(self.socket.as_raw_fd(), &mut head, MsgFlags::MSG_TRUNC) {
                Ok(length) => length,
                Err(Errno::EAGAIN) => return Ok(seen),
                Err(error) => return Err(error).during(|| "reading captured frames"),
            };
            let frame = &head[..length.min(SNAP)];
            let summary = Summary::of(frame, length);
            let counts = self.ends.is_none_or(|ends| is_between(frame, ends));
            if summary.ip.is_some() && counts {
                seen.frames += 1;
                let packet = Bytes::new(summary.frame_size as u64) - Framing::MAC_HEADER;
                seen.largest_packet = seen.largest_packet.max(packet);
            }
        }
    }
}

/// A non-blocking socket that receives every frame of `interface`.
pub fn heard_at(namespace: &Namespace, interface: &str) -> Result<OwnedFd> {
    let index = namespace.route.index(interface)?;
    namespace.within(|| heard(index, interface))
}

/// The same for an interface of the caller's namespace by its index.
fn heard(index: u32, interface: &str) -> Result<OwnedFd> {
    let operation = || format!("listening on {interface}");
    let socket = packet::open(libc::SOCK_RAW).during(operation)?;
    packet::bind(socket.as_fd(), index, libc::ETH_P_ALL).during(operation)?;
    Ok(socket)
}
