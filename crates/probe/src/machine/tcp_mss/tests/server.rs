//! A path and a server in virtual time.

use core::net::{IpAddr, Ipv4Addr};
use std::collections::BTreeMap;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use units::{Bytes, Span, Time};

use crate::machine::PathReport;
use crate::machine::tcp_mss::{
    Action, MOST_CONNECTIONS, MOST_TIME, Observation, Sending, State, TcpSettings, TcpTest,
};

/// Headers of IPv4 and TCP with timestamps.
const HEADERS: u64 = 52;
const OPTIONS: u64 = 12;

/// When a segment is sent after the first time.
const AGAIN: [u64; 5] = [0, 220, 640, 1_480, 3_160];

pub(super) fn settings() -> TcpSettings {
    TcpSettings {
        far_end: IpAddr::V4(Ipv4Addr::new(192, 0, 2, 1)),
        asked: None,
        interface_mtu: Bytes::new(1500),
        repeats: true,
        chooses_mss: true,
        states_arrivals: true,
    }
}

/// What a system states of connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stated {
    /// All that Linux does.
    All,
    /// The segments that this end sends.
    Sending,
    /// Nothing but the data that arrive.
    Data,
}

/// A server behind a path.
#[derive(Clone, Debug)]
pub(super) struct Server {
    /// The largest packets that pass, forward and reverse.
    pub(super) forward: u64,
    pub(super) reverse: u64,
    /// The MSS that arrives from it, and the largest segment that it sends.
    pub(super) mss: u64,
    pub(super) sends: u64,
    /// The path MTU that an ICMP error reports on the forward path.
    pub(super) learns: Option<u64>,
    /// The bytes that answer a request.
    pub(super) answer: u64,
    pub(super) rtt: Span,
    pub(super) thinks: Span,
    /// The share of packets that are lost, in each direction.
    pub(super) loss: f64,
    /// Whether it serves one connection at a time.
    pub(super) is_sequential: bool,
    pub(super) is_closed: bool,
    /// Whether it resets a connection on which the first segment is no request.
    pub(super) is_impatient: bool,
    /// The bytes that it says before it is asked.
    pub(super) greets: u64,
    /// What the system of the near end states.
    pub(super) stated: Stated,
}

impl Default for Server {
    fn default() -> Self {
        Self {
            forward: 1500,
            reverse: 1500,
            mss: 1460,
            sends: 1460,
            learns: None,
            answer: 4_000,
            rtt: Span::from_millis(20),
            thinks: Span::from_millis(5),
            loss: 0.0,
            is_sequential: false,
            is_closed: false,
            is_impatient: false,
            greets: 0,
            stated: Stated::All,
        }
    }
}

/// A connection: when each segment of each end was sent for the first time, and arrived.
struct Connection {
    opened: Time,
    mss: u64,
    served: Option<Time>,
    sent: Vec<Segment>,
    answer: Vec<Segment>,
    requests: u64,
}

struct Segment {
    data: u64,
    first: Time,
    arrives: Option<Time>,
}

impl Server {
    /// The report of a test of this server.
    pub(super) fn tested(&self, settings: TcpSettings, seed: u64) -> (PathReport, TcpTest) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let settings = TcpSettings {
            chooses_mss: self.stated == Stated::All,
            states_arrivals: self.stated == Stated::All,
            ..settings
        };
        let mut test = TcpTest::new(settings);
        let mut open: BTreeMap<u32, Connection> = BTreeMap::new();
        let mut now = Time::from_nanos(1);
        let end = now + MOST_TIME + Span::from_secs(1);
        let interface = settings.interface_mtu.get();
        while !test.is_done() {
            assert!(now < end, "it does not end");
            while let Some(action) = test.poll_action(now) {
                match action {
                    Action::Open { id, mss } => {
                        assert!(id < MOST_CONNECTIONS && !open.contains_key(&id));
                        let connection = Connection {
                            opened: now,
                            mss: mss.map_or(interface - 40, u64::from),
                            served: None,
                            sent: Vec::new(),
                            answer: Vec::new(),
                            requests: 0,
                        };
                        open.insert(id, connection);
                    }
                    Action::SendLadder { id, packets } => {
                        let sizes = packets.iter().map(|size| size.get());
                        let sent =
                            sizes.map(|size| self.segment(size, self.forward, now, &mut rng));
                        open.get_mut(&id).unwrap().sent = sent.collect();
                    }
                    Action::SendRequests { id, count } => {
                        let connection = open.get_mut(&id).unwrap();
                        connection.requests = count.into();
                        connection.sent = vec![self.segment(300, self.forward, now, &mut rng)];
                    }
                    Action::SendWhole { id, packet } => {
                        // In as many segments as the MSS demands.
                        let connection = open.get_mut(&id).unwrap();
                        connection.requests = 1;
                        let mut left = packet.get() + OPTIONS - HEADERS;
                        let full = self.mss.min(interface - 40) - OPTIONS;
                        while left > 0 {
                            let data = left.min(full);
                            left -= data;
                            let size = data + HEADERS;
                            let one = self.segment(size, self.forward, now, &mut rng);
                            connection.sent.push(one);
                        }
                    }
                    Action::Close { id } => {
                        open.remove(&id);
                    }
                }
            }
            let mut first = true;
            for connection in open.values_mut() {
                if connection.served.is_none() && (first || !self.is_sequential) {
                    connection.served = Some(now);
                }
                first = false;
                self.serve(connection, &mut rng);
            }
            now += Span::from_millis(2);
            for (&id, connection) in &open {
                test.observed(now, id, self.observation(connection, interface, now));
            }
        }
        assert!(open.is_empty(), "connections stay open");
        (test.report(), test)
    }

    /// A segment in a packet of this size.
    fn segment(&self, size: u64, limit: u64, first: Time, rng: &mut ChaCha8Rng) -> Segment {
        // The kernel cuts what is too large for the path MTU that it learned.
        let size_sent = self.learns.map_or(size, |learns| size.min(learns));
        let mut times = AGAIN.map(|millis| match millis {
            0 => first,
            millis => first + Span::from_millis(millis) + self.rtt,
        });
        times.sort_unstable();
        let arrives = times
            .into_iter()
            .find(|_| size_sent <= limit && !rng.random_bool(self.loss));
        Segment {
            data: size - HEADERS,
            first,
            arrives: arrives.map(|at| at + self.half()),
        }
    }

    /// Answers a request that has arrived.
    fn serve(&self, connection: &mut Connection, rng: &mut ChaCha8Rng) {
        let arrived = connection.sent.iter().map(|segment| segment.arrives);
        let arrived = arrived.collect::<Option<Vec<Time>>>();
        let arrived = arrived.and_then(|times| times.into_iter().max());
        let (Some(at), Some(served)) = (arrived, connection.served) else {
            return;
        };
        if connection.requests == 0 || !connection.answer.is_empty() {
            return;
        }
        let mut left = self.answer * connection.requests;
        let full = connection.mss.min(self.sends) - OPTIONS;
        let first = at.max(served) + self.thinks;
        while left > 0 {
            let data = left.min(full);
            left -= data;
            let segment = Self {
                learns: None,
                ..self.clone()
            };
            let segment = segment.segment(data + HEADERS, self.reverse, first, rng);
            connection.answer.push(segment);
        }
    }

    fn observation(&self, connection: &Connection, interface: u64, now: Time) -> Observation {
        let Connection {
            opened,
            mss,
            sent,
            answer,
            ..
        } = connection;
        let is_open = now >= *opened + self.rtt;
        let segment = (*mss).min(self.mss);
        let learns = self.learns.filter(|_| !sent.is_empty());
        let known = learns.unwrap_or(interface);
        let acknowledged = prefix(sent, now, self.half());
        let waiting = sent.iter().find(|one| !one.has_arrived(now, self.half()));
        let again = waiting.map_or(0, |one| {
            let later = AGAIN.iter().skip(1);
            let passed =
                later.filter(|&&millis| now >= one.first + Span::from_millis(millis) + self.rtt);
            passed.count()
        });
        let half = self.half();
        let arrived = sent.iter().filter(|one| one.has_arrived(now, half)).count();
        let in_order = sent.iter().take_while(|one| one.has_arrived(now, half));
        let behind = arrived - in_order.count();
        let greeting = if is_open { self.greets } else { 0 };
        let received = greeting + prefix(answer, now, Span::ZERO);
        let arrived = answer.iter().filter(|one| one.has_arrived(now, Span::ZERO));
        let in_order = answer
            .iter()
            .take_while(|one| one.has_arrived(now, Span::ZERO));
        let largest = in_order.clone().map(|one| one.data).max();
        let is_ladder = self.is_impatient && connection.requests == 0;
        let first = sent.first();
        let is_rejected = is_ladder && first.is_some_and(|one| one.has_arrived(now, half));
        let bytes = Bytes::new;
        let states_all = self.stated == Stated::All;
        Observation {
            state: match (self.is_closed || is_rejected, is_open) {
                (true, true) => State::Reset,
                (false, true) => State::Open,
                (_, false) => State::Connecting,
            },
            headers: bytes(match self.stated {
                Stated::Data => HEADERS - OPTIONS,
                _ => HEADERS,
            }),
            unstated_options: bytes(match self.stated {
                Stated::Data => OPTIONS,
                _ => 0,
            }),
            sends: (self.stated != Stated::Data).then(|| bytes((segment + 40).min(known))),
            known_mtu: bytes(match self.stated {
                Stated::Data => interface,
                _ => known,
            }),
            accepts: bytes(match self.stated {
                Stated::All => mss + 40,
                _ => interface,
            }),
            sending: (self.stated != Stated::Data).then(|| Sending {
                window: bytes(64_000),
                acknowledged,
                behind: states_all.then(|| u32::try_from(behind).unwrap()),
                retransmitted: u32::try_from(again).unwrap(),
            }),
            received,
            out_of_order: states_all
                .then(|| u32::try_from(arrived.count() - in_order.count()).unwrap()),
            largest_received: largest
                .filter(|_| states_all)
                .filter(|&data| data > 536)
                .map(|data| bytes(data + HEADERS)),
            round_trip: is_open.then_some(self.rtt),
            segments: u64::try_from(sent.len()).unwrap(),
            sent: bytes(sent.iter().map(|one| one.data).sum()),
        }
    }

    fn half(&self) -> Span {
        Span::from_nanos(self.rtt.as_nanos() / 2)
    }
}

impl Segment {
    /// Whether it has arrived, and the news of it after `later`.
    fn has_arrived(&self, now: Time, later: Span) -> bool {
        self.arrives.is_some_and(|at| at + later <= now)
    }
}

/// The bytes that have arrived in order.
fn prefix(segments: &[Segment], now: Time, later: Span) -> u64 {
    let in_order = segments
        .iter()
        .take_while(|one| one.has_arrived(now, later));
    in_order.map(|one| one.data).sum()
}
