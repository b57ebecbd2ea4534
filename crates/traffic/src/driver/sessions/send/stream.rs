//! Sending of messages over a stream.

use meter::MessageStream;
use wire::control::Meter;
use wire::message::Carrier;

use super::departures::Stamps;
use super::replies::collect_stream;
use super::stall_timer::{STALLED, Stall, StallTimer};
use super::{Log, Ready, waiting};
use crate::driver::sessions::paced::Departures;
use crate::driver::sessions::unanswered::Unanswered;
use os::clock;
use os::deadline::Ended;
use os::error::{Error, OperationContext, Result};
use os::socket::{Errno, MsgFlags, borrowed, end_stream, receive, send, stuck_segment};

impl Ready {
    pub(super) fn send_stream(&mut self, departures: &mut Departures, log: &mut Log) -> Result<()> {
        if departures.one_at_a_time() {
            self.exchange_messages(departures, log)?;
            return self.close();
        }
        if self.flow.meter == Meter::OneWay {
            self.send_messages(departures, log, None)?;
            return self.close();
        }
        self.send_and_collect(log, collect_stream, |ready, log, unanswered| {
            let sent = ready.send_messages(departures, log, Some(unanswered));
            // Also after an error, so that the receiver is notified.
            let closed = ready.close();
            sent.and(closed)
        })
    }

    fn send_messages(
        &mut self,
        departures: &mut Departures,
        log: &mut Log,
        mut unanswered: Option<&mut Unanswered>,
    ) -> Result<()> {
        let mut room = Vec::new();
        let one_way = unanswered.is_none();
        let mut stamps = match one_way {
            true => Stamps::begin(borrowed(&self.socket), &self.flow.options, log.epoch)?,
            false => None,
        };
        let mut sequence = 0;
        while let Some((size, now)) = departures.wait_for_next() {
            if room.len() < size {
                room.resize(size, 0);
            }
            let message = self.message(departures, sequence, size, log.since_epoch(now));
            self.write_message(&message, Carrier::Stream, &mut room)?;
            log.begin_counting(&message, &self.socket)?;
            if let Some(unanswered) = &mut unanswered {
                unanswered.ask(&message, &mut self.log_sink);
            }
            let mut rest = &room[..size];
            if let Some(stamps) = &mut stamps {
                rest = stamps.begin_message(borrowed(&self.socket), sequence, rest)?;
            }
            if !self.write(rest, departures, log)? {
                if let Some(unanswered) = &mut unanswered {
                    unanswered.forget(&message);
                }
                break;
            }
            sequence += 1;
            log.sent(&message, now);
            if one_way {
                let at = log.since_epoch(now);
                log.smoothed_rtt.sample(at, &self.socket);
                self.log_sink.keep_sent(self.number, &message);
            }
        }
        if let Some(stamps) = stamps {
            log.departures = stamps.end(borrowed(&self.socket))?;
        }
        Ok(())
    }

    /// Sends each message after the echo of the previous one has arrived.
    fn exchange_messages(&mut self, departures: &mut Departures, log: &mut Log) -> Result<()> {
        let mut room = Vec::new();
        let mut answer = vec![0; 1 << 17];
        let mut stream = MessageStream::new();
        let flags = waiting(self.flow.options.busy);
        let mut deadline = departures.deadline(clock::monotonic());
        let mut sequence = 0;
        while let Some((size, now)) = departures.wait_for_next() {
            if room.len() < size {
                room.resize(size, 0);
            }
            let message = self.message(departures, sequence, size, log.since_epoch(now));
            self.write_message(&message, Carrier::Stream, &mut room)?;
            log.begin_counting(&message, &self.socket)?;
            if !self.write(&room[..size], departures, log)? {
                break;
            }
            log.sent(&message, now);
            // Regardless of partial progress of the echo.
            deadline.move_to(now + STALLED);
            let mut read = now;
            let mut back = None;
            while back.is_none() {
                let permit = match deadline.permit_at(read) {
                    Ok(permit) => permit,
                    Err(Ended::Late) => {
                        log.stall = self.stuck();
                        match log.stall {
                            None => return Err(no_echo()),
                            Some(_) => break,
                        }
                    }
                    Err(Ended::Stopped | Ended::Interrupted) => break,
                };
                let length = match receive(&self.socket, &mut answer, flags, permit) {
                    Ok(0) => return Err(closed_early()),
                    Ok(length) => length,
                    Err(Errno::EAGAIN | Errno::EINTR) if departures.is_over(read) => {
                        log.stall = self.stuck();
                        match log.stall {
                            None => 0,
                            Some(_) => break,
                        }
                    }
                    Err(Errno::EAGAIN | Errno::EINTR) => 0,
                    Err(error) => return Err(error).during(|| "taking an echo"),
                };
                read = clock::monotonic();
                stream
                    .receive(&answer[..length], |echo| match echo.is_echo_of(&message) {
                        true => back = Some(read),
                        false => log.round_trips.unexpected += 1,
                    })
                    .map_err(|error| Error::new("reading an echo", error.to_string()))?;
            }
            sequence += 1;
            self.exchanged(log, &message, back);
            if log.stall.is_some() {
                break;
            }
        }
        Ok(())
    }

    /// Writes a whole message, even if the flow is to end meanwhile, because half a
    /// message is useless. The time is limited, however slowly the receiver reads.
    /// Returns whether the receiver accepted it; if not, the log may have the reason.
    fn write(&self, bytes: &[u8], departures: &Departures, log: &mut Log) -> Result<bool> {
        let mut left = bytes;
        let mut stall_timer = None::<StallTimer>;
        while !left.is_empty() {
            match send(&self.socket, left, MsgFlags::MSG_NOSIGNAL) {
                Ok(count) if count == left.len() => break,
                Ok(count) => {
                    left = &left[count..];
                    let now = clock::monotonic();
                    let stall_timer = stall_timer.get_or_insert_with(|| StallTimer::new(now));
                    stall_timer.took(count);
                    log.stall = stall_timer.look(now, departures.is_over(now));
                }
                Err(Errno::EAGAIN | Errno::EINTR) => {
                    let now = clock::monotonic();
                    let is_over = departures.is_over(now);
                    let stall_timer = stall_timer.get_or_insert_with(|| StallTimer::new(now));
                    log.stall = stall_timer.look(now, is_over);
                    // Until its end, the path may recover.
                    if is_over || log.stall.is_some() {
                        log.stall = self.stuck().or(log.stall);
                    }
                }
                Err(Errno::EPIPE | Errno::ECONNRESET) if departures.stopped() => return Ok(false),
                Err(Errno::EPIPE | Errno::ECONNRESET) => return Err(closed_early()),
                Err(error) => return Err(error).during(|| "sending a message"),
            }
            if log.stall.is_some() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether TCP is stuck with a segment.
    fn stuck(&self) -> Option<Stall> {
        let segment = stuck_segment(&self.socket);
        segment.map(|size| Stall::Segments(size.into()))
    }

    /// Announces the end of the data; data in flight still arrive.
    fn close(&self) -> Result<()> {
        match end_stream(&self.socket) {
            Ok(()) | Err(Errno::ENOTCONN) => Ok(()),
            Err(error) => Err(error).during(|| "closing a flow"),
        }
    }
}

pub(super) fn closed_early() -> Error {
    Error::new("a flow", "the receiver closed it before its end")
}

pub(super) fn no_echo() -> Error {
    Error::new(
        "a flow",
        format!("the receiver did not return a message within {STALLED}"),
    )
}
