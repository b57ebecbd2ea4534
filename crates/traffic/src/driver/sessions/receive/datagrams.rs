//! Reception of a flow of datagrams.

use std::net::SocketAddr;

use units::{Span, Time};
use wire::control::Meter;
use wire::message::{Carrier, Echo, HEADER_LEN, Message, Short};

use super::recorder::Arrival;
use super::{BEGIN, Waiting};
use crate::driver::sessions::send::{is_passing, waiting};
use os::clock;
use os::error::{OperationContext, Result};
use os::random::random;
use os::socket::{Errno, Inbox, MsgFlags};
use os::socket::{connect, receive, receive_from, send, set_code_point, stated_drops};

/// The longest datagram, merged ones included.
const LONGEST: usize = 1 << 16;

/// A lower bound of the space that a datagram takes in a receive buffer: the kernel
/// counts its own records of some 600 bytes with each.
const LEAST_SPACE: u64 = 512;

/// If datagrams are closer than this, the receiver polls every [`LULL`] instead of
/// waiting in the kernel. There every packet of the sender would wake it; on a common
/// host, or through virtual interrupts, this costs the sender more than sending.
const DENSE: Span = Span::from_micros(20);
const LULL: Span = Span::from_micros(100);

impl Waiting {
    pub(super) fn take_datagrams(&mut self) -> Result<()> {
        if self.connected {
            self.stamp(&self.socket)?;
        } else if !self.meet()? {
            return Ok(());
        }
        self.dropped_before = self.dropped()?;
        match self.flow.meter {
            Meter::OneWay => self.count_datagrams()?,
            Meter::RoundTrip => self.answer_datagrams()?,
        }
        let meanwhile = self.dropped_before.zip(self.dropped()?);
        let meanwhile = meanwhile.map(|(before, after)| after.wrapping_sub(before).into());
        self.recorder.overflowed(meanwhile);
        Ok(())
    }

    /// Datagrams dropped so far for lack of room in the socket. The control data of
    /// datagrams do not include drops after the last one.
    fn dropped(&self) -> Result<Option<u32>> {
        stated_drops(&self.socket).during(|| "asking how many datagrams found no room")
    }

    /// Waits for a datagram with the cookie from the sender's address, connects the
    /// socket to it, and answers with the cookie. Other datagrams are not answered.
    /// Returns whether it arrived.
    pub(super) fn meet(&mut self) -> Result<bool> {
        let mut room = [0; LONGEST];
        let deadline = self.deadline.within(BEGIN);
        while let Ok(permit) = deadline.permit() {
            if self.is_over(clock::monotonic()) {
                break;
            }
            let (length, from) =
                match receive_from(&self.socket, &mut room, MsgFlags::empty(), permit) {
                    Ok(came) => came,
                    Err(Errno::EAGAIN | Errno::EINTR) => continue,
                    Err(error) => return Err(error).during(|| "waiting for a flow"),
                };
            let from = from.filter(|_| room[..length] == self.flow.cookie);
            let is_allowed = |from: &SocketAddr| self.is_apart || from.ip() == self.peer;
            let Some(from) = from.filter(is_allowed) else {
                continue;
            };
            connect(&self.socket, from).during(|| "answering a flow")?;
            self.discard_earlier(&mut room);
            if self.flow.dscp != 0 {
                set_code_point(&self.socket, self.peer, self.flow.dscp)?;
            }
            if self.is_apart && !self.is_received(&mut room)? {
                return Ok(false);
            }
            self.stamp(&self.socket)?;
            self.show_cookie();
            return Ok(true);
        }
        Ok(false)
    }

    /// Whether the sender receives at the address from which its cookie came, which is another
    /// one than that of its control connection: it returns a new cookie, which was sent there
    /// and is no longer than the first.
    fn is_received(&mut self, room: &mut [u8]) -> Result<bool> {
        let first = self.flow.cookie;
        self.flow.cookie = random()?;
        self.show_cookie();
        let deadline = self.deadline.within(BEGIN);
        while let Ok(permit) = deadline.permit() {
            match receive(&self.socket, room, MsgFlags::empty(), permit) {
                Ok(length) if room[..length] == self.flow.cookie => return Ok(true),
                // The answer was lost.
                Ok(length) if room[..length] == first => self.show_cookie(),
                Ok(_) => {}
                Err(error) if is_passing(error) => {}
                Err(error) => return Err(error).during(|| "waiting for a flow"),
            }
        }
        Ok(false)
    }

    /// Discards the datagrams of others that arrived before the socket was connected:
    /// at most as many as fit its buffer, because the sender may send all the time.
    fn discard_earlier(&self, room: &mut [u8]) {
        for _ in 0..=self.buffer / LEAST_SPACE {
            let Ok(permit) = self.deadline.permit() else {
                return;
            };
            if receive(&self.socket, room, MsgFlags::MSG_DONTWAIT, permit).is_err() {
                return;
            }
        }
    }

    /// Answers a cookie; if the answer is lost, the sender repeats the cookie.
    pub(super) fn show_cookie(&self) {
        let _ = send(&self.socket, &self.flow.cookie, MsgFlags::empty());
    }

    fn count_datagrams(&mut self) -> Result<()> {
        let room = if self.flow.merge { LONGEST } else { HEADER_LEN };
        let mut inbox = Inbox::of_datagrams(room);
        let mut latest = clock::monotonic();
        while let Ok(permit) = self.deadline.permit()
            && !self.is_complete()
        {
            // Checked before polling: after a delay of this thread, datagrams may be
            // waiting.
            let is_over = self.is_over(latest);
            match inbox.take(&self.socket, self.flow.busy, permit) {
                Ok(_) => {
                    let before = std::mem::replace(&mut latest, clock::monotonic());
                    let was_warming_up = self.recorder.is_warming_up();
                    self.count(&inbox, latest);
                    if was_warming_up && !self.recorder.is_warming_up() {
                        self.dropped_before = self.dropped()?;
                    }
                    if !self.flow.busy && is_dense(&inbox, latest.since(before)) {
                        clock::sleep(LULL);
                    }
                }
                // The flow is quiet only if no datagram is waiting: the recorder may
                // have blocked on the disk.
                Err(error) if is_passing(error) => {
                    self.recorder.idle();
                    if is_over {
                        break;
                    }
                }
                Err(error) => return Err(error).during(|| "receiving datagrams"),
            }
        }
        Ok(())
    }

    /// Records the datagrams of one call.
    fn count(&mut self, inbox: &Inbox, read: Time) {
        for (place, taken) in inbox.taken().iter().enumerate() {
            let bytes = inbox.bytes(place);
            if *bytes == self.flow.cookie {
                if !self.connected {
                    self.show_cookie();
                }
                continue;
            }
            let arrival = Arrival {
                read,
                stamp: taken.stamp,
            };
            match taken.merged {
                None => self.count_one(bytes, taken.length, arrival),
                Some(size) => {
                    for datagram in bytes.chunks(size) {
                        self.count_one(datagram, datagram.len(), arrival);
                    }
                    self.recorder.merged();
                }
            }
        }
    }

    /// A datagram that does not match its header, or what fits of it, is not ours.
    pub(super) fn count_one(&mut self, bytes: &[u8], length: usize, arrival: Arrival) {
        if length < HEADER_LEN {
            let short = bytes.get(..length);
            if let Some(Ok(message)) = short.map(|all| Short::parse(all, Carrier::Datagram)) {
                self.recorder.record_short(message, arrival);
            }
            return;
        }
        let message = Message::parse(bytes).ok();
        let fits = |message: &Message| usize::try_from(message.length) == Ok(length);
        if let Some(message) = message.filter(fits) {
            self.recorder.record(message, arrival);
        }
    }

    /// Sends every datagram back with the flag of an echo: never more bytes than
    /// arrived.
    fn answer_datagrams(&mut self) -> Result<()> {
        let mut room = vec![0; LONGEST];
        let flags = waiting(self.flow.busy);
        let mut latest = clock::monotonic();
        let mut now = latest;
        while let Ok(permit) = self.deadline.permit_at(now) {
            // As above: silence is checked first.
            let is_over = self.is_over(latest);
            let received = receive(&self.socket, &mut room, flags, permit);
            now = clock::monotonic();
            let length = match received {
                Ok(length) => length,
                Err(error) if is_passing(error) => {
                    self.recorder.idle();
                    if is_over {
                        return Ok(());
                    }
                    continue;
                }
                Err(error) => return Err(error).during(|| "receiving datagrams"),
            };
            // A request for timestamps would cost each round trip more than the clock
            // does.
            let arrival = Arrival {
                read: now,
                stamp: None,
            };
            let datagram = &mut room[..length];
            let message = match Message::parse(datagram) {
                Ok(message) if usize::try_from(message.length) == Ok(length) => message,
                _ => {
                    if *datagram == self.flow.cookie {
                        self.show_cookie();
                    }
                    continue;
                }
            };
            if message.echo == Echo::Wanted
                && let Some(reply) = message.reply_in_full()
                && reply.emit(datagram).is_ok()
            {
                // An echo without room is lost, as datagrams are.
                let _ = send(&self.socket, datagram, MsgFlags::empty());
            }
            self.recorder.answered(message, arrival);
            if self.is_complete() {
                return Ok(());
            }
            latest = now;
        }
        Ok(())
    }
}

/// Whether datagrams arrive so densely that more may aggregate before the next poll. A
/// full inbox left more behind; datagrams without a timestamp count as arriving when
/// they are read.
fn is_dense(inbox: &Inbox, passed: Option<Span>) -> bool {
    let taken = inbox.taken();
    let long = DENSE * u64::try_from(taken.len()).unwrap_or(0);
    let stamped = taken.iter().all(|one| one.stamp.is_some());
    stamped && !inbox.is_full() && passed.is_some_and(|passed| passed < long)
}
