//! Round trips one by one, of which both ends keep all stamps there are: where
//! their time goes is then a matter of subtraction ([`proto::latency_breakdown`]).
//!
//! The program's instants and the kernel's stamps are both of CLOCK_REALTIME,
//! and both ends run on one machine: nothing is converted. The whole of a round
//! trip is timed by CLOCK_MONOTONIC, so that a step of the clock shows.

mod departures;
mod end;

use std::io::IoSliceMut;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};

use nix::poll::PollFlags;
use nix::sys::socket::{MsgFlags, SockaddrStorage, connect, recvmsg};
use proto::latency_breakdown::{Came, Left};
use units::{Span, Transport};

use super::receive::{accept, listening};
use super::send::connected;
use super::socket::{self, stalled, wait};
use super::{TcpState, Transfer};
use crate::clock;
use crate::error::{During, Error, Result};
use end::End;

/// How long a datagram or its echo may be on its way before it counts as lost.
const LOST: Span = Span::from_secs(1);

/// The far end waits longer: for the next one after a lost one.
const QUIET: Span = Span::from_secs(3);

/// So many lost ones are no chance.
const MOST_LOST: u64 = 10;

/// How long stamps of the last message may take.
const LAST_STAMPS: Span = Span::from_millis(20);

/// What both ends must agree on.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Probe {
    /// Protocol, address, message, and what the sockets are like.
    pub transfer: Transfer,
    /// Round trips before those that count, without departure stamps: the first
    /// half warms up, the second shows what the instrument costs.
    pub plain: u64,
    /// Round trips after those, in which neither end sleeps: they show how long
    /// the kernel takes from a packet's arrival until it can be read.
    pub sleepless: u64,
    /// Round trips that are taken apart.
    pub messages: u64,
    /// Whether programs copy what they receive out of the kernel: without it
    /// they get no more than the header of a datagram, and nothing of a stream
    /// (MSG_TRUNC) [socket(7)] [tcp(7)].
    pub copy: bool,
    /// Whether datagrams have checksums of UDP [socket(7)].
    pub checksum: bool,
    /// What is made longer on purpose, of the round trips that count.
    pub inject: Option<Inject>,
}

/// A known time at a known point, spent on the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Inject {
    /// Where.
    pub point: InjectionPoint,
    /// How long at least.
    pub span: Span,
}

/// Where time can be injected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum InjectionPoint {
    /// At the near end, between the stamp before the write and the write.
    Send,
    /// At the far end, each time between the wait and the read.
    Receive,
    /// At the far end, between the last read and the stamp before the write.
    Echo,
}

/// What the near end stamped of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct NearStamps {
    /// Of the message.
    pub left: Left,
    /// Of its echo.
    pub came: Came,
    /// How long it took by CLOCK_MONOTONIC, in nanoseconds.
    pub took: u64,
}

/// What the near end saw.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Asked {
    /// Of each message in order; none of those that were lost.
    pub trips: Vec<Option<NearStamps>>,
    /// What round trips without departure stamps took, in nanoseconds.
    pub plain: Vec<u64>,
    /// From the arrival of an echo until a reader that does not sleep finds it,
    /// in nanoseconds.
    pub softirq: Option<u64>,
    /// From the first write to the last read of those that count, in nanoseconds.
    pub lasted: u64,
    /// What TCP said at the end.
    pub tcp: Option<TcpState>,
    /// SO_SNDBUF and SO_RCVBUF as the kernel had them.
    pub buffers: [u64; 2],
}

/// What the far end stamped of a round trip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FarStamps {
    /// Of the message.
    pub came: Came,
    /// Of its echo.
    pub left: Left,
}

/// What the far end saw.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Answered {
    /// Of each message in order; none of those that did not come.
    pub trips: Vec<Option<FarStamps>>,
    /// From the arrival of a message until a reader that does not sleep finds
    /// it, in nanoseconds.
    pub softirq: Option<u64>,
}

impl Probe {
    /// Messages before those that count.
    fn before(&self) -> u64 {
        self.plain + self.sleepless
    }

    /// Whether an end sleeps until this message is there.
    fn sleeps(&self, sequence: u64) -> bool {
        !(self.plain..self.before()).contains(&sequence)
    }
}

/// Sends the messages of `probe` to `port`, each once the echo of the one
/// before it is back.
///
/// # Errors
/// When the kernel refuses an option, or the far end does not answer.
pub fn ask(probe: &Probe, port: u16) -> Result<Asked> {
    let mut end = End::new(probe, connected(&probe.transfer, port)?)?;
    let (mut plain, mut sleepless, mut trips) = (Vec::new(), Vec::new(), Vec::new());
    let mut lost = 0;
    let mut first = 0;
    for sequence in 0..probe.before() + probe.messages {
        if sequence == probe.before() {
            end.stamp_departures()?;
            first = clock::monotonic_nanos();
        }
        let began = clock::monotonic_nanos();
        end.write(sequence, InjectionPoint::Send)?;
        let came = end.read_echo(sequence, clock::monotonic() + echo_timeout(probe))?;
        let took = clock::monotonic_nanos() - began;
        lost += u64::from(came.is_none());
        if lost > MOST_LOST || (came.is_none() && probe.transfer.protocol == Transport::Tcp) {
            return Err(stalled("waiting for an echo", echo_timeout(probe)));
        }
        if sequence >= probe.before() {
            trips.push(came.map(|came| (came, took)));
            end.take_stamps()?;
        } else if !probe.sleeps(sequence) {
            sleepless.extend(came.and_then(found_after));
        } else if sequence >= probe.plain / 2 {
            plain.extend(came.map(|_| took));
        }
    }
    let lasted = clock::monotonic_nanos() - first;
    end.take_last_stamps(LAST_STAMPS)?;
    let trips = (0..).zip(trips).map(|(place, trip)| {
        let left = end.left(place);
        trip.map(|(came, took)| NearStamps { left, came, took })
    });
    Ok(Asked {
        trips: trips.collect(),
        plain,
        softirq: lower_decile(sleepless),
        lasted,
        tcp: match probe.transfer.protocol {
            Transport::Tcp => Some(socket::tcp_state(end.as_fd())?),
            Transport::Udp => None,
        },
        buffers: [
            socket::send_buffer(end.as_fd())?,
            socket::receive_buffer(end.as_fd())?,
        ],
    })
}

/// The far end, waiting for messages.
pub struct Answerer {
    probe: Probe,
    socket: OwnedFd,
    /// The port that the near end needs.
    pub port: u16,
}

impl Answerer {
    /// Opens a port on the address of `probe`, and nowhere else.
    ///
    /// # Errors
    /// When the kernel refuses the address or an option.
    pub fn open(probe: Probe) -> Result<Self> {
        let (socket, port) = listening(&probe.transfer)?;
        Ok(Self {
            probe,
            socket,
            port,
        })
    }

    /// Answers all messages, each with one as long; what was stamped of those
    /// that count, none of what never came.
    ///
    /// # Errors
    /// When nothing comes within the timeout, or what comes is none of ours.
    pub fn answer(self) -> Result<Answered> {
        let Self { probe, socket, .. } = self;
        let timeout = probe.transfer.timeout;
        let socket = match probe.transfer.protocol {
            Transport::Tcp => accept(&socket, timeout)?,
            Transport::Udp => {
                meet(&socket, timeout)?;
                socket
            }
        };
        let mut end = End::new(&probe, socket)?;
        let all = probe.before() + probe.messages;
        let messages = usize::try_from(probe.messages).unwrap_or(usize::MAX);
        let (mut came, mut sleepless) = (vec![None; messages], Vec::new());
        let mut next = 0;
        while next < all {
            let deadline = clock::monotonic() + timeout.min(QUIET).max(echo_timeout(&probe));
            let Some((sequence, arrival)) = end.read(next, deadline, InjectionPoint::Receive)?
            else {
                break;
            };
            end.inject(sequence, InjectionPoint::Echo);
            end.write(sequence, InjectionPoint::Echo)?;
            next = sequence + 1;
            if next >= probe.before() {
                end.stamp_departures()?;
            }
            if !probe.sleeps(sequence) {
                sleepless.extend(found_after(arrival));
            }
            let place = sequence.checked_sub(probe.before());
            let place = place.and_then(|place| came.get_mut(usize::try_from(place).ok()?));
            if let Some(place) = place {
                *place = Some(arrival);
                end.take_stamps()?;
            }
        }
        if next == 0 {
            return Err(stalled("waiting for messages", timeout));
        }
        end.take_last_stamps(LAST_STAMPS)?;
        let trips = (0..).zip(came).map(|(place, came)| {
            let left = end.left(place);
            came.map(|came| FarStamps { came, left })
        });
        Ok(Answered {
            trips: trips.collect(),
            softirq: lower_decile(sleepless),
        })
    }
}

/// How long after its last packet's arrival a message was found, if the kernel
/// stamped that.
fn found_after(came: Came) -> Option<u64> {
    Some(came.ready.saturating_sub(came.arrived?))
}

/// What a tenth of the values are below: other work makes them longer, never
/// shorter.
fn lower_decile(mut values: Vec<u64>) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 10).copied()
}

/// How long the near end waits for an echo.
fn echo_timeout(probe: &Probe) -> Span {
    match probe.transfer.protocol {
        Transport::Tcp => probe.transfer.timeout,
        Transport::Udp => LOST,
    }
}

/// Connects a socket to whoever sends the first datagram, which is left there.
fn meet(socket: &OwnedFd, timeout: Span) -> Result<()> {
    let deadline = clock::monotonic() + timeout;
    if wait(socket.as_fd(), PollFlags::POLLIN, deadline)?.is_empty() {
        return Err(stalled("waiting for messages", timeout));
    }
    let mut room = [0; 1];
    let doing = || "meeting the sender";
    let mut pieces = [IoSliceMut::new(&mut room)];
    let flags = MsgFlags::MSG_PEEK;
    let first = recvmsg::<SockaddrStorage>(socket.as_raw_fd(), &mut pieces, None, flags);
    let from = first.during(doing)?.address;
    let from = from.ok_or_else(|| Error::new(doing(), "a datagram without an address"))?;
    connect(socket.as_raw_fd(), &from).during(doing)
}
