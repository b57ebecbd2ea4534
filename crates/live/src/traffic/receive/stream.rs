//! Reception of a flow over a stream.

use std::io::ErrorKind;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{
    MsgFlags, SockFlag, SockaddrStorage, accept4, getpeername, send, setsockopt, sockopt,
};
use proto::MessageStream;
use wire::control::Meter;
use wire::message::{HEADER_LEN, Message};

use super::out_of_order::RateStarts;
use super::recorder::Arrival;
use super::{BEGIN, LOOK, TIMEOUT, Waiting, raw};
use crate::clock;
use crate::deadline::receive;
use crate::error::{During, Error, Result};
use crate::sockets::plain;
use crate::sys::inbox::Inbox;
use crate::traffic::options::{self, mark};

/// Octets per read.
const READ: usize = 1 << 18;

/// Octets per write of an echo, which may have many times as many.
const WRITE: usize = 1 << 18;

impl Waiting {
    pub(super) fn take_stream(&mut self) -> Result<()> {
        let stream = match self.connected {
            true => self.socket.try_clone().during(|| "sharing a socket")?,
            false => match self.accept()? {
                Some(stream) => stream,
                None => return Ok(()),
            },
        };
        setsockopt(&stream, sockopt::TcpNoDelay, &true).during(|| "switching Nagle's algorithm")?;
        if self.flow.dscp != 0 {
            mark(stream.as_fd(), self.peer, self.flow.dscp)?;
        }
        self.stamp(&stream)?;
        let mut rate_starts = RateStarts::new(&stream, self.flow.cookie.len() as u64)?;
        self.take_messages(&stream, &mut rate_starts)?;
        if self.timed() {
            rate_starts.finish(&stream, &self.recorder)?;
        }
        Ok(())
    }

    /// Whether a log needs the arrivals of its messages.
    fn timed(&self) -> bool {
        self.flow.meter == Meter::OneWay && self.recorder.logs()
    }

    fn take_messages(&mut self, stream: &OwnedFd, rate_starts: &mut RateStarts) -> Result<()> {
        let timed = self.timed();
        let mut inbox = Inbox::of_stream(READ);
        let mut messages = MessageStream::new();
        let mut complete = Vec::new();
        let mut reply = Vec::new();
        let mut latest = clock::monotonic();
        while let Ok(permit) = self.deadline.permit() {
            let taken = match inbox.take(stream.as_fd(), self.flow.busy, permit) {
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
            let mut received = None;
            for message in complete.drain(..) {
                if message.length > self.flow.largest {
                    return Err(Error::new(
                        "reading a stream",
                        "a message is larger than was said",
                    ));
                }
                match self.flow.meter {
                    Meter::OneWay => received = Some(self.recorder.record(message, arrival)),
                    Meter::RoundTrip => {
                        self.recorder.answered(message, Some(arrival));
                        if !self.answer(stream, message, &mut reply)? {
                            return Ok(());
                        }
                    }
                }
            }
            if let Some(received) = received.filter(|_| timed) {
                rate_starts.arrived(received, stream, &self.recorder)?;
            }
        }
        Ok(())
    }

    /// Accepts the connection that shows the cookie; others are closed.
    pub(super) fn accept(&self) -> Result<Option<OwnedFd>> {
        let deadline = self.deadline.within(BEGIN);
        while deadline.permit().is_ok() && !self.is_over(clock::monotonic()) {
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
        let from = from.as_ref().and_then(plain);
        if from.is_none_or(|from| from.ip() != self.peer) {
            return Ok(false);
        }
        options::set_read_timeout(stream.as_fd(), LOOK)?;
        let deadline = self.deadline.within(TIMEOUT);
        let (mut shown, mut filled) = ([0; 16], 0);
        while filled < shown.len() {
            let Ok(permit) = deadline.permit() else {
                return Ok(false);
            };
            match receive(stream, &mut shown[filled..], MsgFlags::empty(), permit) {
                Ok(count) if count > 0 => filled += count,
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Ok(_) | Err(_) => return Ok(false),
            }
        }
        Ok(shown == self.flow.cookie)
    }

    /// Sends a message back, from `room`, which holds no more than [`WRITE`] octets.
    /// Returns whether the sender still accepts it.
    fn answer(&self, stream: &OwnedFd, message: Message, room: &mut Vec<u8>) -> Result<bool> {
        let Some(reply) = message.reply_in_full() else {
            return Ok(true);
        };
        let length = usize::try_from(reply.length).unwrap_or(usize::MAX);
        if room.len() < length.min(WRITE) {
            room.resize(length.min(WRITE), 0);
        }
        reply
            .emit(room)
            .map_err(|error| Error::new("answering a message", error.to_string()))?;
        let mut sent = 0;
        while sent < length {
            // The sender may read an octet now and then.
            if self.deadline.permit().is_err() {
                return Ok(false);
            }
            // All octets behind the header are zero.
            let start = sent.min(HEADER_LEN);
            let end = room.len().min(start + (length - sent));
            match send(raw(stream), &room[start..end], MsgFlags::MSG_NOSIGNAL) {
                Ok(count) => sent += count,
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(Errno::EPIPE | Errno::ECONNRESET) => return Ok(false),
                Err(error) => return Err(error).during(|| "answering a message"),
            }
        }
        Ok(true)
    }
}
