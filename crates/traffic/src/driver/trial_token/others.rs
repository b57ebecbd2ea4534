//! The datagrams of all but the sender.

use std::os::fd::AsFd as _;

use nix::sys::socket::{setsockopt, sockopt};

use super::datagrams::{MOST_EARLIER, read};
use os::error::{OperationContext, Result};
use os::socket::{Kind, MsgFlags, Options, Socket, address_of, bind_to, open};
use os::sys::option;

/// A second socket at the port of one that is connected: the kernel gives it the datagrams of
/// all but the sender, which take no room of the first.
pub(super) struct Others(Socket);

impl Others {
    pub(super) fn beside(connected: &Socket) -> Result<Self> {
        let doing = || "counting the datagrams of others";
        let at = address_of(connected)?;
        let options = Options {
            non_blocking: true,
            ..Options::default()
        };
        let socket = open(Kind::Datagram, at.ip(), &options)?;
        // Both must share the port while the second is bound [socket(7)], and no longer:
        // the socket of another user could join them.
        for socket in [connected, &socket] {
            setsockopt(socket, sockopt::ReuseAddr, &true).during(doing)?;
        }
        let bound = bind_to(&socket, at);
        for socket in [connected, &socket] {
            setsockopt(socket, sockopt::ReuseAddr, &false).during(doing)?;
        }
        bound?;
        Ok(Self(socket))
    }

    /// The number of datagrams that came.
    pub(super) fn count(&self) -> u64 {
        let waiting = (0..MOST_EARLIER).take_while(|_| {
            let read = read(&self.0, MsgFlags::empty());
            read.is_ok_and(|datagram| datagram.is_some())
        });
        let waiting = waiting.count() as u64;
        // The rest found no room.
        waiting + u64::from(option::dropped(self.0.as_fd()).unwrap_or_default())
    }
}
