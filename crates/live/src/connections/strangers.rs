//! Datagrams of strangers at the port at which flows arrive.

use std::net::SocketAddr;
use std::os::fd::{AsFd, OwnedFd};

use nix::sys::socket::{MsgFlags, setsockopt, sockopt};
use units::Span;

use crate::deadline::{Deadline, receive};
use crate::error::{During, Result};
use crate::socket::{Kind, Options, address_of, bind_to, open};
use crate::sys::{option, source_filter};

/// The longest time of counting.
const LONGEST: Span = Span::from_secs(1);

/// A second socket at the port of another one: the kernel gives it the datagrams of
/// strangers, which so take no room of the flows.
pub(super) struct Strangers(OwnedFd);

impl Strangers {
    /// A socket for the datagrams that come to `socket` and not from `peers`.
    ///
    /// # Errors
    /// If the kernel refuses an option or the port.
    pub(super) fn beside(socket: &OwnedFd, peers: &[SocketAddr]) -> Result<Self> {
        let doing = || "keeping strangers apart";
        let at = address_of(socket.as_fd())?;
        let other = open(Kind::Datagram, at.ip(), &Options::default())?;
        // The first one has the port alone until here, and then shares it with sockets of
        // this user, of which the kernel chooses the first two [socket(7)].
        for socket in [socket, &other] {
            setsockopt(socket, sockopt::ReusePort, &true).during(doing)?;
        }
        bind_to(&other, at)?;
        source_filter::divide(socket.as_fd(), peers).during(doing)?;
        Ok(Self(other))
    }

    /// The number of datagrams that came.
    ///
    /// # Errors
    /// If the kernel does not tell how many found no room.
    pub(super) fn count(&self) -> Result<u64> {
        let without_room = option::dropped(self.0.as_fd());
        let without_room = without_room.during(|| "asking how many datagrams found no room")?;
        // Those that go on must not hold the trial up.
        let deadline = Deadline::fixed(LONGEST);
        let waiting = std::iter::from_fn(|| {
            let permit = deadline.permit().ok()?;
            receive(&self.0, &mut [], MsgFlags::MSG_DONTWAIT, permit).ok()
        });
        Ok(u64::from(without_room) + waiting.count() as u64)
    }
}
