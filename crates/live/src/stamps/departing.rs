//! The kernel's stamps of what leaves, from a socket's error queue
//! [LinuxUapi net_tstamp.h].

use std::io::IoSliceMut;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, TimestampingFlag, recvmsg};
use nix::sys::time::TimeSpec;

use crate::error::{During, Result};

/// SOF_TIMESTAMPING_OPT_ID_TCP: numbers count from what was written, not from
/// what was acknowledged.
pub(crate) const COUNT_WRITTEN: TimestampingFlag = TimestampingFlag::from_bits_retain(1 << 16);

/// A stamp that was asked for.
pub(crate) struct Stamp {
    /// CLOCK_REALTIME then.
    pub(crate) at: TimeSpec,
    /// Where the packet was (`SCM_TSTAMP_*`).
    pub(crate) place: u32,
    /// What the kernel numbers: the octet of a stream, or the datagram.
    pub(crate) number: u32,
}

/// Hands all stamps that wait at `socket` to `take`.
pub(crate) fn read(socket: BorrowedFd<'_>, mut take: impl FnMut(Stamp)) -> Result<()> {
    let doing = || "reading stamps of departures";
    let mut control = [0; 512];
    loop {
        let mut octets = [0; 64];
        let mut pieces = [IoSliceMut::new(&mut octets)];
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let (socket, control) = (socket.as_raw_fd(), Some(&mut control[..]));
        let message = match recvmsg::<SockaddrStorage>(socket, &mut pieces, control, flags) {
            Ok(message) => message,
            Err(Errno::EAGAIN) => return Ok(()),
            Err(error) => return Err(error).during(doing),
        };
        let (mut at, mut of) = (None, None);
        for part in message.cmsgs().during(doing)? {
            match part {
                ControlMessageOwned::ScmTimestampsns(stamps) => at = Some(stamps.system),
                ControlMessageOwned::Ipv4RecvErr(error, _)
                | ControlMessageOwned::Ipv6RecvErr(error, _) => {
                    of = Some((error.ee_info, error.ee_data));
                }
                _ => {}
            }
        }
        if let Some((at, (place, number))) = at.zip(of) {
            take(Stamp { at, place, number });
        }
    }
}
