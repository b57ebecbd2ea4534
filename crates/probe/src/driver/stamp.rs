//! A session-reflector of STAMP on UDP sockets [RFC8762].
//!
//! Replies are sent whole: with DF over IPv4, never fragmented over IPv6, and as large as
//! the interface allows, whatever the kernel knows of the path [ip(7)] [ipv6(7)]. A reply
//! that arrives has therefore crossed the way back in one piece. It leaves from the address
//! to which the test packet went.

#[cfg_attr(not(target_os = "linux"), path = "elsewhere/neighbours.rs")]
mod neighbours;
mod running;
#[cfg_attr(not(target_os = "linux"), path = "elsewhere/reflecting.rs")]
mod socket;
mod unsent;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use crate::machine::stamp::{Arrival, Counts, Limits, Reflector};
use units::Span;
use wire::stamp::{ErrorEstimate, LARGEST};

use neighbours::Neighbours;
use os::clock::{self, Epoch};
use os::deadline::{Deadline, Permit};
use os::error::Result;
use os::socket::readable;
pub use running::RunningReflector;
use socket::{Received, Socket};
pub use unsent::Unsent;

/// Interval of checks whether the reflector is to end.
const LOOK: Span = Span::from_millis(50);

/// The most packets of one socket before the others have their turn.
const TURN: usize = 64;

/// The error of timestamps: the kernel takes those of arrivals in software, this program
/// those of replies before it sends them. Whether the clock is synchronised is unknown.
const ERROR: Span = Span::from_micros(100);

/// A session-reflector that has opened its sockets.
#[derive(Debug)]
pub struct StampReflector {
    sockets: Vec<Socket>,
    reflector: Reflector,
    neighbours: Neighbours,
    unsent: Unsent,
}

/// Counts of a reflector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Outcome {
    /// Packets by what became of them.
    pub counts: Counts,
    /// Replies that the system did not send.
    pub unsent: Unsent,
}

impl StampReflector {
    /// Opens a socket at each address.
    ///
    /// # Errors
    /// If the kernel rejects one of them, for example because its port is in use.
    pub fn open(listen: &[SocketAddr], limits: Limits) -> Result<Self> {
        let sockets = listen.iter().map(|address| Socket::open(*address));
        Ok(Self {
            sockets: sockets.collect::<Result<_>>()?,
            reflector: Reflector::new(limits, ErrorEstimate::new(ERROR, false)),
            neighbours: Neighbours::new(),
            unsent: Unsent::default(),
        })
    }

    /// The addresses with their ports.
    pub fn addresses(&self) -> Vec<SocketAddr> {
        self.sockets.iter().map(|socket| socket.address).collect()
    }

    /// Answers test packets until `stop` is set.
    ///
    /// # Errors
    /// If the kernel rejects an ordinary call.
    pub fn run(mut self, stop: &Arc<AtomicBool>) -> Result<Outcome> {
        let mut packet = vec![0; LARGEST + 1];
        let mut reply = vec![0; LARGEST];
        let deadline = || Deadline::of_owner(clock::monotonic() + LOOK * 2, stop);
        while deadline().permit().is_ok() {
            for place in self.ready()? {
                for _ in 0..TURN {
                    let Ok(permit) = deadline().permit() else {
                        break;
                    };
                    if !self.answer(place, &mut packet, &mut reply, permit)? {
                        break;
                    }
                }
            }
        }
        Ok(Outcome {
            counts: self.reflector.counts(),
            unsent: self.unsent,
        })
    }

    /// The places of the sockets with waiting packets.
    fn ready(&self) -> Result<Vec<usize>> {
        let sockets: Vec<_> = self.sockets.iter().map(Socket::handle).collect();
        let ready = readable(&sockets, Some(clock::monotonic() + LOOK))?;
        let ready = (0..).zip(ready).filter(|(_, is_ready)| *is_ready);
        Ok(ready.map(|(place, _)| place).collect())
    }

    /// Answers the next packet of a socket. Returns whether there was one.
    fn answer(
        &mut self,
        place: usize,
        packet: &mut [u8],
        reply: &mut [u8],
        permit: Permit,
    ) -> Result<bool> {
        let socket = &self.sockets[place];
        let received = match socket.receive(packet, permit)? {
            Received::Nothing => return Ok(false),
            Received::Other => return Ok(true),
            Received::Packet(received) => received,
        };
        let Some(bytes) = packet.get(..received.length.min(LARGEST)) else {
            return Ok(true);
        };
        let (now, wall) = (clock::monotonic(), Epoch::now().unix_nanos());
        let source = received.from.ip();
        let is_resolved = self
            .neighbours
            .is_resolved(now, source, received.interface());
        let arrival = Arrival {
            from: received.from,
            unix_nanos: received.unix_nanos.unwrap_or(wall),
            hop_limit: received.hop_limit,
            piece: received.piece,
            is_resolved,
            bytes,
        };
        if let Ok(length) = self.reflector.reflect(now, wall, &arrival, reply)
            && let Err(error) = socket.send(&reply[..length], &received, is_resolved)
        {
            self.unsent.count(error, is_resolved);
        }
        Ok(true)
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
