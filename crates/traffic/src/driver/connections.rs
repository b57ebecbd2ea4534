//! Connections and flows of datagrams among the hosts of a network, which carry bytes that
//! mean nothing from a time on until another one.
//!
//! Each host runs the ends of all its connections in one loop, which sleeps until a socket
//! is ready or a time comes; [`datagrams`] have threads of their own. Hosts share a clock and
//! need no messages to agree on times. Ports of namespaces are reached by nobody else.

pub mod datagrams;
mod receiving;
mod sending;

use std::net::SocketAddr;
use std::os::fd::AsFd;
use std::sync::Arc;
use std::thread;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use units::{Bytes, Span, Time};

use datagrams::{Arrivals, Arriving, Departed, Departing, Departures, Receiver};
use os::cpu_time::Process;
use os::deadline::Deadline;
use os::error::{Error, OperationContext, Result};
use os::interrupt;
use os::{clock, kernel_clock};
use receiving::Receiving;
use sending::{Ready, Sending};

/// The longest sleep: round trips are looked at so often.
const LOOK: Span = Span::from_millis(50);

/// The same where timeouts are looked for.
const LOOK_FOR_TIMEOUTS: Span = Span::from_millis(5);

/// The flows of one host. Times count from the beginning.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Task {
    /// When everything ends, data in flight included.
    pub end: Span,
    /// The connections that begin here.
    pub outgoing: Vec<Outgoing>,
    /// The connections that end here.
    pub incoming: Vec<Incoming>,
    /// The flows of datagrams that begin here.
    pub departing: Vec<Departing>,
    /// The end of flows of datagrams here, if there is one.
    pub arriving: Option<Arriving>,
    /// Whether the timeouts of connections are looked for.
    pub timeouts: bool,
}

/// The sending end of a connection.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Outgoing {
    /// The address of this host; port 0 leaves it to the kernel.
    pub from: SocketAddr,
    /// The other end.
    pub to: SocketAddr,
    /// When it begins.
    pub start: Span,
    /// From when on nothing new is sent.
    pub stop: Span,
    /// The bytes to send; `None`: until `stop`.
    pub bytes: Option<u64>,
    /// Its congestion control, by the kernel's name.
    pub congestion: String,
    /// SO_SNDBUF; `None` leaves it to the kernel.
    pub send_buffer: Option<Bytes>,
}

/// The receiving end of a connection.
#[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Incoming {
    /// Where it is accepted.
    pub at: SocketAddr,
    /// The largest window that is advertised, in bytes; `None`: as the kernel has it.
    pub window: Option<u32>,
    /// SO_RCVBUF; `None` leaves it to the kernel.
    pub receive_buffer: Option<Bytes>,
}

/// The measurements of a host's flows, each in the order of the task.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Outcome {
    /// The sending ends.
    pub sent: Vec<Sent>,
    /// The receiving ends.
    pub received: Vec<Received>,
    /// The departures of each flow of datagrams.
    pub departed: Vec<Departed>,
    /// Their arrivals.
    pub arrived: Arrivals,
    /// The processor time of this process meanwhile.
    pub process: Process,
}

/// The sending end of a connection at its end.
#[derive(Clone, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Sent {
    /// Bytes that the kernel took.
    pub bytes: u64,
    /// Segments sent, retransmissions included.
    pub segments: u64,
    /// Segments retransmitted.
    pub retransmitted: u64,
    /// The largest segment sent, in bytes of payload.
    pub segment_size: u64,
    /// Number of looks at TCP's smoothed round-trip time, and their sum.
    pub round_trips: (u64, Span),
    /// The smoothed round-trip time at the end.
    pub last_round_trip: Option<Span>,
    /// The retransmission timeouts, if they are looked for: each at the last look before it
    /// was seen.
    pub timeouts: Vec<Span>,
    /// The timing error of the beginning.
    pub late: Span,
    /// Why it failed, if it did.
    pub failure: Option<String>,
}

/// The receiving end of a connection at its end.
#[derive(Clone, Copy, Debug, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Received {
    /// Bytes that arrived.
    pub bytes: u64,
    /// When the first and the last of them were read.
    pub span: Option<[Span; 2]>,
}

/// A host that has opened all its ports.
pub struct Host {
    end: Span,
    timeouts: bool,
    sending: Vec<Ready>,
    receiving: Vec<Receiving>,
    departures: Departures,
    receiver: Option<Receiver>,
    before: Process,
}

impl Host {
    /// Opens the ports of `task` in the namespace of the calling process.
    ///
    /// # Errors
    /// If the kernel rejects an option or a port.
    pub fn open(task: Task) -> Result<Self> {
        let before = Process::sample()?;
        let receiving = task.incoming.into_iter().map(Receiving::open);
        Ok(Self {
            end: task.end,
            timeouts: task.timeouts,
            // The kernel chooses ports for the others among those that are left.
            receiving: receiving.collect::<Result<_>>()?,
            departures: Departures::open(task.departing)?,
            receiver: task.arriving.as_ref().map(Receiver::open).transpose()?,
            sending: { task.outgoing.into_iter() }
                .map(Ready::open)
                .collect::<Result<_>>()?,
            before,
        })
    }

    /// Carries the flows from `begin`, in nanoseconds of CLOCK_MONOTONIC, until the end of the
    /// task, or a signal of the user. Every connection is then reset.
    ///
    /// # Errors
    /// If the kernel does not wait for sockets, or no thread is to be had. A connection that
    /// fails says so in its outcome.
    pub fn run(self, begin: u64) -> Result<Outcome> {
        let begin = kernel_clock::monotonic_of(begin);
        let end = begin + self.end;
        let sending = self.sending.into_iter();
        let sending = sending.map(|one| Sending::new(one, begin, self.timeouts));
        let mut ends = Ends {
            begin,
            end,
            look: match self.timeouts {
                true => LOOK_FOR_TIMEOUTS,
                false => LOOK,
            },
            sending: sending.collect(),
            receiving: self.receiving,
        };
        let departures = self.departures;
        let ((sent, received), departed, arrived) = thread::scope(|scope| {
            let named = |name: &str| thread::Builder::new().name(name.to_owned());
            let arrivals = self.receiver.map(|receiver| {
                let thread =
                    named("arrivals").spawn_scoped(scope, move || receiver.run(begin, end));
                thread.during(|| "starting a thread")
            });
            let departures = named("departures").spawn_scoped(scope, move || departures.run(begin));
            let departures = departures.during(|| "starting a thread")?;
            ends.carry()?;
            let carried = ends.finish();
            let panicked = |_| Error::new("carrying datagrams", "a thread panicked");
            let departed = departures.join().map_err(panicked)??;
            let arrived = match arrivals.transpose()? {
                Some(arrivals) => arrivals.join().map_err(panicked)??,
                None => Arrivals::default(),
            };
            Ok::<_, Error>((carried, departed, arrived))
        })?;
        if interrupt::asked() {
            return Err(Error::new("carrying connections", "interrupted"));
        }
        Ok(Outcome {
            sent,
            received,
            departed,
            arrived,
            process: Process::sample()? - self.before,
        })
    }
}

/// The ends of connections.
struct Ends {
    begin: Time,
    end: Time,
    /// The longest sleep.
    look: Span,
    sending: Vec<Sending>,
    receiving: Vec<Receiving>,
}

impl Ends {
    /// Carries them until the end, or a signal of the user.
    fn carry(&mut self) -> Result<()> {
        let deadline = Deadline::new(self.end, &Arc::default());
        while deadline.permit().is_ok() {
            let now = clock::monotonic();
            for one in &mut self.sending {
                one.advance(now);
            }
            for one in &mut self.receiving {
                one.advance(self.begin, &deadline);
            }
            self.wait()?;
        }
        Ok(())
    }

    /// The outcome of each; all connections are reset.
    fn finish(self) -> (Vec<Sent>, Vec<Received>) {
        let sent = self.sending.into_iter().map(Sending::finish);
        let received = self.receiving.into_iter().map(|one| one.received);
        (sent.collect(), received.collect())
    }

    /// Sleeps until a socket is ready, or a time comes.
    fn wait(&self) -> Result<()> {
        let now = clock::monotonic();
        let starts = self.sending.iter().filter_map(Sending::next_instant);
        let until = starts.chain([self.end, now + self.look]).min();
        let left = until.and_then(|until| until.since(now)).unwrap_or_default();
        let millis = u16::try_from(left.as_nanos().div_ceil(1_000_000)).unwrap_or(u16::MAX);
        let out = self.sending.iter().filter_map(|one| one.waits_for(now));
        let incoming = self.receiving.iter().map(Receiving::socket);
        let mut watched: Vec<PollFd<'_>> = out
            .map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLOUT))
            .chain(incoming.map(|socket| PollFd::new(socket.as_fd(), PollFlags::POLLIN)))
            .collect();
        match poll(&mut watched, PollTimeout::from(millis)) {
            Err(Errno::EINTR) => Ok(()),
            result => result.map(drop).during(|| "waiting for connections"),
        }
    }
}

#[cfg(test)]
mod tests;
