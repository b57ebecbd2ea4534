//! Notices of the path MTU, from the error queue of a flow's socket [ip(7)] [ipv6(7)].

use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;

use super::counters::{PathMtuNotice, SentCounters};
use os::socket::next_error;

/// The most errors to read at a time; routers and this host may report one for each
/// message.
const MOST: usize = 64;

/// Notes the path MTU, if an error that waits states it.
pub(super) fn read_errors(socket: &OwnedFd, counters: &SentCounters) {
    for _ in 0..MOST {
        let queued = match next_error(socket.as_fd()) {
            Ok(Some(queued)) => queued,
            Err(Errno::EINTR) => continue,
            // Nothing is left, or the error says no more than the failed call did.
            Ok(None) | Err(_) => return,
        };
        let Some((error, router)) = queued.reported else {
            continue;
        };
        let mtu = error.ee_info;
        if Errno::from_raw(error.ee_errno.cast_signed()) == Errno::EMSGSIZE && mtu > 0 {
            let router = router.filter(|at| !at.is_unspecified());
            counters.note(PathMtuNotice { mtu, router });
        }
    }
}
