//! The sending end of a connection.

use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, Shutdown, send, shutdown};
use units::{Span, Time};

use super::{Outgoing, Sent};
use os::error::{OperationContext, Result};
use os::socket::{Kind, Options, begin_to_connect, open};
use os::sys::{option, tcp_info};

/// Bytes of one write, and of what waits unsent in the kernel at most (TCP_NOTSENT_LOWAT
/// [tcp(7)]): a flow that stops has little left to send.
const WRITE: usize = 4_096;
const UNSENT: libc::c_int = 8_192;

/// Writes before other connections have their turn.
const TURN: usize = 16;

/// A connection that has a port and is to begin.
pub(super) struct Ready {
    outgoing: Outgoing,
    socket: OwnedFd,
}

impl Ready {
    /// Opens a socket at a port of its own. It shares the port with no other socket, and the
    /// kernel takes none that waits for the end of an earlier connection.
    ///
    /// # Errors
    /// If the kernel rejects an option, or has no port.
    pub(super) fn open(outgoing: Outgoing) -> Result<Self> {
        let to = outgoing.to;
        let options = Options {
            bind: Some(outgoing.from),
            congestion: Some(outgoing.congestion.clone()),
            send_buffer: outgoing.send_buffer,
            non_blocking: true,
            // No packet of one trial delays the next one.
            reset_on_close: true,
            ..Options::default()
        };
        let socket = open(Kind::Stream, to.ip(), &options)?;
        let level = libc::IPPROTO_TCP;
        option::set(socket.as_fd(), level, libc::TCP_NOTSENT_LOWAT, UNSENT)
            .during(|| format!("opening a port for a connection to {to}"))?;
        Ok(Self { outgoing, socket })
    }
}

/// A connection from its beginning on, or before.
pub(super) struct Sending {
    outgoing: Outgoing,
    begin: Time,
    start: Time,
    stop: Time,
    socket: OwnedFd,
    /// Whether the socket connects or is connected.
    has_begun: bool,
    /// Whether everything was written, or nothing can be.
    is_over: bool,
    /// The state of its retransmission timer, if timeouts are looked for.
    timer: Option<Timer>,
    sent: Sent,
}

/// The retransmission timer of a connection, as the looks at it show.
struct Timer {
    looked: Time,
    /// Timeouts since the last acknowledgement of new data.
    timeouts: u8,
}

impl Sending {
    /// A connection of a task that begins at `begin`; its timeouts are looked for if
    /// `timeouts`.
    pub(super) fn new(ready: Ready, begin: Time, timeouts: bool) -> Self {
        let Ready { outgoing, socket } = ready;
        Self {
            begin,
            timer: timeouts.then_some(Timer {
                looked: begin,
                timeouts: 0,
            }),
            start: begin + outgoing.start,
            stop: begin + outgoing.stop,
            outgoing,
            socket,
            has_begun: false,
            is_over: false,
            sent: Sent::default(),
        }
    }

    /// Does what is due at `now`.
    pub(super) fn advance(&mut self, now: Time) {
        if self.is_over && !self.has_begun || now < self.start {
            return;
        }
        if !self.has_begun {
            self.sent.late = now.since(self.start).unwrap_or_default();
            match self.connect() {
                Ok(()) => self.has_begun = true,
                Err(error) => self.fail(&error.to_string()),
            }
        }
        self.look(now);
        if !self.is_over {
            self.write(now);
        }
    }

    /// The next time at which something is due whatever sockets do.
    pub(super) fn next_instant(&self) -> Option<Time> {
        match (self.has_begun, self.is_over) {
            (false, false) => Some(self.start),
            (true, false) => Some(self.stop),
            (_, true) => None,
        }
    }

    /// The socket that is to become writable, if it matters.
    pub(super) fn waits_for(&self, now: Time) -> Option<&OwnedFd> {
        let matters = self.has_begun && !self.is_over && now < self.stop;
        matters.then_some(&self.socket)
    }

    /// The outcome; the connection is reset.
    pub(super) fn finish(mut self) -> Sent {
        if let Some(info) = self.info() {
            self.sent.segments = info.tcpi_segs_out.into();
            self.sent.retransmitted = info.tcpi_total_retrans.into();
            self.sent.segment_size = info.tcpi_snd_mss.into();
            let last = Span::from_micros(info.tcpi_rtt.into());
            self.sent.last_round_trip = Some(last).filter(|last| *last > Span::ZERO);
        }
        self.sent
    }

    fn connect(&self) -> Result<()> {
        let to = self.outgoing.to;
        begin_to_connect(&self.socket, to).during(|| format!("connecting to {to}"))
    }

    /// The kernel's figures, once the connection has begun.
    fn info(&self) -> Option<libc::tcp_info> {
        let info = self
            .has_begun
            .then(|| tcp_info::tcp_info(self.socket.as_fd()));
        info?.ok()
    }

    fn write(&mut self, now: Time) {
        let socket = &self.socket;
        for _ in 0..TURN {
            let left = match self.outgoing.bytes {
                Some(bytes) => bytes - self.sent.bytes,
                None => WRITE as u64,
            };
            if left == 0 || now >= self.stop {
                self.is_over = true;
                // The peer sees the end once it has everything. A connection that has
                // failed since has no end to tell.
                let _ = shutdown(socket.as_raw_fd(), Shutdown::Write);
                return;
            }
            let size = usize::try_from(left).unwrap_or(WRITE).min(WRITE);
            let flags = MsgFlags::MSG_NOSIGNAL | MsgFlags::MSG_DONTWAIT;
            match send(socket.as_raw_fd(), &[0; WRITE][..size], flags) {
                Ok(bytes) => self.sent.bytes += bytes as u64,
                // A connection that is being set up says EAGAIN, too.
                Err(Errno::EAGAIN | Errno::EINTR) => return,
                Err(error) => {
                    self.fail(&format!("writing: {error}"));
                    return;
                }
            }
        }
    }

    /// Looks at the smoothed round-trip time [RFC6298 s2] and the timer. The kernel sets
    /// its count of timeouts to zero when new data are acknowledged, a round trip later at
    /// least.
    fn look(&mut self, now: Time) {
        let Some(info) = self.info() else { return };
        if info.tcpi_rtt > 0 && !self.is_over {
            self.sent.round_trips.0 += 1;
            self.sent.round_trips.1 += Span::from_micros(info.tcpi_rtt.into());
        }
        if let Some(timer) = &mut self.timer {
            if info.tcpi_retransmits > timer.timeouts {
                let since = timer.looked.since(self.begin).unwrap_or_default();
                self.sent.timeouts.push(since);
            }
            *timer = Timer {
                looked: now,
                timeouts: info.tcpi_retransmits,
            };
        }
    }

    fn fail(&mut self, why: &str) {
        self.is_over = true;
        self.sent.failure = Some(why.to_owned());
    }
}
