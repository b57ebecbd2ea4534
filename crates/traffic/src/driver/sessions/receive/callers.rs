//! Connections to the port of a stream, of which one shows the flow's cookie. Others may come
//! from the same host and say nothing, so several are heard at a time.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::os::fd::{AsFd, OwnedFd};

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{MsgFlags, SockFlag};
use units::Span;

use super::LOOK;
use os::deadline::{Deadline, Permit, receive};
use os::error::{During, Result};
use os::socket::{accept, is_of_connection, peer_of};

/// The most connections that are heard at a time; for another one the oldest is closed.
pub(super) const MOST: i32 = 64;

/// The longest time for a connection to show the cookie.
const TIMEOUT: Span = Span::from_secs(1);

/// The connections that have not shown the cookie.
pub(super) struct Callers {
    peer: IpAddr,
    cookie: [u8; 16],
    waiting: VecDeque<Caller>,
    timeout: Span,
}

struct Caller {
    stream: OwnedFd,
    deadline: Deadline,
    shown: [u8; 16],
    filled: usize,
}

/// What is known about a connection.
#[derive(PartialEq, Eq)]
enum Known {
    Nothing,
    Sender,
    Other,
}

impl Callers {
    /// Connections from `peer`; others are closed.
    pub(super) fn new(peer: IpAddr, cookie: [u8; 16]) -> Self {
        Self {
            peer,
            cookie,
            waiting: VecDeque::new(),
            timeout: TIMEOUT,
        }
    }

    /// Hears the connections once, for a moment. Returns the one that has shown the cookie.
    ///
    /// # Errors
    /// The kernel's.
    pub(super) fn next(&mut self, listener: &OwnedFd, _permit: Permit) -> Result<Option<OwnedFd>> {
        if self.is_called(listener)? {
            self.accept(listener)?;
        }
        for _ in 0..self.waiting.len() {
            let Some(mut caller) = self.waiting.pop_front() else {
                break;
            };
            match caller.hear(&self.cookie) {
                Known::Sender => return Ok(Some(caller.stream)),
                Known::Nothing => self.waiting.push_back(caller),
                Known::Other => {}
            }
        }
        Ok(None)
    }

    /// Waits until something can be read or accepted. Returns whether a connection waits.
    fn is_called(&self, listener: &OwnedFd) -> Result<bool> {
        let streams = self.waiting.iter().map(|caller| &caller.stream);
        let sockets = std::iter::once(listener).chain(streams);
        let mut watched: Vec<PollFd<'_>> = sockets
            .map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN))
            .collect();
        let millis = u16::try_from(LOOK.as_nanos() / 1_000_000).unwrap_or(u16::MAX);
        match poll(&mut watched, PollTimeout::from(millis)) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error).during(|| "waiting for a flow"),
        }
        Ok(watched[0].any() == Some(true))
    }

    fn accept(&mut self, listener: &OwnedFd) -> Result<()> {
        let stream = match accept(listener.as_fd(), SockFlag::empty()) {
            Ok(stream) => stream,
            Err(error) if is_of_connection(error) => return Ok(()),
            Err(error) => return Err(error).during(|| "waiting for a flow"),
        };
        if peer_of(stream.as_fd()).is_ok_and(|from| from.ip() == self.peer) {
            if self.waiting.len() >= usize::try_from(MOST).unwrap_or(0) {
                self.waiting.pop_front();
            }
            self.waiting.push_back(Caller {
                stream,
                deadline: Deadline::fixed(self.timeout),
                shown: [0; 16],
                filled: 0,
            });
        }
        Ok(())
    }
}

impl Caller {
    /// Reads what has arrived of the cookie.
    fn hear(&mut self, cookie: &[u8; 16]) -> Known {
        let Ok(permit) = self.deadline.permit() else {
            return Known::Other;
        };
        let (room, flags) = (&mut self.shown[self.filled..], MsgFlags::MSG_DONTWAIT);
        match receive(&self.stream, room, flags, permit) {
            Ok(count) if count > 0 => self.filled += count,
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Ok(_) | Err(_) => return Known::Other,
        }
        let begin = &self.shown[..self.filled];
        match (self.filled, cookie.starts_with(begin)) {
            (16, true) => Known::Sender,
            (_, true) => Known::Nothing,
            (_, false) => Known::Other,
        }
    }
}

#[cfg(test)]
#[expect(
    clippy::disallowed_methods,
    reason = "the senders are of the test's own"
)]
mod tests {
    use super::*;
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn connections_that_say_nothing_or_something_else_do_not_delay_the_sender() {
        let cookie = [9; 16];
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let listener = OwnedFd::from(listener);
        let mut callers = Callers::new(to.ip(), cookie);
        // None of them is given up.
        callers.timeout = Span::from_secs(1_000);
        let round = |callers: &mut Callers| {
            let permit = Deadline::fixed(Span::from_secs(1_000)).permit().unwrap();
            callers.next(&listener, permit).unwrap()
        };
        let mut others = Vec::new();
        // More than are heard at a time, each accepted before the next comes.
        for number in 0..150 {
            let mut other = TcpStream::connect(to).unwrap();
            if number % 3 == 0 {
                other.write_all(&[9; 15]).unwrap();
            }
            if number % 30 == 0 {
                other.write_all(&[8]).unwrap();
            }
            others.push(other);
            assert!(round(&mut callers).is_none());
            assert!(callers.waiting.len() <= 64);
        }
        let mut sender = TcpStream::connect(to).unwrap();
        sender.set_nodelay(true).unwrap();
        sender.write_all(&cookie[..7]).unwrap();
        assert!(round(&mut callers).is_none());
        sender.write_all(&cookie[7..]).unwrap();
        let found = (0..1_000).find_map(|_| round(&mut callers)).unwrap();
        let from = peer_of(found.as_fd()).unwrap();
        assert_eq!(Some(from), sender.local_addr().ok());
        drop(others);
        // The oldest ones were closed, and those with other octets.
        assert!(callers.waiting.len() < 64);
    }
}
