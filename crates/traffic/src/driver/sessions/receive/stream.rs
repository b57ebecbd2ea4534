//! Reception of a flow over a stream.

use meter::{MessageStream, Received};
use units::Time;
use wire::control::Meter;
use wire::message::{HEADER_LEN, Message};

use super::out_of_order::RateStarts;
use super::recorder::Arrival;
use super::{BEGIN, LOOK, Waiting};
use crate::driver::callers::Callers;
use crate::driver::sessions::send::waiting;
use crate::machine::trial_token::Token;
use os::clock;
use os::error::{Error, OperationContext, Result};
use os::socket::{Errno, MsgFlags, Socket};
use os::socket::{receive, receive_stamped, send, set_code_point, set_no_delay, set_timeout};

/// Bytes per read.
const READ: usize = 1 << 18;

/// Bytes per write of an echo, which may have many times as many.
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
        set_no_delay(&stream)?;
        if self.flow.dscp != 0 {
            set_code_point(&stream, self.peer, self.flow.dscp)?;
        }
        self.stamp(&stream)?;
        match self.flow.meter {
            Meter::OneWay => self.count_messages(&stream),
            Meter::RoundTrip => self.answer_messages(&stream),
        }
    }

    /// Counts the messages of a stream.
    fn count_messages(&mut self, stream: &Socket) -> Result<()> {
        let mut rate_starts = match self.recorder.logs() {
            true => RateStarts::new(stream, self.flow.cookie.len() as u64)?,
            false => None,
        };
        let mut room = vec![0; READ];
        let mut messages = MessageStream::new();
        let mut latest = clock::monotonic();
        while let Some((length, arrival)) = self.next_piece(stream, &mut room, latest)? {
            latest = arrival.read;
            let mut received = None;
            let mut piece = &room[..length];
            while let Some(message) = self.next_of_any_length(&mut messages, &mut piece)? {
                received = Some(match message {
                    Received::Whole(message) => self.recorder.record(message, arrival),
                    Received::Short(message) => self.recorder.record_short(message, arrival),
                });
            }
            if let Some((received, rate_starts)) = received.zip(rate_starts.as_mut()) {
                rate_starts.arrived(received, stream, &self.recorder)?;
            }
        }
        if let Some(rate_starts) = rate_starts {
            rate_starts.finish(stream, &self.recorder)?;
        }
        Ok(())
    }

    /// Answers the messages of a stream.
    fn answer_messages(&mut self, stream: &Socket) -> Result<()> {
        let mut room = vec![0; READ];
        let mut reply = Vec::new();
        let mut messages = MessageStream::new();
        let mut latest = clock::monotonic();
        while let Some((length, arrival)) = self.next_piece(stream, &mut room, latest)? {
            latest = arrival.read;
            let mut piece = &room[..length];
            while let Some(message) = self.next_message(&mut messages, &mut piece)? {
                let taken = self.answer(stream, message, &mut reply)?;
                // The record is made while the answer travels.
                self.recorder.answered(message, arrival);
                if !taken {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Reads the next bytes of the stream into `room`, after those at `latest`; `None` at its
    /// end, or at that of the flow. Only arrivals that are measured have stamps.
    fn next_piece(
        &mut self,
        stream: &Socket,
        room: &mut [u8],
        latest: Time,
    ) -> Result<Option<(usize, Arrival)>> {
        let flags = waiting(self.flow.busy);
        let mut now = latest;
        while let Ok(permit) = self.deadline.permit_at(now) {
            let read = match self.flow.meter {
                Meter::OneWay => receive_stamped(stream, room, flags, permit)
                    .map(|taken| (taken.length, taken.stamp)),
                Meter::RoundTrip => {
                    receive(stream, room, flags, permit).map(|length| (length, None))
                }
            };
            match read {
                // The sender was killed: the data received so far count.
                Ok((0, _)) | Err(Errno::ECONNRESET) => break,
                Ok((length, stamp)) => {
                    let read = clock::monotonic();
                    return Ok(Some((length, Arrival { read, stamp })));
                }
                Err(Errno::EAGAIN | Errno::EINTR) => {
                    self.recorder.idle();
                    if self.is_over(latest) {
                        break;
                    }
                    now = clock::monotonic();
                }
                Err(error) => return Err(error).during(|| "receiving a stream"),
            }
        }
        Ok(None)
    }

    /// The next message that `piece` completes, as [`MessageStream::next`].
    fn next_message(
        &self,
        messages: &mut MessageStream,
        piece: &mut &[u8],
    ) -> Result<Option<Message>> {
        let next = messages.next(piece);
        let next = next.map_err(|error| unreadable(&error.to_string()))?;
        self.check_size(next.map_or(0, |message| message.length))?;
        Ok(next)
    }

    /// The same, as [`MessageStream::next_of_any_length`].
    fn next_of_any_length(
        &self,
        messages: &mut MessageStream,
        piece: &mut &[u8],
    ) -> Result<Option<Received>> {
        let next = messages.next_of_any_length(piece);
        let next = next.map_err(|error| unreadable(&error.to_string()))?;
        if let Some(Received::Whole(message)) = next {
            self.check_size(message.length)?;
        }
        Ok(next)
    }

    fn check_size(&self, length: u32) -> Result<()> {
        match length > self.flow.largest {
            true => Err(unreadable("a message is larger than announced")),
            false => Ok(()),
        }
    }

    /// Accepts the connection that shows the cookie; others are reset.
    pub(super) fn accept(&self) -> Result<Option<Socket>> {
        let deadline = self.deadline.within(BEGIN);
        // The kernels' handshake has shown that the sender has its address.
        let from = (!self.is_apart).then_some(self.peer);
        let token = Token::new(self.flow.cookie);
        let mut callers = Callers::new(&self.socket, from, token, 1, false)?;
        let mut entered = None;
        while entered.is_none() && deadline.permit().is_ok() && !self.is_over(clock::monotonic()) {
            let soon = Some(clock::monotonic() + LOOK);
            callers.hear(None, soon, &deadline, |stream| entered = Some(stream));
        }
        if let Some(stream) = &entered {
            set_timeout(stream, LOOK)?;
        }
        Ok(entered)
    }

    /// Sends a message back, from `room`, which holds no more than [`WRITE`] bytes.
    /// Returns whether the sender still accepts it.
    fn answer(&self, stream: &Socket, message: Message, room: &mut Vec<u8>) -> Result<bool> {
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
        loop {
            // All bytes behind the header are zero.
            let start = sent.min(HEADER_LEN);
            let end = room.len().min(start + (length - sent));
            match send(stream, &room[start..end], MsgFlags::MSG_NOSIGNAL) {
                Ok(count) if sent + count == length => return Ok(true),
                Ok(count) => sent += count,
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(Errno::EPIPE | Errno::ECONNRESET) => return Ok(false),
                Err(error) => return Err(error).during(|| "answering a message"),
            }
            // The sender may read a byte now and then.
            if self.deadline.permit().is_err() {
                return Ok(false);
            }
        }
    }
}

fn unreadable(why: &str) -> Error {
    Error::new("reading a stream", why)
}
