//! A test of the kernel's receive timestamps over loopback.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsFd, AsRawFd};

use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, SockaddrStorage, sendto};
use units::Span;

use crate::clock::{self, Epoch};
use crate::deadline::Permit;
use crate::error::{OperationContext, Result};
use crate::socket::{Kind, Options, address_of, open, wait};
use crate::sys::inbox::receive_stamped;

/// The longest delay of a datagram over loopback.
const TIMEOUT: Span = Span::from_millis(200);

/// The kernel's delay before it begins to timestamp.
const WARM_UP: Span = Span::from_millis(10);

/// The results of datagrams over loopback.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stamps {
    /// Datagrams sent.
    pub sent: u64,
    /// Datagrams that arrived with the kernel's timestamp.
    pub stamped: u64,
    /// Median time from just before the send to the timestamp, of timestamps that are
    /// not earlier; `None` if there are none.
    pub delay: Option<Span>,
}

/// Sends `count` datagrams over loopback, one after the other.
///
/// # Errors
/// If loopback is down or a socket is rejected.
pub fn try_loopback(count: u64) -> Result<Stamps> {
    let here = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let options = Options {
        bind: Some(SocketAddr::new(here, 0)),
        stamps: true,
        ..Options::default()
    };
    let socket = open(Kind::Datagram, here, &options)?;
    let own = SockaddrStorage::from(address_of(socket.as_fd())?);
    clock::sleep(WARM_UP);
    let epoch = Epoch::now();
    let (mut stamped, mut delays) = (0, Vec::new());
    for _ in 0..count {
        let before = epoch.elapsed();
        sendto(socket.as_raw_fd(), b"stamp", &own, MsgFlags::empty())
            .during(|| "sending over loopback")?;
        let deadline = clock::monotonic() + TIMEOUT;
        if !wait(socket.as_fd(), PollFlags::POLLIN, deadline)?.contains(PollFlags::POLLIN) {
            continue;
        }
        let mut bytes = [0; 16];
        let (fd, flags) = (socket.as_fd(), MsgFlags::empty());
        let arrived = receive_stamped(fd, &mut bytes, flags, Permit::of_worker())
            .during(|| "receiving over loopback")?;
        let stamp = arrived.stamp.map(|stamp| epoch.time_of_stamp(stamp));
        stamped += u64::from(stamp.is_some());
        delays.extend(stamp.and_then(|stamp| stamp.since(before)));
    }
    delays.sort_unstable();
    Ok(Stamps {
        sent: count,
        stamped,
        delay: delays.get(delays.len() / 2).copied(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_to_ourselves_is_stamped_after_it_was_sent() {
        let stamps = try_loopback(20).unwrap();
        assert_eq!((stamps.sent, stamps.stamped), (20, 20));
        assert!(stamps.delay.unwrap() < TIMEOUT);
    }
}
