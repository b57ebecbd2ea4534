//! A path of bytes in virtual time, on which a prober investigates what the path
//! carries: the prober's host, routers, and a far end that answers.
//!
//! Hosts and routers handle IP packets as Linux does: hop limits, messages that a
//! packet was too big, fragmentation, echoes, closed and open ports. Links are those of
//! the emulator ([`link`]), each with the rules of a middlebox in front
//! ([`link::middlebox`]). The same seed gives the same bytes.

mod bytes;
mod network;
mod node;
mod prober;
mod reassembly;

use crate::machine::{Answer, Investigation, Probe};
use link::middlebox::Rule;
use link::{BadSettings, Settings};
use meter::departures::Distribution;
use units::{Bytes, IpVersion, Seed, Span, Time};

use network::Network;
pub use network::addresses;
use prober::Endpoint;

/// A path and what lives on it.
#[derive(Clone, Debug, PartialEq)]
pub struct ProbePath {
    /// The version of IP.
    pub version: IpVersion,
    /// The links in path order, prober first; routers are between them.
    pub links: Vec<PathLink>,
    /// The far end.
    pub far_end: FarEnd,
    /// The seed of all random streams.
    pub seed: Seed,
}

/// A link of the path.
#[derive(Clone, Debug, PartialEq)]
pub struct PathLink {
    /// The name, which its random streams are derived from.
    pub name: String,
    /// The MTU of the interfaces at both ends.
    pub mtu: Bytes,
    /// From the prober to the far end, and back.
    pub directions: [Settings; 2],
    /// The rules for packets in front of the link.
    pub rules: Vec<Rule>,
    /// Cross traffic of each direction, which shares its queue.
    pub cross: [Option<Cross>; 2],
}

/// Cross traffic: packets that enter a link at one end and leave at the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Cross {
    /// Bytes of each IP packet.
    pub packet: Bytes,
    /// The distribution of the gaps between arrivals, in picoseconds.
    pub gaps: Distribution,
}

/// The far end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FarEnd {
    /// Whether the TCP port that is probed is open.
    pub listens: bool,
    /// Whether a STAMP reflector answers UDP probes; otherwise their port is closed.
    pub reflects: bool,
}

/// Something that probes a path, without I/O.
pub trait Prober {
    /// The next packet to send now, if there is one.
    fn poll_probe(&mut self, now: Time) -> Option<Probe>;
    /// When there may be one, unless an answer comes before.
    fn poll_timeout(&self) -> Option<Time>;
    /// An answer came.
    fn answered(&mut self, now: Time, answer: &Answer);
    /// Whether it is done.
    fn is_done(&self) -> bool;
}

impl Prober for Investigation {
    fn poll_probe(&mut self, now: Time) -> Option<Probe> {
        self.poll_probe(now)
    }

    fn poll_timeout(&self) -> Option<Time> {
        self.poll_timeout()
    }

    fn answered(&mut self, now: Time, answer: &Answer) {
        self.answered(now, answer);
    }

    fn is_done(&self) -> bool {
        self.is_done()
    }
}

/// The time after which a prober that is not done is left alone.
const MOST_TIME: Span = Span::from_secs(600);

impl ProbePath {
    /// Runs the prober until it is done, or has nothing left to do. Returns the time of
    /// the end.
    ///
    /// # Errors
    /// If a link has invalid settings.
    pub fn run(&self, prober: &mut impl Prober) -> Result<Time, BadSettings> {
        let mut network = Network::new(self)?;
        let mut endpoint = Endpoint::new(self);
        let end = Time::ZERO + MOST_TIME;
        let mut now = Time::ZERO;
        loop {
            network.advance(now);
            endpoint.exchange(now, &mut network, prober);
            if prober.is_done() {
                return Ok(now);
            }
            let next = [network.next_event(), prober.poll_timeout()];
            match next.into_iter().flatten().min() {
                // A prober that wants to be asked again at once has nothing new to send
                // before the next picosecond.
                Some(next) => now = next.max(now + Span::from_picos(1)),
                None => return Ok(now),
            }
            if now >= end {
                return Ok(end);
            }
        }
    }
}

#[cfg(test)]
mod tests;
