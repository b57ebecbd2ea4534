//! Connections to a listening TCP socket, of which those that show the token enter. Others say
//! nothing or something else, so several are heard at a time.

use std::borrow::Borrow;
use std::net::{IpAddr, Ipv4Addr};

use crate::machine::trial_token::{Admission, Decision, Number, TOKEN_LEN, Token};
use units::{Span, Time};

use os::clock;
use os::deadline::Deadline;
use os::error::{OperationContext, Result};
use os::socket::{Errno, MsgFlags, Socket, SocketRef};
use os::socket::{accept, borrowed, peer_of, readable, receive, reset_on_close, set_non_blocking};

/// Connections that may wait at a port.
pub(crate) const BACKLOG: i32 = 128;

/// The pause after unauthenticated peers once the sender is in, so that they take little processor
/// time from the trial. Further ones wait in the kernel, which drops those without room.
pub(super) const REST: Span = Span::from_millis(10);

/// A listening socket, and the connections that have not shown the token.
pub(crate) struct Callers<L> {
    listener: L,
    /// Whether no call on a connection waits.
    non_blocking: bool,
    /// The only address from which they may come; `None`: any.
    from: Option<IpAddr>,
    admission: Admission,
    waiting: Vec<(Number, Socket)>,
    next: Number,
}

impl<L: Borrow<Socket>> Callers<L> {
    /// At `listener`, which does not block from here on; at most `most` enter.
    pub(crate) fn new(
        listener: L,
        from: Option<IpAddr>,
        token: Token,
        most: usize,
        non_blocking: bool,
    ) -> Result<Self> {
        // A peer may close before its connection is accepted.
        set_non_blocking(listener.borrow()).during(|| "opening a port")?;
        Ok(Self {
            listener,
            non_blocking,
            from,
            admission: Admission::new(token, most),
            waiting: Vec::new(),
            next: 0,
        })
    }

    /// Waits until `until` at most for connections, for bytes of one, or for `wake`, and hears
    /// them once. Passes those that showed the token to `enter`. Returns the number of new ones.
    pub(crate) fn hear(
        &mut self,
        wake: Option<SocketRef<'_>>,
        until: Option<Time>,
        deadline: &Deadline,
        mut enter: impl FnMut(Socket),
    ) -> i32 {
        for number in self.wait(wake, until) {
            if let Some(stream) = self.read(number, deadline) {
                enter(stream);
            }
        }
        let came = self.accept(deadline, &mut enter);
        for number in self.admission.expire(clock::monotonic()) {
            self.close(number);
        }
        came
    }

    /// Whether all who may enter have done so.
    pub(crate) fn is_complete(&self) -> bool {
        self.admission.is_complete()
    }

    /// The unauthenticated peers so far.
    pub(crate) fn rejected_peers(&self) -> u64 {
        self.admission.rejected_peers()
    }

    /// Rejects those that wait at this moment: they are unauthenticated peers, too.
    pub(crate) fn turn_away(&mut self, deadline: &Deadline) {
        self.accept(deadline, &mut drop);
        for (number, socket) in std::mem::take(&mut self.waiting) {
            self.admission.reject(number);
            // Without it the connection ends in the usual way.
            let _ = reset_on_close(&socket);
        }
    }

    /// Returns the connections that are readable.
    fn wait(&self, wake: Option<SocketRef<'_>>, until: Option<Time>) -> Vec<Number> {
        let waiting = self.waiting.iter().map(|(_, socket)| borrowed(socket));
        let listener = borrowed(self.listener.borrow());
        let all: Vec<_> = waiting.chain([listener]).chain(wake).collect();
        let next = self.admission.next_expiry().into_iter().chain(until);
        // A wait that fails is repeated by the loop.
        let ready = readable(&all, next.min()).unwrap_or_default();
        let waiting = ready.into_iter().zip(&self.waiting);
        waiting
            .filter(|(is_ready, _)| *is_ready)
            .map(|(_, (number, _))| *number)
            .collect()
    }

    /// Accepts the connections that wait, at most as many as the kernel holds. Returns
    /// their number.
    fn accept(&mut self, deadline: &Deadline, enter: &mut impl FnMut(Socket)) -> i32 {
        for count in 0..BACKLOG {
            let socket = match accept(self.listener.borrow(), self.non_blocking) {
                Ok(socket) => socket,
                Err(Errno::EINTR | Errno::ECONNABORTED | Errno::EPROTO) => continue,
                Err(Errno::EAGAIN) => return count,
                // No descriptors or memory are left: others are closed meanwhile.
                Err(_) => {
                    clock::sleep(REST);
                    return count;
                }
            };
            let from = peer_of(&socket).map(|from| from.ip());
            let from = from.unwrap_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED));
            if self.from.is_some_and(|only| only != from) {
                let _ = reset_on_close(&socket);
                continue;
            }
            let number = self.next;
            self.next += 1;
            self.waiting.push((number, socket));
            let rejected = self.admission.arrive(number, from, clock::monotonic());
            if let Some(rejected) = rejected {
                self.close(rejected);
            }
            // The token is often there already.
            if let Some(stream) = self.read(number, deadline) {
                enter(stream);
            }
        }
        BACKLOG
    }

    /// Reads what is missing of a connection's token. Returns the connection once it was shown.
    fn read(&mut self, number: Number, deadline: &Deadline) -> Option<Socket> {
        let at = self.waiting.iter().position(|(one, _)| *one == number)?;
        let permit = deadline.permit().ok()?;
        let mut room = [0; TOKEN_LEN];
        let room = &mut room[..self.admission.missing(number)];
        let decision = match receive(&self.waiting[at].1, room, MsgFlags::MSG_DONTWAIT, permit) {
            Ok(count) if count > 0 => self.admission.show(number, &room[..count]),
            Err(Errno::EAGAIN | Errno::EINTR) => Decision::Wait,
            Ok(_) | Err(_) => {
                self.admission.reject(number);
                Decision::Reject
            }
        };
        match decision {
            Decision::Wait => None,
            Decision::Reject => {
                self.close(number);
                None
            }
            Decision::Admit => Some(self.waiting.remove(at).1),
        }
    }

    /// Resets the connection of an unauthenticated peer: the kernel keeps nothing of it.
    fn close(&mut self, number: Number) {
        if let Some(at) = self.waiting.iter().position(|(one, _)| *one == number) {
            let (_, socket) = self.waiting.swap_remove(at);
            // Without it the connection ends in the usual way.
            let _ = reset_on_close(&socket);
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
    use crate::machine::trial_token::MOST_WAITING;
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use units::Span;

    #[test]
    fn connections_that_say_nothing_or_something_else_do_not_delay_the_sender() {
        let token = Token::new([9; TOKEN_LEN]);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let from = Some(to.ip());
        let mut callers = Callers::new(Socket::from(listener), from, token, 1, false).unwrap();
        let round = |callers: &mut Callers<Socket>| {
            let deadline = Deadline::fixed(Span::from_secs(1_000));
            let until = Some(clock::monotonic() + Span::from_millis(50));
            let mut entered = None;
            callers.hear(None, until, &deadline, |stream| entered = Some(stream));
            entered
        };
        let mut others = Vec::new();
        // More than are heard at a time.
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
            assert!(callers.waiting.len() <= MOST_WAITING);
        }
        let mut sender = TcpStream::connect(to).unwrap();
        sender.set_nodelay(true).unwrap();
        sender.write_all(&[9; 7]).unwrap();
        assert!(round(&mut callers).is_none());
        sender.write_all(&[9; 9]).unwrap();
        let found = (0..1_000).find_map(|_| round(&mut callers)).unwrap();
        let from = peer_of(&found).unwrap();
        assert_eq!(Some(from), sender.local_addr().ok());
        // Nobody else may enter, and all are rejected.
        assert!(callers.is_complete() && callers.waiting.is_empty());
        assert_eq!(callers.rejected_peers(), others.len() as u64);
    }

    #[test]
    fn connections_from_elsewhere_are_not_heard() {
        let token = Token::new([9; TOKEN_LEN]);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let to = listener.local_addr().unwrap();
        let from = Some(IpAddr::from([127, 0, 0, 2]));
        let mut callers = Callers::new(Socket::from(listener), from, token, 1, false).unwrap();
        let mut other = TcpStream::connect(to).unwrap();
        other.write_all(&[9; TOKEN_LEN]).unwrap();
        let deadline = Deadline::fixed(Span::from_secs(1_000));
        let until = Some(clock::monotonic() + Span::from_millis(50));
        callers.hear(None, until, &deadline, |_| panic!("it came from elsewhere"));
        assert!(callers.waiting.is_empty());
    }
}
