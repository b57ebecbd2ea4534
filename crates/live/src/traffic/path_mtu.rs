//! Notices of the path MTU, from the error queue of a flow's socket [ip(7)] [ipv6(7)].

use std::io::IoSliceMut;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::os::fd::{AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{ControlMessageOwned, MsgFlags, SockaddrStorage, recvmsg};

use super::counters::{PathMtuNotice, SentCounters};

/// The most errors to read at a time; routers and this host may report one for each
/// message.
const MOST: usize = 64;

/// Notes the path MTU, if an error that waits states it.
pub(super) fn read_errors(socket: &OwnedFd, counters: &SentCounters) {
    let mut control = [0; 512];
    for _ in 0..MOST {
        let mut octets = [0; 64];
        let mut pieces = [IoSliceMut::new(&mut octets)];
        let flags = MsgFlags::MSG_ERRQUEUE | MsgFlags::MSG_DONTWAIT;
        let control = Some(&mut control[..]);
        let message =
            match recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut pieces, control, flags) {
                Ok(message) => message,
                Err(Errno::EINTR) => continue,
                // Nothing is left, or the error says no more than the failed call did.
                Err(_) => return,
            };
        let Ok(parts) = message.cmsgs() else { return };
        for part in parts {
            let (error, router) = match part {
                ControlMessageOwned::Ipv4RecvErr(error, router) => {
                    let address = router.map(|at| Ipv4Addr::from(u32::from_be(at.sin_addr.s_addr)));
                    (error, address.map(IpAddr::V4))
                }
                ControlMessageOwned::Ipv6RecvErr(error, router) => {
                    let address = router.map(|at| Ipv6Addr::from(at.sin6_addr.s6_addr));
                    (error, address.map(IpAddr::V6))
                }
                _ => continue,
            };
            if Errno::from_raw(error.ee_errno.cast_signed()) == Errno::EMSGSIZE && error.ee_info > 0
            {
                let mtu = error.ee_info;
                let router = router.filter(|at| !at.is_unspecified());
                counters.note(PathMtuNotice { mtu, router });
            }
        }
    }
}
