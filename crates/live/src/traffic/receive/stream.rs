//! Reception of a flow over a stream.

use std::io::ErrorKind;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    MsgFlags, SockFlag, SockaddrStorage, accept4, getpeername, recv, send, setsockopt, sockopt,
};
use proto::MessageStream;
use wire::control::Meter;
use wire::message::Message;

use super::recorder::Arrival;
use super::{LOOK, TIMEOUT, Waiting, raw};
use crate::clock;
use crate::error::{During, Error, Result};
use crate::sys::inbox::Inbox;
use crate::traffic::options::{self, mark};

/// Octets per read.
const READ: usize = 1 << 18;

impl Waiting {
    pub(super) fn take_stream(&mut self) -> Result<()> {
        let Some(stream) = self.accept()? else {
            return Ok(());
        };
        setsockopt(&stream, sockopt::TcpNoDelay, &true).during(|| "switching Nagle's algorithm")?;
        if self.flow.dscp != 0 {
            mark(stream.as_fd(), self.peer, self.flow.dscp)?;
        }
        self.stamp(&stream)?;
        let mut inbox = Inbox::of_stream(READ);
        let mut messages = MessageStream::new();
        let mut complete = Vec::new();
        let mut reply = Vec::new();
        let mut latest = clock::monotonic();
        loop {
            let taken = match inbox.take(stream.as_fd(), self.flow.busy) {
                Ok(taken) => taken.first().copied().unwrap_or_default(),
                Err(error)
                    if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) =>
                {
                    self.recorder.idle();
                    if self.is_over(latest) {
                        return Ok(());
                    }
                    continue;
                }
                // The sender was killed: the data received so far count.
                Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(()),
                Err(error) => return Err(error).during(|| "receiving a stream"),
            };
            if taken.length == 0 {
                return Ok(());
            }
            latest = clock::monotonic();
            let arrival = Arrival {
                read: latest,
                stamp: taken.stamp,
            };
            messages
                .receive(inbox.octets(0), |message| complete.push(message))
                .map_err(|error| Error::new("reading a stream", error.to_string()))?;
            for message in complete.drain(..) {
                if message.length > self.flow.largest {
                    return Err(Error::new(
                        "reading a stream",
                        "a message is larger than was said",
                    ));
                }
                match self.flow.meter {
                    Meter::OneWay => self.recorder.record(message, arrival),
                    Meter::RoundTrip => {
                        self.recorder.answered(message, Some(arrival));
                        if !self.answer(&stream, message, &mut reply)? {
                            return Ok(());
                        }
                    }
                }
            }
        }
    }

    /// Accepts the connection that shows the cookie; others are closed.
    fn accept(&self) -> Result<Option<OwnedFd>> {
        while !self.is_over(clock::monotonic()) {
            let stream = match accept4(raw(&self.socket), SockFlag::SOCK_CLOEXEC) {
                Ok(stream) => stream,
                Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNABORTED) => continue,
                Err(error) => return Err(error).during(|| "waiting for a flow"),
            };
            #[expect(unsafe_code, reason = "nix returns a raw descriptor")]
            // SAFETY: accept4 has just created it, and nothing else owns it.
            let stream = unsafe { OwnedFd::from_raw_fd(stream) };
            if self.is_the_sender(&stream)? {
                return Ok(Some(stream));
            }
        }
        Ok(None)
    }

    fn is_the_sender(&self, stream: &OwnedFd) -> Result<bool> {
        let from = getpeername::<SockaddrStorage>(raw(stream)).ok();
        let from = from.as_ref().and_then(options::plain);
        if from.is_none_or(|from| from.ip() != self.peer) {
            return Ok(false);
        }
        options::set_read_timeout(stream.as_fd(), TIMEOUT)?;
        let mut shown = [0; 16];
        let whole = recv(raw(stream), &mut shown, MsgFlags::MSG_WAITALL) == Ok(shown.len());
        options::set_read_timeout(stream.as_fd(), LOOK)?;
        Ok(whole && shown == self.flow.cookie)
    }

    /// Sends a message back. Returns whether the sender still accepts it.
    fn answer(&self, stream: &OwnedFd, message: Message, room: &mut Vec<u8>) -> Result<bool> {
        let Some(reply) = message.reply_in_full() else {
            return Ok(true);
        };
        let length = usize::try_from(reply.length).unwrap_or(usize::MAX);
        if room.len() < length {
            room.resize(length, 0);
        }
        reply
            .emit(room)
            .map_err(|error| Error::new("answering a message", error.to_string()))?;
        let mut left = &room[..length];
        while !left.is_empty() {
            match send(raw(stream), left, MsgFlags::MSG_NOSIGNAL) {
                Ok(count) => left = &left[count..],
                Err(Errno::EAGAIN | Errno::EINTR) if !self.signal.stopped() => {}
                Err(Errno::EAGAIN | Errno::EPIPE | Errno::ECONNRESET) => return Ok(false),
                Err(error) => return Err(error).during(|| "answering a message"),
            }
        }
        Ok(true)
    }
}
