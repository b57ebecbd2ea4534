//! What a network is made of, and who sends what through it.

use proto::link::Settings;
use proto::tcp;
use proto::traffic::{Bursts, Law};
use units::{Bytes, IpVersion, Seed, Span, Time};

use crate::fragments::ip_header;

/// A network and its traffic. [`Scenario::check`] makes a simulation of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Scenario {
    /// Hosts, routers and switches; links and flows name them by their place.
    pub nodes: Vec<Node>,
    /// What connects them.
    pub links: Vec<Link>,
    /// Who sends what to whom.
    pub flows: Vec<Flow>,
    /// When sources stop. What is in flight by then still arrives.
    pub end: Time,
    /// All random streams derive from it, by the names of nodes, links and flows.
    pub seed: Seed,
    /// Memory that the run may need; see [`Scenario::BUDGET`].
    pub budget: Bytes,
    /// Flows that send no more messages than this keep every arrival, for
    /// [`FlowOutcome::summary`](crate::FlowOutcome::summary); see
    /// [`Scenario::MAX_RECORDED_MESSAGES`].
    pub max_recorded_messages: u64,
}

impl Scenario {
    /// A budget of memory for ordinary machines: one gibibyte.
    pub const BUDGET: Bytes = Bytes::new(1 << 30);
    /// Messages of a flow of which every arrival is kept: a million, which is
    /// a hundred megabytes at the end.
    pub const MAX_RECORDED_MESSAGES: u64 = 1_000_000;
}

/// A node of the network.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Node {
    /// Its name, of which there is no second one among the nodes.
    pub name: String,
    /// What it does with packets.
    pub role: Role,
}

/// What a node does with packets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// Sends and receives, and forwards nothing.
    Host(Host),
    /// Stores a packet and forwards it. One that is too big for the next link
    /// is cut into fragments where IPv4 allows that, and otherwise answered
    /// with Packet Too Big [RFC791 s3.2] [RFC1191 s4] [RFC4443 s3.2].
    Router,
    /// Stores a frame and forwards it. One that is too big for the next link
    /// is dropped in silence.
    Switch,
}

/// What packets cost a host. The default costs nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Host {
    /// What it takes to send a packet; they are worked on one by one.
    pub send: Work,
    /// What it takes to receive a packet; they are worked on one by one.
    pub receive: Work,
    /// Octets of frames that may wait until they are worked on, the one that
    /// is worked on included; `None`: as many as come.
    pub receive_buffer: Option<Bytes>,
}

/// The time that a processor spends on a packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Whatever its size.
    pub per_packet: Span,
    /// For each octet of its IP packet.
    pub per_octet: Span,
}

impl Work {
    /// The time for an IP packet of `size`.
    pub fn on(self, size: Bytes) -> Span {
        self.per_packet + self.per_octet * size.get()
    }

    /// Whether it takes no time at all.
    pub fn is_free(self) -> bool {
        self == Self::default()
    }
}

/// A link between two nodes, with both its directions.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name, of which there is no second one among the links.
    pub name: String,
    /// The nodes at its ends.
    pub ends: [usize; 2],
    /// From the first end to the second, and back. The largest packet in
    /// there is the IP MTU.
    pub directions: [Settings; 2],
}

/// Traffic from one host to another.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name, of which there is no second one among the flows.
    pub name: String,
    /// The host that sends.
    pub from: usize,
    /// The host that receives.
    pub to: usize,
    /// The Internet Protocol of its packets.
    pub ip: IpVersion,
    /// When it begins; the first message is sent one gap later.
    pub start: Time,
    /// From when on it sends nothing more; `None`: until the end of the run.
    pub stop: Option<Time>,
    /// What is sent.
    pub traffic: Traffic,
}

/// What a flow sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// UDP datagrams, whatever becomes of them.
    Datagrams(Datagrams),
    /// A connection that carries data one way.
    Tcp(Tcp),
}

/// A connection of TCP that carries data one way.
#[derive(Clone, Debug, PartialEq)]
pub struct Tcp {
    /// What it is like.
    pub settings: tcp::Settings,
    /// How many octets are sent; `None`: as many as can be.
    pub octets: Option<u64>,
    /// When those are handed to the connection, if there are so many; `None`: when it
    /// begins, so that they follow its handshake.
    pub handed: Option<Time>,
    /// How octets are told apart, if at all.
    pub messages: Option<Messages>,
    /// Its class, for queues that tell classes apart; 0 is ordinary.
    pub class: u8,
    /// Its drop precedence, for queues that know one; 0 is dropped last.
    pub precedence: u8,
}

impl Tcp {
    /// A connection without end, of the ordinary class.
    pub const fn new(settings: tcp::Settings) -> Self {
        Self {
            settings,
            octets: None,
            handed: None,
            messages: None,
            class: 0,
            precedence: 0,
        }
    }

    /// Its messages, if they answer another flow's.
    pub(crate) fn answers(&self) -> Option<Messages> {
        self.messages.filter(|messages| messages.answers.is_some())
    }

    /// Octets of payload that a segment has, where the first link carries
    /// packets of `mtu` octets.
    pub(crate) fn segment(&self, ip: IpVersion, mtu: u32) -> u32 {
        let headers = ip_header(ip) + tcp::HEADER + self.settings.options;
        self.settings
            .segment
            .min(mtu.saturating_sub(headers))
            .max(1)
    }
}

/// Messages within the octets of a connection. TCP does not know of them:
/// whoever writes is ahead of it, so that segments are full whatever messages
/// they belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Messages {
    /// Octets of each; the last one may be shorter.
    pub size: u64,
    /// Octets before the first one, which belong to no message.
    pub preroll: u64,
    /// The flow whose messages these answer, by its place in the scenario: the
    /// end that receives that flow sends this one, a message for each that is
    /// there as a whole. [`Tcp::octets`] is `None` then.
    pub answers: Option<usize>,
}

/// UDP datagrams on a schedule.
#[derive(Clone, Debug, PartialEq)]
pub struct Datagrams {
    /// Picoseconds from one datagram to the next.
    pub gaps: Law,
    /// Octets of payload, without any header. What is drawn above the largest
    /// message is not sent, and counted as refused.
    pub payloads: Law,
    /// In which periods it sends; `None`: all the time.
    pub bursts: Option<Bursts>,
    /// How many are sent at most.
    pub limit: Option<u64>,
    /// With how many octets of payload in all it ends; `None`: not by them.
    pub octets: Option<u64>,
    /// Whether a datagram that needs fragments is not sent at all, and no
    /// router may cut it.
    pub dont_fragment: bool,
    /// Whether no router may cut its packets, and the source cuts what it was
    /// notified of packets that are too big; over IPv6 that is always so [RFC1191] [RFC8201].
    pub discovers: bool,
    /// Its class, for queues that tell classes apart; 0 is ordinary.
    pub class: u8,
    /// Its drop precedence, for queues that know one; 0 is dropped last.
    pub precedence: u8,
}

impl Datagrams {
    /// Datagrams without end, of the ordinary class, cut where needed.
    pub const fn new(gaps: Law, payloads: Law) -> Self {
        Self {
            gaps,
            payloads,
            bursts: None,
            limit: None,
            octets: None,
            dont_fragment: false,
            discovers: false,
            class: 0,
            precedence: 0,
        }
    }
}
