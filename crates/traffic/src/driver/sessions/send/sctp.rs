//! Sending of messages over an association of SCTP, on its streams in turn.

use units::Time;
use wire::control::{Meter, Protocol};
use wire::message::{Carrier, Echo, Message};

use super::replies::Replies;
use super::stall_timer::{STALLED, StallTimer};
use super::stream::{closed_early, no_echo};
use super::{AGAIN, Log, Ready, TRIES, is_passing, waiting};
use crate::driver::sessions::association::{LONGEST, Messages, Piece, stream_of};
use crate::driver::sessions::paced::Departures;
use crate::driver::sessions::unanswered::Unanswered;
use os::clock;
use os::deadline::{Deadline, Ended};
use os::error::{Error, OperationContext, Result};
use os::socket::{Errno, MsgFlags, Socket};
use os::socket::{end_stream, receive, reset_on_close, send_on_stream, stamp_arrivals};

impl Ready {
    pub(super) fn send_association(
        &mut self,
        departures: &mut Departures,
        log: &mut Log,
    ) -> Result<()> {
        if departures.one_at_a_time() {
            self.exchange_on_streams(departures, log)?;
        } else if self.flow.meter == Meter::OneWay {
            self.send_on_streams(departures, log, None)?;
        } else {
            self.send_and_collect(log, collect, |ready, log, unanswered| {
                ready.send_on_streams(departures, log, Some(unanswered))
            })?;
        }
        if log.stall.is_some() {
            return reset_on_close(&self.socket);
        }
        // Only now: an association that ends takes no echoes [RFC9260 s9.2].
        match end_stream(&self.socket) {
            Ok(()) | Err(Errno::ENOTCONN | Errno::EPIPE) => Ok(()),
            Err(error) => Err(error).during(|| "closing a flow"),
        }
    }

    /// Waits for the answer to a cookie that cannot be lost: messages may overtake it.
    pub(super) fn see_answer(&self, cookie: &[u8; 16], deadline: &Deadline) -> Result<()> {
        let doing = || format!("opening the flow {}", self.flow.name.as_str());
        let deadline = deadline.within(AGAIN * u64::from(TRIES));
        let mut room = [0; 64];
        while let Ok(permit) = deadline.permit() {
            match receive(&self.socket, &mut room, MsgFlags::empty(), permit) {
                Ok(0) => return Err(Error::new(doing(), "the receiver closed it at once")),
                Ok(length) if room[..length] == *cookie => return Ok(()),
                Ok(_) | Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(error) => return Err(error).during(doing),
            }
        }
        Err(Error::new(
            doing(),
            "no answer; is the port open in the firewall there?",
        ))
    }

    fn send_on_streams(
        &mut self,
        departures: &mut Departures,
        log: &mut Log,
        mut unanswered: Option<&mut Unanswered>,
    ) -> Result<()> {
        let mut room = vec![0; LONGEST];
        let mut sequence = 0;
        while let Some((size, now)) = departures.wait_for_next() {
            log.begin(now);
            let message = self.message(departures, sequence, size, log.since_epoch(now));
            self.write_message(&message, Carrier::Datagram, &mut room)?;
            if let Some(unanswered) = &mut unanswered {
                unanswered.ask(&message, &mut self.log_sink);
            }
            if !self.put(&room[..size], sequence, departures, log)? {
                if let Some(unanswered) = &mut unanswered {
                    unanswered.forget(&message);
                }
                break;
            }
            sequence += 1;
            log.sent(&message, now);
            if unanswered.is_none() {
                self.log_sink.keep_sent(self.number, &message);
            }
        }
        Ok(())
    }

    /// Sends each message after the echo of the previous one has arrived.
    fn exchange_on_streams(&mut self, departures: &mut Departures, log: &mut Log) -> Result<()> {
        let mut room = vec![0; LONGEST];
        let mut echoes = Messages::new();
        let mut sequence = 0;
        while let Some((size, now)) = departures.wait_for_next() {
            let message = self.message(departures, sequence, size, log.since_epoch(now));
            self.write_message(&message, Carrier::Datagram, &mut room)?;
            if !self.put(&room[..size], sequence, departures, log)? {
                break;
            }
            log.sent(&message, now);
            sequence += 1;
            let back = self.echo_of(&message, &mut echoes, departures, log)?;
            self.exchanged(log, &message, back);
        }
        Ok(())
    }

    /// Waits for the echo of a message; `None` if the flow was stopped before.
    fn echo_of(
        &self,
        message: &Message,
        echoes: &mut Messages,
        departures: &Departures,
        log: &mut Log,
    ) -> Result<Option<Time>> {
        let flags = waiting(self.flow.options.busy);
        let mut read = clock::monotonic();
        let deadline = departures.deadline(read + STALLED);
        loop {
            let permit = match deadline.permit_at(read) {
                Ok(permit) => permit,
                Err(Ended::Late) => return Err(no_echo()),
                Err(Ended::Stopped | Ended::Interrupted) => return Ok(None),
            };
            let piece = echoes.read(&self.socket, flags, permit);
            read = clock::monotonic();
            match piece {
                Ok(Piece::Whole { length, .. }) => match Message::parse(echoes.bytes(length)) {
                    Ok(echo) if echo.is_echo_of(message) => return Ok(Some(read)),
                    Ok(echo) if echo.echo == Echo::Reply => log.round_trips.unexpected += 1,
                    _ => {}
                },
                Ok(Piece::Part) | Err(Errno::EAGAIN | Errno::EINTR) => {}
                Ok(Piece::End | Piece::TooLong) => return Err(closed_early()),
                Err(error) => return Err(error).during(|| "taking an echo"),
            }
        }
    }

    /// Hands a whole message to the kernel, which waits until its buffer has room, even if the
    /// flow is to end meanwhile. The time is limited, however slowly the receiver reads.
    /// Returns whether the kernel took it; if not, the log may have the reason.
    fn put(
        &self,
        bytes: &[u8],
        sequence: u64,
        departures: &Departures,
        log: &mut Log,
    ) -> Result<bool> {
        let (streams, unordered) = match self.flow.transport {
            Some(Protocol::Sctp { streams, unordered }) => (streams, unordered),
            _ => (1, false),
        };
        let stream = stream_of(sequence, streams);
        let mut stall_timer = None::<StallTimer>;
        loop {
            match send_on_stream(&self.socket, bytes, stream, unordered) {
                Ok(()) => return Ok(true),
                Err(Errno::EAGAIN | Errno::EINTR) => {
                    let now = clock::monotonic();
                    let stall_timer = stall_timer.get_or_insert_with(|| StallTimer::new(now));
                    log.stall = stall_timer.look(now, departures.is_over(now));
                    if log.stall.is_some() {
                        return Ok(false);
                    }
                }
                Err(Errno::EPIPE | Errno::ECONNRESET) if departures.stopped() => return Ok(false),
                Err(Errno::EPIPE | Errno::ECONNRESET) => return Err(closed_early()),
                Err(error) => return Err(error).during(|| "sending a message"),
            }
        }
    }
}

/// Receives echoes until all are back, or none has arrived for long enough.
fn collect(socket: &Socket, mut replies: Replies) -> Result<Replies> {
    stamp_arrivals(socket)?;
    let mut echoes = Messages::new();
    while let Some(permit) = replies.permit() {
        match echoes.read(socket, MsgFlags::empty(), permit) {
            Ok(Piece::Whole { length, stamp }) => {
                let read = clock::monotonic();
                if let Ok(message) = Message::parse(echoes.bytes(length)) {
                    replies.arrived(&message, stamp, read);
                }
            }
            Ok(Piece::Part) => {}
            Ok(Piece::End | Piece::TooLong) => break,
            Err(error) if is_passing(error) => {}
            Err(error) => return Err(error).during(|| "collecting echoes"),
        }
    }
    Ok(replies)
}
