//! Datagrams of one sender.

use std::io::ErrorKind;
use std::os::fd::AsFd;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, SockaddrStorage, connect, recv, recvfrom, send};
use units::{Span, Time};
use wire::control::Meter;
use wire::message::{Echo, HEADER_LEN, Message};

use super::recorder::Arrival;
use super::{Waiting, raw};
use crate::clock;
use crate::error::{During, Result};
use crate::sys::inbox::Inbox;
use crate::sys::option;
use crate::traffic::options::{mark, plain};

/// The longest datagram that there is, merged ones too.
const LONGEST: usize = 1 << 16;

/// Where datagrams come closer than this, the receiver looks only so often. One
/// that waits in the kernel has to be woken by the sender's packets, one by
/// one: on a host of both ends, or through a virtual interrupt, this costs the
/// sender more than sending does.
const DENSE: Span = Span::from_micros(20);
const LULL: Span = Span::from_micros(100);

impl Waiting {
    pub(super) fn take_datagrams(&mut self) -> Result<()> {
        if !self.meet()? {
            return Ok(());
        }
        let before = self.dropped()?;
        match self.flow.meter {
            Meter::OneWay => self.count_datagrams()?,
            Meter::RoundTrip => self.answer_datagrams()?,
        }
        let dropped = self.dropped()?.wrapping_sub(before);
        self.recorder.overflowed(dropped.into());
        Ok(())
    }

    /// Datagrams for which the socket had no room until now. What the kernel
    /// says beside a datagram leaves out those that were dropped after the last.
    fn dropped(&self) -> Result<u32> {
        option::dropped(self.socket.as_fd()).during(|| "asking how many datagrams found no room")
    }

    /// Waits for a datagram with the cookie from the sender's address, and
    /// belongs to it from then on; answers with as much. Nobody else is
    /// answered. Whether it came.
    fn meet(&self) -> Result<bool> {
        let mut room = [0; LONGEST];
        while !self.is_over(clock::monotonic()) {
            let (length, from) = match recvfrom::<SockaddrStorage>(raw(&self.socket), &mut room) {
                Ok(came) => came,
                Err(Errno::EAGAIN | Errno::EINTR) => continue,
                Err(error) => return Err(error).during(|| "waiting for a flow"),
            };
            let Some(from) = from.filter(|_| room[..length] == self.flow.cookie) else {
                continue;
            };
            if plain(&from).is_none_or(|from| from.ip() != self.peer) {
                continue;
            }
            connect(raw(&self.socket), &from).during(|| "answering a flow")?;
            // What others sent before is none of this flow: it has not begun.
            while recv(raw(&self.socket), &mut room, MsgFlags::MSG_DONTWAIT).is_ok() {}
            if self.flow.dscp != 0 {
                mark(self.socket.as_fd(), self.peer, self.flow.dscp)?;
            }
            self.stamp(&self.socket)?;
            self.show_cookie();
            return Ok(true);
        }
        Ok(false)
    }

    /// The answer to a cookie; a lost one is asked for again.
    fn show_cookie(&self) {
        let _ = send(raw(&self.socket), &self.flow.cookie, MsgFlags::empty());
    }

    fn count_datagrams(&mut self) -> Result<()> {
        let room = if self.flow.merge { LONGEST } else { HEADER_LEN };
        let mut inbox = Inbox::of_datagrams(room);
        let mut latest = clock::monotonic();
        while !self.is_complete() {
            // Before the look: who was kept from it may find something.
            let is_over = self.is_over(latest);
            match inbox.take(self.socket.as_fd(), self.flow.busy) {
                Ok(_) => {
                    let before = std::mem::replace(&mut latest, clock::monotonic());
                    self.count(&inbox, latest);
                    if !self.flow.busy && is_dense(&inbox, latest.since(before)) {
                        clock::sleep(LULL);
                    }
                }
                // It is quiet only where nothing waits to be taken: the recorder
                // may have waited for the disk.
                Err(error) if passing(&error) => {
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

    /// Takes down what one call brought.
    fn count(&mut self, inbox: &Inbox, read: Time) {
        for (place, taken) in inbox.taken().iter().enumerate() {
            let octets = inbox.octets(place);
            self.recorder.merged(taken.merged.is_some());
            if *octets == self.flow.cookie {
                self.show_cookie();
                continue;
            }
            let arrival = Arrival {
                read,
                stamp: taken.stamp,
            };
            match taken.merged {
                None => self.count_one(octets, taken.length, arrival),
                Some(size) => {
                    for datagram in octets.chunks(size) {
                        self.count_one(datagram, datagram.len(), arrival);
                    }
                }
            }
        }
    }

    /// A datagram that is not what it says is none of ours.
    fn count_one(&mut self, octets: &[u8], length: usize, arrival: Arrival) {
        let message = Message::parse(octets).ok();
        let fits = |message: &Message| usize::try_from(message.length) == Ok(length);
        if let Some(message) = message.filter(fits) {
            self.recorder.record(message, arrival);
        }
    }

    /// Sends every datagram back as it came, but for the mark of an echo: no
    /// more goes out than came in.
    fn answer_datagrams(&mut self) -> Result<()> {
        let mut room = vec![0; LONGEST];
        let flags = if self.flow.busy {
            MsgFlags::MSG_DONTWAIT
        } else {
            MsgFlags::empty()
        };
        let mut latest = clock::monotonic();
        loop {
            // As where they are counted: silence is looked at first.
            let is_over = self.is_over(latest);
            let length = match recv(raw(&self.socket), &mut room, flags) {
                Ok(length) => length,
                Err(Errno::EAGAIN | Errno::EINTR | Errno::ECONNREFUSED) => {
                    self.recorder.idle();
                    if is_over {
                        return Ok(());
                    }
                    continue;
                }
                Err(error) => return Err(error).during(|| "receiving datagrams"),
            };
            // Asking for a stamp would cost each round trip more than the clock does.
            let arrival = self.recorder.logs().then(|| Arrival {
                read: clock::monotonic(),
                stamp: None,
            });
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
                // An echo that finds no room is lost, as datagrams are.
                let _ = send(raw(&self.socket), datagram, MsgFlags::empty());
            }
            self.recorder.answered(message, arrival);
            if self.is_complete() {
                return Ok(());
            }
            if self.signal.expected().is_some() {
                latest = clock::monotonic();
            }
        }
    }
}

/// Whether what was taken after so long came so densely that more may gather
/// before the next look. What fills the inbox left more behind; what has no
/// stamp counts as arriving when it is read.
fn is_dense(inbox: &Inbox, passed: Option<Span>) -> bool {
    let taken = inbox.taken();
    let long = DENSE * u64::try_from(taken.len()).unwrap_or(0);
    let stamped = taken.iter().all(|one| one.stamp.is_some());
    stamped && !inbox.is_full() && passed.is_some_and(|passed| passed < long)
}

/// Whether a call may be made again.
fn passing(error: &std::io::Error) -> bool {
    matches!(
        error.kind(),
        ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionRefused
    )
}
