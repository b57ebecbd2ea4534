//! The packets that a path delivers for TCP connections, without I/O: any server with an open
//! port, and an ordinary user's sockets, suffice.
//!
//! Two kinds of connections show the two directions:
//!
//! - A *fetch* announces an MSS and sends a small request. The server's answer comes in segments
//!   of that MSS. If it arrives with a small MSS and does not with a large one, the reverse path
//!   drops large packets. Fetches with an MSS between the two find the limit.
//! - A *ladder* sends segments of ascending sizes, as the beginning of a request that never ends.
//!   The server's kernel acknowledges them whatever its program does. Segments that are never
//!   acknowledged although smaller ones are show a limit of the forward path.
//!
//! Some systems do not state what was acknowledged. Then a whole request in one segment takes the
//! place of a ladder, of one size each: if its answer arrives, so did the segment. On systems
//! without a choice of the MSS, the window of a small receive buffer keeps the first answer's
//! segments small, and the reverse path is tested with the largest ones alone.
//!
//! A [`TcpTest`] decides which connections to open, at most [`MOST_CONNECTIONS`] to a server, and
//! judges what the system states of them, an [`Observation`] each.

mod bracket;
mod connection;
mod facts;
mod observation;
mod plan;
mod report;
mod request;
#[cfg(test)]
mod tests;

use core::net::IpAddr;
use std::collections::VecDeque;

use units::{Bytes, IpMtu, IpVersion, Span, Time};

use super::PathReport;
use connection::Connection;
use facts::Facts;
pub use observation::{Observation, Sending, State};
use plan::Plan;
pub use request::{Nonce, Service};

/// The most connections that a test opens.
pub const MOST_CONNECTIONS: u32 = 20;

/// The longest time of a test.
pub const MOST_TIME: Span = Span::from_secs(12);

/// The least time between two connections.
const SPACING: Span = Span::from_millis(20);

/// TCP's header without options [RFC9293 s3.1].
const TCP_HEADER: u32 = 20;

/// The MSS of small segments, which every path carries [RFC9293 s3.7.1].
pub const SMALL_MSS: u16 = 536;

/// The subject of a test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSettings {
    /// The server.
    pub far_end: IpAddr,
    /// The size that the path should carry; `None`: the largest packets that connections of
    /// this host with the server have.
    pub asked: Option<Bytes>,
    /// The MTU of the local interface.
    pub interface_mtu: Bytes,
    /// Whether one connection takes several requests, which make a larger answer.
    pub repeats: bool,
    /// Whether a connection can announce any MSS.
    pub chooses_mss: bool,
    /// Whether the system states the sizes of segments that arrived.
    pub states_arrivals: bool,
}

impl TcpSettings {
    /// The size of a packet of a full segment without TCP's options.
    fn packet(&self, mss: u16) -> u32 {
        self.headers() + u32::from(mss)
    }

    /// The headers of IP and TCP.
    fn headers(&self) -> u32 {
        let version = match self.far_end {
            IpAddr::V4(_) => IpVersion::V4,
            IpAddr::V6(_) => IpVersion::V6,
        };
        number(version.header()) + TCP_HEADER
    }

    /// The MSS of packets of this size.
    fn mss(&self, packet: u32) -> u16 {
        u16::try_from(packet.saturating_sub(self.headers())).unwrap_or(u16::MAX)
    }
}

/// What the driver is to do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Action {
    /// Open a connection, announcing this MSS, or a window of as many bytes where the system
    /// chooses the MSS; `None`: the system's choice.
    Open { id: u32, mss: Option<u16> },
    /// Send the beginning of a request that does not end, as one segment for each of these
    /// sizes of packets.
    SendLadder { id: u32, packets: Vec<Bytes> },
    /// Send a whole request in one segment, which fills a packet of this size.
    SendWhole { id: u32, packet: Bytes },
    /// Send whole requests, in small segments.
    SendRequests { id: u32, count: u32 },
    /// Close the connection, and drop what it has not sent.
    Close { id: u32 },
}

/// The test of the path of TCP connections to a server.
#[derive(Debug)]
pub struct TcpTest {
    facts: Facts,
    waiting: VecDeque<Plan>,
    open: Vec<Connection>,
    actions: VecDeque<Action>,
    opened: u32,
    next_open: Time,
    started: Option<Time>,
    took: Option<Span>,
}

impl TcpTest {
    /// A test that has not begun.
    pub fn new(settings: TcpSettings) -> Self {
        Self {
            facts: Facts::new(settings),
            waiting: VecDeque::new(),
            open: Vec::new(),
            actions: VecDeque::new(),
            opened: 0,
            next_open: Time::default(),
            started: None,
            took: None,
        }
    }

    /// The next thing to do at `now`.
    pub fn poll_action(&mut self, now: Time) -> Option<Action> {
        if let Some(action) = self.actions.pop_front() {
            return Some(action);
        }
        if self.took.is_some() {
            return None;
        }
        let started = *self.started.get_or_insert(now);
        self.judge(now);
        let took = now.since(started).unwrap_or_default();
        if took >= MOST_TIME {
            self.facts.is_cut = true;
            self.stop();
        }
        if self.open.is_empty() && self.waiting.is_empty() {
            self.facts.round_ended();
            let left = usize::try_from(MOST_CONNECTIONS - self.opened).unwrap_or(0);
            if !self.facts.is_cut {
                self.waiting.extend(self.facts.plans(left));
            }
            if self.waiting.is_empty() {
                self.took = Some(took);
            }
        }
        if now >= self.next_open
            && let Some(plan) = self.waiting.pop_front()
        {
            self.begin(plan, now);
        }
        self.actions.pop_front()
    }

    /// Takes what the system states of a connection. Others than those that are open, and those
    /// of others, are ignored.
    pub fn observed(&mut self, now: Time, id: u32, observation: Observation) {
        let mut open = self.open.iter_mut();
        if let Some(connection) = open.find(|connection| connection.id == id) {
            connection.observed(now, observation, &mut self.facts);
            self.actions.extend(connection.poll_send(now, &self.facts));
        }
    }

    /// Takes the path MTU that the system knows at the end, where it does not state that of a
    /// connection.
    pub fn knows_mtu(&mut self, mtu: Bytes) {
        self.facts.knows_mtu(number(mtu));
    }

    /// Ends the test, with what was found out so far.
    pub fn stop(&mut self) {
        self.waiting.clear();
        for connection in self.open.drain(..) {
            self.actions.push_back(Action::Close { id: connection.id });
        }
        self.facts.is_cut = true;
    }

    /// Whether everything is done.
    pub const fn is_done(&self) -> bool {
        self.took.is_some()
    }

    /// The number of connections that were opened.
    pub const fn connections(&self) -> u32 {
        self.opened
    }

    /// The report.
    pub fn report(&self) -> PathReport {
        report::report(&self.facts, self.took.unwrap_or_default())
    }

    fn begin(&mut self, plan: Plan, now: Time) {
        let id = self.opened;
        self.opened += 1;
        self.next_open = now + SPACING;
        let mss = plan.mss();
        self.open.push(Connection::new(id, plan, now));
        self.actions.push_back(Action::Open { id, mss });
    }

    /// Closes the connections whose outcome is known, and takes it.
    fn judge(&mut self, now: Time) {
        let Self {
            open,
            facts,
            actions,
            ..
        } = self;
        open.retain(|connection| {
            let Some(outcome) = connection.outcome(now, facts) else {
                return true;
            };
            facts.take(connection, outcome);
            actions.push_back(Action::Close { id: connection.id });
            false
        });
    }
}

/// The size of a packet, or of a part of it, in the numbers of this module.
fn number(bytes: Bytes) -> u32 {
    let largest = Bytes::new(IpMtu::LARGEST.into());
    u32::try_from(bytes.min(largest).get()).unwrap_or(IpMtu::LARGEST)
}
