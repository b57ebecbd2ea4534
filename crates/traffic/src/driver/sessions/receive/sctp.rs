//! Reception of a flow over an association of SCTP.

use wire::control::{Meter, Protocol};
use wire::message::{Echo, Message};

use super::Waiting;
use super::recorder::Arrival;
use crate::driver::sessions::association::{Messages, Piece, stream_of};
use crate::driver::sessions::send::waiting;
use os::clock;
use os::error::{Error, OperationContext, Result};
use os::socket::{Errno, Socket, send_on_stream, set_code_point};

impl Waiting {
    pub(super) fn take_association(&mut self) -> Result<()> {
        let association = match self.connected {
            true => self.socket.try_clone().during(|| "sharing a socket")?,
            false => match self.accept_association()? {
                Some(association) => association,
                None => return Ok(()),
            },
        };
        self.stamp(&association)?;
        let flags = waiting(self.flow.busy);
        let mut messages = Messages::new();
        let mut latest = clock::monotonic();
        let mut now = latest;
        while let Ok(permit) = self.deadline.permit_at(now) {
            let read = messages.read(&association, flags, permit);
            now = clock::monotonic();
            let (length, stamp) = match read {
                Ok(Piece::Whole { length, stamp }) => (length, stamp),
                Ok(Piece::Part) => continue,
                Ok(Piece::End) => break,
                Ok(Piece::TooLong) => {
                    let why = "a message is larger than announced";
                    return Err(Error::new("reading an association", why));
                }
                Err(Errno::EAGAIN | Errno::EINTR) => {
                    self.recorder.idle();
                    if self.is_over(latest) {
                        break;
                    }
                    continue;
                }
                Err(error) => return Err(error).during(|| "receiving messages of SCTP"),
            };
            latest = now;
            let arrival = Arrival { read: now, stamp };
            let bytes = messages.bytes(length);
            match self.flow.meter {
                Meter::OneWay => self.count_one(bytes, length, arrival),
                Meter::RoundTrip => {
                    if !self.answer_on(&association, bytes, arrival)? {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Accepts the association that shows the cookie, and answers with it. The sender waits for
    /// the answer: its messages may overtake what it sent before on another stream.
    pub(super) fn accept_association(&self) -> Result<Option<Socket>> {
        let Some(association) = self.accept()? else {
            return Ok(None);
        };
        if self.flow.dscp != 0 {
            set_code_point(&association, self.peer, self.flow.dscp)?;
        }
        match send_on_stream(&association, &self.flow.cookie, 0, false) {
            Ok(()) => Ok(Some(association)),
            // It has gone.
            Err(_) => Ok(None),
        }
    }

    /// Sends a message back with the flag of an echo, on its stream. Returns whether the sender
    /// still accepts it.
    fn answer_on(
        &mut self,
        association: &Socket,
        bytes: &mut [u8],
        arrival: Arrival,
    ) -> Result<bool> {
        let message = match Message::parse(bytes) {
            Ok(message) if usize::try_from(message.length) == Ok(bytes.len()) => message,
            _ => return Ok(true),
        };
        let wanted = message.echo == Echo::Wanted;
        if let Some(reply) = message.reply_in_full().filter(|_| wanted)
            && reply.emit(bytes).is_ok()
            && let Protocol::Sctp { streams, unordered } = self.flow.transport
        {
            let stream = stream_of(message.sequence, streams);
            loop {
                match send_on_stream(association, bytes, stream, unordered) {
                    Ok(()) => break,
                    Err(Errno::EAGAIN | Errno::EINTR) if self.deadline.permit().is_ok() => {}
                    Err(Errno::EAGAIN | Errno::EINTR | Errno::EPIPE | Errno::ECONNRESET) => {
                        return Ok(false);
                    }
                    Err(error) => return Err(error).during(|| "answering a message"),
                }
            }
        }
        self.recorder.answered(message, arrival);
        Ok(true)
    }
}
