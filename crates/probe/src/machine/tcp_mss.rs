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
//! A [`TcpTest`] decides which connections to open, at most [`MOST_CONNECTIONS`] to a server, and
//! judges what the kernel knows of them, an [`Observation`] each.

mod bracket;
mod connection;
mod facts;
mod report;
mod request;
#[cfg(test)]
mod tests;

use core::net::IpAddr;
use std::collections::VecDeque;

use units::{Bytes, IpMtu, IpVersion, Span, Time};

use super::PathReport;
use connection::Connection;
use facts::{Facts, Plan};
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
    /// Open a connection, announcing this MSS; `None`: the kernel's choice.
    Open { id: u32, mss: Option<u16> },
    /// Send the beginning of a request that does not end, as one segment for each of these
    /// sizes of packets.
    SendLadder { id: u32, packets: Vec<Bytes> },
    /// Send whole requests, in small segments.
    SendRequests { id: u32, count: u32 },
    /// Close the connection, and drop what it has not sent.
    Close { id: u32 },
}

/// The state of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The far end has not answered yet.
    Connecting,
    /// Data can be sent.
    Open,
    /// The far end has sent everything, and all of it has arrived.
    Ended,
    /// The far end rejected or reset it.
    Reset,
    /// It ended for another reason, for example because nothing answers.
    Failed,
}

/// What the kernel knows of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Observation {
    pub state: State,
    /// The headers of a packet with data: IP, TCP and its options.
    pub headers: Bytes,
    /// The largest packet that the kernel sends, given the far end's MSS and the path MTU that
    /// the kernel knows.
    pub sends: Bytes,
    /// The path MTU that the kernel knows, the MTU of the interface at first.
    pub known_mtu: Bytes,
    /// The largest packet that the far end may send, given the MSS that this end announced.
    pub accepts: Bytes,
    /// The bytes that the far end takes without delivering any to its program.
    pub window: Bytes,
    /// The bytes of data that the far end has acknowledged.
    pub acknowledged: u64,
    /// Segments that arrived behind one that is missing.
    pub behind: u32,
    /// Segments that were sent again.
    pub retransmitted: u32,
    /// The bytes of data that have arrived in order.
    pub received: u64,
    /// Segments that arrived while an earlier one was missing.
    pub out_of_order: u32,
    /// The largest packet with data that has arrived in order, if it is larger than
    /// [`SMALL_MSS`] makes it.
    pub largest_received: Option<Bytes>,
    /// The smoothed round-trip time.
    pub round_trip: Option<Span>,
    /// Segments sent other than acknowledgements, and their bytes with headers.
    pub segments: u64,
    pub sent: Bytes,
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

    /// Takes what the kernel knows of a connection. Others than those that are open, and those
    /// of others, are ignored.
    pub fn observed(&mut self, now: Time, id: u32, observation: Observation) {
        let mut open = self.open.iter_mut();
        if let Some(connection) = open.find(|connection| connection.id == id) {
            connection.observed(now, observation, &mut self.facts);
            self.actions.extend(connection.poll_send(now, &self.facts));
        }
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
