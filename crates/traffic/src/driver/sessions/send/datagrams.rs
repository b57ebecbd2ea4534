//! Sending of datagrams, one or several per call.

use wire::control::Meter;
use wire::message::{Carrier, Echo, HEADER_LEN, Message};

use super::replies::collect_datagrams;
use super::{LOST, Log, Ready, is_passing, waiting};
use crate::driver::sessions::paced::Departures;
use crate::driver::sessions::unanswered::Unanswered;
use os::clock;
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::socket::{Errno, MsgFlags, cut, receive, send};

/// The longest datagram.
const LONGEST: usize = 1 << 16;

impl Ready {
    pub(super) fn send_datagrams(
        &mut self,
        departures: &mut Departures,
        log: &mut Log,
    ) -> Result<()> {
        if departures.one_at_a_time() {
            return self.exchange_datagrams(departures, log);
        }
        if self.flow.meter == Meter::OneWay {
            return if self.flow.options.segmentation > 1 {
                self.send_bundles(departures, log)
            } else {
                self.send_single(departures, log, None)
            };
        }
        self.send_and_collect(log, collect_datagrams, |ready, log, unanswered| {
            ready.send_single(departures, log, Some(unanswered))
        })
    }

    /// Hands datagrams to the kernel. One that a queue of this host drops in front of an
    /// interface counts as sent, and is lost on the path: the kernel reports it only
    /// because it keeps errors of the path for this socket
    /// ([`crate::driver::sessions::path_mtu`]).
    fn send_out(&self, bytes: &[u8]) -> std::result::Result<(), Errno> {
        match send(&self.socket, bytes, MsgFlags::empty()) {
            Ok(_) | Err(Errno::ENOBUFS) => Ok(()),
            Err(error) => Err(error),
        }
    }

    /// Sends one message per call.
    fn send_single(
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
            match self.send_out(&room[..size]) {
                Ok(_) => {
                    sequence += 1;
                    log.sent(&message, now);
                    if unanswered.is_none() {
                        self.log_sink.keep_sent(self.number, &message);
                    }
                }
                Err(error) if is_passing(error) => {
                    log.unsent(&message, error);
                    self.read_errors();
                    if let Some(unanswered) = &mut unanswered {
                        unanswered.forget(&message);
                    }
                }
                Err(error) => return Err(error).during(|| "sending a datagram"),
            }
        }
        Ok(())
    }

    /// Sends several messages of one size per call; the kernel or the network card
    /// splits them into datagrams. They leave together when the last of them is due.
    fn send_bundles(&mut self, departures: &mut Departures, log: &mut Log) -> Result<()> {
        let mut room = vec![0; LONGEST];
        let most = usize::from(self.flow.options.segmentation);
        let mut bundle: Vec<Message> = Vec::with_capacity(most);
        let mut size = 0;
        let mut sequence = 0;
        while let Some(departure) = departures.next() {
            if size != departure.size {
                self.send_bundle(&mut bundle, size, &mut room, log)?;
                size = departure.size;
                cut(&self.socket, size).during(|| "asking for UDP segmentation")?;
            }
            let Some(now) = departures.wait(departure) else {
                break;
            };
            let message = self.message(departures, sequence, size, log.since_epoch(now));
            sequence += 1;
            bundle.push(message);
            if bundle.len() >= most || (bundle.len() + 1) * size >= LONGEST - 64 {
                self.send_bundle(&mut bundle, size, &mut room, log)?;
            }
        }
        self.send_bundle(&mut bundle, size, &mut room, log)
    }

    fn send_bundle(
        &mut self,
        bundle: &mut Vec<Message>,
        size: usize,
        room: &mut [u8],
        log: &mut Log,
    ) -> Result<()> {
        if bundle.is_empty() {
            return Ok(());
        }
        let now = clock::monotonic();
        let sent = log.since_epoch(now);
        for (message, place) in bundle.iter_mut().zip(room.chunks_mut(size)) {
            message.sent = sent;
            self.write_message(message, Carrier::Datagram, place)?;
        }
        let bytes = &room[..bundle.len() * size];
        match self.send_out(bytes) {
            Ok(_) => {
                for message in bundle.iter() {
                    log.sent(message, now);
                    self.log_sink.keep_sent(self.number, message);
                }
            }
            Err(error) if is_passing(error) => {
                bundle.iter().for_each(|message| log.unsent(message, error));
                self.read_errors();
            }
            Err(error) => return Err(error).during(|| "sending datagrams"),
        }
        bundle.clear();
        Ok(())
    }

    /// Sends each message after the echo of the previous one has arrived or is lost.
    fn exchange_datagrams(&mut self, departures: &mut Departures, log: &mut Log) -> Result<()> {
        let mut room = vec![0; LONGEST];
        let mut answer = vec![0; LONGEST];
        let flags = waiting(self.flow.options.busy);
        let mut sequence = 0;
        while let Some((size, now)) = departures.wait_for_next() {
            let message = self.message(departures, sequence, size, log.since_epoch(now));
            self.write_message(&message, Carrier::Datagram, &mut room)?;
            match self.send_out(&room[..size]) {
                Ok(_) => {}
                Err(error) if is_passing(error) => {
                    log.unsent(&message, error);
                    self.read_errors();
                    continue;
                }
                Err(error) => return Err(error).during(|| "sending a datagram"),
            }
            sequence += 1;
            log.sent(&message, now);
            // The last echo counts even if the flow is stopped meanwhile.
            let deadline = Deadline::fixed_at(now + LOST);
            let mut read = now;
            let mut back = None;
            while back.is_none()
                && let Ok(permit) = deadline.permit_at(read)
            {
                let received = receive(&self.socket, &mut answer, flags, permit);
                read = clock::monotonic();
                match received {
                    Ok(length) => match echo(&answer[..length]) {
                        Some(echo) if echo.is_echo_of(&message) => back = Some(read),
                        Some(echo) => self.other_echo(log, &echo, read),
                        None => {}
                    },
                    Err(error) if is_passing(error) => self.read_errors(),
                    Err(error) => return Err(error).during(|| "taking an echo"),
                }
            }
            self.exchanged(log, &message, back);
        }
        Ok(())
    }
}

/// Writes a header, or what fits of it into a one-way message.
pub(in super::super) fn emit(message: &Message, carrier: Carrier, room: &mut [u8]) -> Result<()> {
    let size = usize::try_from(message.length).unwrap_or(usize::MAX);
    let emitted = match room.get_mut(..size) {
        Some(short) if size < HEADER_LEN && message.echo == Echo::Unwanted => {
            message.emit_short(short, carrier)
        }
        _ => message.emit(room),
    };
    emitted.map_err(|error| Error::new("writing a message", error.to_string()))
}

/// The echo that a datagram holds, if any.
fn echo(datagram: &[u8]) -> Option<Message> {
    let message = Message::parse(datagram).ok()?;
    (message.echo == Echo::Reply).then_some(message)
}
