//! Scenarios: the network and its traffic.

use link::Settings;

use meter::departures::{Bursts, Distribution};
use units::{Bytes, IpVersion, Seed, Span, Time};

use crate::fragments::ip_header;

/// A network and its traffic. [`Scenario::check`] turns it into a simulation.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Hosts, routers and switches; links and flows refer to them by index.
    pub nodes: Vec<Node>,
    /// The links between nodes.
    pub links: Vec<Link>,
    /// The traffic.
    pub flows: Vec<Flow>,
    /// The time at which sources stop. Packets in flight still arrive.
    pub end: Time,
    /// The seed of all random streams, which are named after nodes, links and flows.
    pub seed: Seed,
    /// Memory limit of the run; see [`Scenario::BUDGET`].
    pub budget: Bytes,
    /// Flows with at most this many messages keep every arrival, for
    /// [`FlowOutcome::summary`](crate::FlowOutcome::summary); see
    /// [`Scenario::MAX_RECORDED_MESSAGES`].
    pub max_recorded_messages: u64,
}

impl Scenario {
    /// The default memory limit: one gibibyte.
    pub const BUDGET: Bytes = Bytes::new(1 << 30);
    /// Default limit of the messages of a flow that keeps every arrival: a million,
    /// which take a hundred megabytes at the end.
    pub const MAX_RECORDED_MESSAGES: u64 = 1_000_000;
}

/// A node of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Name, unique among nodes.
    pub name: String,
    /// The function of the node.
    pub role: Role,
}

/// The function of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends and receives, but forwards nothing.
    Host(Host),
    /// Stores and forwards packets. A packet too big for the next link is fragmented if
    /// IPv4 allows it, and otherwise answered with Packet Too Big [RFC791 s3.2]
    /// [RFC1191 s4] [RFC4443 s3.2].
    Router,
    /// Stores and forwards frames. A frame too big for the next link is dropped
    /// silently.
    Switch,
}

/// The processing times of a host. By default they are zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// The time to send a packet; packets are processed one by one.
    pub send: Work,
    /// The time to receive a packet; packets are processed one by one.
    pub receive: Work,
    /// Limit of the bytes of frames that wait for processing, including the packet
    /// being processed; `None`: no limit.
    pub receive_buffer: Option<Bytes>,
}

/// The processing time of a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Time per packet, regardless of its size.
    pub per_packet: Span,
    /// Time per byte of the IP packet.
    pub per_byte: Span,
}

impl Work {
    /// The time for an IP packet of `size`.
    pub fn on(self, size: Bytes) -> Span {
        self.per_packet + self.per_byte * size.get()
    }

    /// Whether the time is zero.
    pub fn is_free(self) -> bool {
        self == Self::default()
    }
}

/// A link between two nodes, with its two directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Name, unique among links.
    pub name: String,
    /// The indices of the nodes at its ends.
    pub ends: [usize; 2],
    /// From the first end to the second, and back. The largest packet of a direction is
    /// its IP MTU.
    pub directions: [Settings; 2],
}

/// Traffic from one host to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Name, unique among flows.
    pub name: String,
    /// Index of the sending host.
    pub from: usize,
    /// Index of the receiving host.
    pub to: usize,
    /// The version of IP.
    pub ip: IpVersion,
    /// The start of the flow; the first message is sent one gap later.
    pub start: Time,
    /// The time from which no new data are sent; `None`: the end of the run.
    pub stop: Option<Time>,
    /// The traffic of the flow.
    pub traffic: Traffic,
}

/// The traffic of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// UDP datagrams, sent without feedback.
    Datagrams(Datagrams),
    /// A TCP connection that carries data one way.
    Tcp(Tcp),
}

/// A TCP connection that carries data one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Tcp {
    /// The settings of both ends.
    pub settings: tcp::Settings,
    /// Bytes to send; `None`: without limit.
    pub bytes: Option<u64>,
    /// The time at which the bytes are handed to the connection; `None`: at its
    /// start, so that they follow the handshake.
    pub handed: Option<Time>,
    /// The division of the bytes into messages, if any.
    pub messages: Option<Messages>,
    /// Class, for disciplines with classes; 0 is the default.
    pub class: u8,
    /// Drop precedence, for disciplines with precedences; 0 is dropped last.
    pub precedence: u8,
}

impl Tcp {
    /// A connection without a limit of bytes, of the default class.
    pub const fn new(settings: tcp::Settings) -> Self {
        Self {
            settings,
            bytes: None,
            handed: None,
            messages: None,
            class: 0,
            precedence: 0,
        }
    }

    /// The messages, if they are responses to another flow's.
    pub(crate) fn answers(&self) -> Option<Messages> {
        self.messages.filter(|messages| messages.answers.is_some())
    }

    /// Bytes of payload per segment, if the first link carries packets of `mtu`
    /// bytes.
    pub(crate) fn segment(&self, ip: IpVersion, mtu: u32) -> u32 {
        let headers = ip_header(ip) + tcp::HEADER + self.settings.options;
        self.settings
            .segment
            .min(mtu.saturating_sub(headers))
            .max(1)
    }
}

/// Messages in the byte stream of a connection. TCP does not know their boundaries: the
/// writer is ahead of it, so segments are full and may span messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Messages {
    /// Bytes of a message; the last one may be shorter.
    pub size: u64,
    /// Bytes in front of the first message, which belong to no message.
    pub warmup: u64,
    /// The flow to whose messages these respond, by its index in the scenario. The
    /// receiver of that flow sends this one, a message for each that has arrived
    /// completely; [`Tcp::bytes`] is then `None`.
    pub answers: Option<usize>,
}

/// UDP datagrams on a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Datagrams {
    /// Gaps between datagrams, in picoseconds.
    pub gaps: Distribution,
    /// Bytes of payload, without headers. Sizes above the largest message are not
    /// sent, and count as rejected.
    pub payloads: Distribution,
    /// The sending periods; `None`: always.
    pub bursts: Option<Bursts>,
    /// The most datagrams to send.
    pub limit: Option<u64>,
    /// The total bytes of payload after which the flow ends; `None`: no such limit.
    pub bytes: Option<u64>,
    /// Whether datagrams that need fragments are not sent at all, and routers must not
    /// fragment them.
    pub dont_fragment: bool,
    /// Whether routers must not fragment its packets, and the source fragments to the
    /// path MTU that it is notified of; always true over IPv6 [RFC1191] [RFC8201].
    pub discovers: bool,
    /// Class, for disciplines with classes; 0 is the default.
    pub class: u8,
    /// Drop precedence, for disciplines with precedences; 0 is dropped last.
    pub precedence: u8,
}

impl Datagrams {
    /// Datagrams without a limit, of the default class, fragmented if needed.
    pub const fn new(gaps: Distribution, payloads: Distribution) -> Self {
        Self {
            gaps,
            payloads,
            bursts: None,
            limit: None,
            bytes: None,
            dont_fragment: false,
            discovers: false,
            class: 0,
            precedence: 0,
        }
    }
}
