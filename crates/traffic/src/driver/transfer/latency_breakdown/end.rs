//! One end of round trips: a socket and its timestamps.

use std::net::IpAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use meter::latency_breakdown::{ArrivalTimes, DepartureTimes};
use nix::errno::Errno;
use nix::poll::PollFlags;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use nix::sys::socket::{MsgFlags, send};
use units::{Span, Time, Transport};
use wire::message::{Echo, HEADER_LEN, Message};

use super::{InjectionPoint, Probe};
use crate::driver::departure_stamps::{DepartureStamps, MORE};
use os::clock::{self, Epoch};
use os::deadline::Permit;
use os::error::{Error, OperationContext, Result};
use os::socket::{ARRIVALS, LEFT, QUEUED, Stamp, stalled, stamp_arrivals, wait};
use os::sys::inbox::receive_stamped;
use os::sys::option;

/// SCM_TSTAMP_SND and SCM_TSTAMP_SCHED: the kinds of timestamps [LinuxUapi errqueue.h].
const SENT: u32 = 0;
const SCHEDULED: u32 = 1;

/// SO_NO_CHECK, UDP_NO_CHECK6_TX and UDP_NO_CHECK6_RX; libc has no names for them
/// [LinuxUapi socket.h, udp.h].
const NO_CHECK: libc::c_int = 11;
const NO_CHECK6_TX: libc::c_int = 101;
const NO_CHECK6_RX: libc::c_int = 102;

pub(super) struct End<'a> {
    probe: &'a Probe,
    socket: OwnedFd,
    waiting: Epoll,
    /// The departing message.
    outgoing: Vec<u8>,
    /// The buffer for the arriving message.
    room: Vec<u8>,
    /// Index of the next message of a stream, whose header may not be readable.
    next: u64,
    /// Those of counted messages, by their place.
    departures: Option<DepartureStamps<usize>>,
    lefts: Vec<DepartureTimes>,
}

impl<'a> End<'a> {
    /// Wraps a connected socket.
    pub(super) fn new(probe: &'a Probe, socket: OwnedFd) -> Result<Self> {
        stamp_arrivals(socket.as_fd())?;
        if !probe.checksum {
            leave_checksums_out(probe, socket.as_fd())?;
        }
        let doing = || "waiting for a socket";
        let waiting = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).during(doing)?;
        // Edge-triggered: timestamps in the error queue end only the wait in which they
        // arrive.
        let events = EpollFlags::EPOLLIN | EpollFlags::EPOLLET;
        waiting
            .add(&socket, EpollEvent::new(events, 0))
            .during(doing)?;
        let size = usize::try_from(probe.transfer.message.get())
            .map_err(|_| Error::new("making room for a message", "it does not fit into memory"))?;
        let room = match (probe.copy, probe.transfer.protocol) {
            (false, Transport::Udp) => HEADER_LEN,
            _ => size,
        };
        let messages = usize::try_from(probe.messages).unwrap_or(usize::MAX);
        Ok(Self {
            probe,
            socket,
            waiting,
            outgoing: vec![0; size],
            room: vec![0; room],
            next: 0,
            departures: None,
            lefts: vec![DepartureTimes::default(); messages],
        })
    }

    pub(super) fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }

    /// Enables departure timestamps from here on.
    pub(super) fn stamp_departures(&mut self) -> Result<()> {
        if self.departures.is_none() {
            let (socket, stream) = (self.socket.as_fd(), self.is_stream());
            let points = QUEUED | LEFT;
            self.departures = Some(DepartureStamps::begin(socket, stream, ARRIVALS, points)?);
        }
        Ok(())
    }

    /// Spends the time to inject at `point`, if this message counts.
    pub(super) fn inject(&self, sequence: u64, point: InjectionPoint) {
        let counts = sequence >= self.probe.before();
        let inject = self.probe.inject.filter(|_| counts);
        if let Some(inject) = inject.filter(|inject| inject.point == point) {
            let until = clock::monotonic() + inject.span;
            while clock::monotonic() < until {
                std::hint::spin_loop();
            }
        }
    }

    /// Writes a message. The delay of [`InjectionPoint::Send`] precedes the write if
    /// `point` shows that this is the near end.
    pub(super) fn write(&mut self, sequence: u64, point: InjectionPoint) -> Result<()> {
        let size = self.outgoing.len();
        let header = Message {
            echo: match point {
                InjectionPoint::Send => Echo::Wanted,
                InjectionPoint::Receive | InjectionPoint::Echo => Echo::Reply,
            },
            warmup: sequence < self.probe.before(),
            tag: 0,
            length: u32::try_from(size).unwrap_or(u32::MAX),
            sequence,
            sent: Time::ZERO,
        };
        header
            .emit(&mut self.outgoing)
            .expect("every message has room for its header");
        let stamped = sequence.checked_sub(self.probe.before());
        let stamped = stamped.and_then(|place| usize::try_from(place).ok());
        let mut departures = self.departures.take();
        // A message of a stream is timestamped by its header, a separate write that the
        // rest joins [tcp(7)].
        let stream = departures.as_mut().filter(|_| self.is_stream());
        if let Some(departures) = &stream {
            departures.switch(self.socket.as_fd(), true)?;
        }
        let before = nanos(self.probe.transfer.epoch);
        if point == InjectionPoint::Send {
            self.inject(sequence, point);
        }
        match (stream, stamped) {
            (Some(departures), Some(at)) => {
                self.push(0..HEADER_LEN, MORE)?;
                departures.switch(self.socket.as_fd(), false)?;
                self.push(HEADER_LEN..size, MsgFlags::empty())?;
                departures.stamped(HEADER_LEN, at);
                departures.unstamped(size - HEADER_LEN);
            }
            _ => self.push(0..size, MsgFlags::empty())?,
        }
        if let Some((departures, at)) = departures.as_mut().zip(stamped)
            && !self.is_stream()
        {
            departures.stamped(1, at);
        }
        self.departures = departures;
        if let Some(left) = stamped.and_then(|at| self.lefts.get_mut(at)) {
            left.before = before;
        }
        Ok(())
    }

    /// Waits for this message or a later one until `deadline`, and reads it. Returns
    /// its index and its timestamps.
    pub(super) fn read(
        &mut self,
        next: u64,
        deadline: Time,
        point: InjectionPoint,
    ) -> Result<Option<(u64, ArrivalTimes)>> {
        let size = self.outgoing.len();
        let sleeps = self.probe.sleeps(next);
        let mut came = ArrivalTimes::default();
        let mut taken = 0;
        while self.wait(deadline, sleeps)? {
            came.ready = nanos(self.probe.transfer.epoch);
            if point == InjectionPoint::Receive {
                self.inject(next, point);
            }
            while let Some(count) = self.take(taken, &mut came)? {
                if self.is_stream() {
                    taken += count;
                    if taken == size {
                        self.next += 1;
                        return Ok(Some((self.next - 1, came)));
                    }
                } else if count == size
                    && let Ok(message) = Message::parse(&self.room)
                {
                    return Ok(Some((message.sequence, came)));
                }
            }
        }
        Ok(None)
    }

    /// Waits likewise for the echo of one message; late echoes are skipped.
    pub(super) fn read_echo(
        &mut self,
        sequence: u64,
        deadline: Time,
    ) -> Result<Option<ArrivalTimes>> {
        loop {
            match self.read(sequence, deadline, InjectionPoint::Echo)? {
                Some((found, came)) if found == sequence => return Ok(Some(came)),
                Some(_) => {}
                None => return Ok(None),
            }
        }
    }

    /// Reads the available departure timestamps.
    pub(super) fn take_stamps(&mut self) -> Result<()> {
        let (epoch, lefts) = (self.probe.transfer.epoch, &mut self.lefts);
        let Some(departures) = &mut self.departures else {
            return Ok(());
        };
        departures.take(self.socket.as_fd(), |place, stamp| {
            lefts
                .get_mut(place)
                .is_some_and(|left| settle(left, &stamp, epoch))
        })
    }

    /// Reads departure timestamps, and waits for missing ones.
    pub(super) fn take_last_stamps(&mut self, timeout: Span) -> Result<()> {
        let deadline = clock::monotonic() + timeout;
        self.take_stamps()?;
        let missing = |end: &Self| end.departures.as_ref().is_some_and(|due| !due.is_empty());
        while missing(self) && clock::monotonic() < deadline {
            clock::sleep(Span::from_millis(1));
            self.take_stamps()?;
        }
        Ok(())
    }

    /// The departure timestamps of the message at `place`.
    pub(super) fn left(&self, place: usize) -> DepartureTimes {
        self.lefts.get(place).copied().unwrap_or_default()
    }

    fn is_stream(&self) -> bool {
        self.probe.transfer.protocol == Transport::Tcp
    }

    /// Writes a part of the message.
    fn push(&self, mut part: std::ops::Range<usize>, flags: MsgFlags) -> Result<()> {
        let flags = flags | MsgFlags::MSG_NOSIGNAL;
        while !part.is_empty() {
            match send(self.socket.as_raw_fd(), &self.outgoing[part.clone()], flags) {
                Ok(count) => part.start += count,
                Err(Errno::EAGAIN | Errno::ENOBUFS) => {
                    let timeout = self.probe.transfer.timeout;
                    let deadline = clock::monotonic() + timeout;
                    if wait(self.socket.as_fd(), PollFlags::POLLOUT, deadline)?.is_empty() {
                        return Err(stalled("sending a message", timeout));
                    }
                }
                Err(Errno::EINTR) => {}
                Err(error) => return Err(error).during(|| "sending a message"),
            }
        }
        Ok(())
    }

    /// Sleeps until the socket is readable, or polls it once. Returns `false` at the
    /// deadline.
    fn wait(&self, deadline: Time, sleeps: bool) -> Result<bool> {
        let mut events = [EpollEvent::empty()];
        loop {
            let left = deadline.since(clock::monotonic()).unwrap_or_default();
            if left == Span::ZERO {
                return Ok(false);
            }
            if !sleeps {
                // The process that carries the message may need this processor.
                std::thread::yield_now();
                return Ok(true);
            }
            let millis = u16::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(u16::MAX);
            match self.waiting.wait(&mut events, EpollTimeout::from(millis)) {
                Ok(_) if events[0].events().contains(EpollFlags::EPOLLIN) => return Ok(true),
                Ok(_) | Err(Errno::EINTR) => {}
                Err(error) => return Err(error).during(|| "waiting for a message"),
            }
        }
    }

    /// One read behind the bytes `taken` so far; `None` if no data are available.
    fn take(&mut self, taken: usize, came: &mut ArrivalTimes) -> Result<Option<usize>> {
        let mut flags = MsgFlags::MSG_DONTWAIT;
        // For a datagram MSG_TRUNC returns the whole length; for a stream it discards
        // bytes without a copy.
        if !self.probe.copy || !self.is_stream() {
            flags |= MsgFlags::MSG_TRUNC;
        }
        let epoch = self.probe.transfer.epoch;
        let (socket, room) = (self.socket.as_fd(), &mut self.room[taken..]);
        let taken = loop {
            let read = receive_stamped(socket, room, flags, Permit::of_worker());
            came.had = nanos(epoch);
            match read {
                Ok(taken) => break taken,
                Err(Errno::EAGAIN) => return Ok(None),
                Err(Errno::EINTR | Errno::ECONNREFUSED) => {}
                Err(error) => return Err(error).during(|| "reading a message"),
            }
        };
        if taken.length == 0 {
            return Err(Error::new(
                "reading a message",
                "the other end closed early",
            ));
        }
        if let Some(stamp) = taken.stamp {
            came.arrived = Some(epoch.time_of_stamp(stamp).as_nanos());
        }
        Ok(Some(taken.length))
    }
}

/// Records a timestamp; for retransmissions the first departure counts. Returns whether the
/// message has all of them.
fn settle(left: &mut DepartureTimes, stamp: &Stamp, epoch: Epoch) -> bool {
    let nanos = Some(epoch.time_of_stamp(stamp.at).as_nanos());
    match stamp.place {
        SCHEDULED => left.queued = left.queued.or(nanos),
        SENT => left.sent = left.sent.or(nanos),
        _ => {}
    }
    left.queued.is_some() && left.sent.is_some()
}

/// The program's clock, in nanoseconds since the epoch.
fn nanos(epoch: Epoch) -> u64 {
    epoch.elapsed().as_nanos()
}

/// Makes the kernel send datagrams of this socket without checksums, and accept such.
fn leave_checksums_out(probe: &Probe, socket: BorrowedFd<'_>) -> Result<()> {
    let options: &[_] = match probe.transfer.address {
        IpAddr::V4(_) => &[(libc::SOL_SOCKET, NO_CHECK)],
        IpAddr::V6(_) => &[(libc::SOL_UDP, NO_CHECK6_TX), (libc::SOL_UDP, NO_CHECK6_RX)],
    };
    options.iter().try_for_each(|&(level, option)| {
        option::set(socket, level, option, 1).during(|| "leaving checksums out")
    })
}
