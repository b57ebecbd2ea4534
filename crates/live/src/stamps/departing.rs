//! The kernel's timestamps of departures, from a socket's error queue
//! [LinuxUapi net_tstamp.h].

use std::io::IoSliceMut;
use std::os::fd::{AsRawFd, BorrowedFd};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, TimestampingFlag, recvmsg};
use nix::sys::time::TimeSpec;

use crate::error::{During, Result};

/// SOF_TIMESTAMPING_OPT_ID_TCP: numbers count from the octets written, not from those
/// acknowledged.
pub(crate) const COUNT_WRITTEN: TimestampingFlag = TimestampingFlag::from_bits_retain(1 << 16);

/// A timestamp of a departure.
pub(crate) struct Stamp {
    /// CLOCK_REALTIME at the departure.
    pub(crate) at: TimeSpec,
    /// The point at which it was taken (`SCM_TSTAMP_*`).
    pub(crate) place: u32,
    /// The kernel's number: of the octet in a stream, or of the datagram.
    pub(crate) number: u32,
}

/// Passes all waiting timestamps of `socket` to `take`.
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
