//! One cell of an experiment, resolved: every value typed, every default
//! written out, nothing left to fail.

mod command;
mod counted;
mod cross;
mod domain;
mod emulated;
mod flows;
mod graph;
mod latency_breakdown;
mod request_response;
mod watched;

pub use proto::link::JitterLaw;
use proto::tcp::React;
use queue::{Limit, Spec};
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Span, Transport};

pub use command::{Command, Reading};
pub use counted::{Counted, Losses, Window};
pub use cross::{Cross, Gaps, Heading};
pub use domain::{Destination, Domain, Route};
pub use flows::{Flow, Flows, Instrument, PATH_MTUS, PathMtu, Sends, Sockets};
pub use graph::{Graph, Role, Vertex, Wiring};
pub use latency_breakdown::{Inject, InjectionPoint, LatencyBreakdown};
pub use request_response::{Answer, ReadMode, RequestResponse, Sizes, WriteMode};
pub use watched::Watched;

/// Everything that one trial needs to know.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The nodes and what connects them.
    pub network: Network,
    /// What runs on the end hosts.
    pub host: Host,
    /// What is carried.
    pub traffic: Traffic,
}

/// The nodes and the links between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// What stands between the links.
    pub shape: Shape,
    /// Who paces the links.
    pub link: LinkKind,
    /// Which Internet Protocol carries the traffic.
    pub ip: IpVersion,
    /// Where the hosts' addresses come from.
    pub addresses: Addresses,
    /// Whether switches between emulated links forward a frame as soon as its
    /// header is in; hosts wait for all of it.
    pub cut_through: bool,
    /// The links in path order, sender first; where there is a graph, what its
    /// wires are like.
    pub links: Vec<Link>,
    /// How nodes are connected where that is no path.
    pub graph: Option<Graph>,
    /// The part of it at whose edges packets are gathered.
    pub domain: Option<Domain>,
    /// How late one frame in a hundred may leave an emulated link; `None`
    /// leaves it to what the path forgives.
    pub lateness: Option<Span>,
    /// Whether every trial has a test bed of its own, whose hosts have heard
    /// of no path's MTU.
    pub fresh: bool,
}

impl Network {
    /// The largest IP packet that reaches the far end; `None` without links.
    pub fn path_mtu(&self) -> Option<IpMtu> {
        self.links.iter().map(Link::carries).min()
    }

    /// The names of the nodes in path order.
    pub fn node_names(&self) -> Vec<String> {
        self.shape.node_names(self.links.len().saturating_sub(1))
    }
}

/// The shapes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Sender - receiver.
    Pair,
    /// Sender - router - receiver; the router forwards IP.
    Routed,
    /// Sender - switches - receiver; the switches bridge frames.
    Switched,
    /// Sender - routers - receiver.
    Chain,
    /// Senders - router - router - receivers, in pairs.
    Dumbbell,
    /// Nodes and links as they are written.
    Explicit,
}

impl Shape {
    /// The shapes that are a path from the sender to the receiver.
    pub const PATHS: [Self; 4] = [Self::Pair, Self::Routed, Self::Switched, Self::Chain];

    /// The names of a path's links in order, as the `[links]` table takes
    /// them, where `stages` nodes stand in the middle.
    pub fn link_names(self, stages: usize) -> Vec<String> {
        let nodes = self.node_names(stages);
        nodes.windows(2).map(|pair| pair.join("-")).collect()
    }

    /// The names of a path's nodes in order, `stages` of them in the middle.
    pub fn node_names(self, stages: usize) -> Vec<String> {
        let (word, stages) = match self {
            Self::Pair | Self::Dumbbell | Self::Explicit => ("", 0),
            Self::Routed => ("router", 1),
            Self::Switched => ("switch", stages),
            Self::Chain => ("router", stages),
        };
        let middle = |number: usize| match stages {
            1 => word.to_owned(),
            _ => format!("{word}{number}"),
        };
        std::iter::once("sender".to_owned())
            .chain((1..=stages).map(middle))
            .chain(["receiver".to_owned()])
            .collect()
    }
}

/// Who paces the links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// The kernel's token bucket: right for throughput and CPU, wrong for the
    /// delay of single messages.
    Kernel,
    /// Our emulator, which serialises every frame: right for delay, and able
    /// to delay, lose, reorder and duplicate; it costs CPU itself.
    Emulated,
    /// Goodput and CPU through the kernel's, delays and round trips through
    /// emulated links.
    Mixed,
}

/// Where the hosts' addresses come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Set by hand.
    Static,
    /// Given by the router's Router Advertisements [RFC4861 s4.2] [RFC4862].
    Router,
}

/// One link, both directions alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// Its name, e.g. `sender-router`.
    pub name: String,
    /// The largest IP packet that the interfaces at its ends send.
    pub mtu: IpMtu,
    /// Its rate, Ethernet framing included; `None` is as fast as the machine.
    pub rate: Option<Rate>,
    /// The token bucket's depth; an emulated link has none.
    pub burst: Bytes,
    /// What may wait in front of it.
    pub buffer: Bytes,
    /// What an emulated link does besides.
    pub impairments: Impairments,
    /// What a packet takes of the wire besides its own octets.
    pub framing: Framing,
    /// Who else is on an emulated link.
    pub cross: Option<Cross>,
    /// Whether what becomes of each packet on an emulated link is kept.
    pub recorded: bool,
    /// What is kept of a simulated link.
    pub watch: Watched,
    /// What is counted of it.
    pub counted: Counted,
}

impl Link {
    /// The largest IP packet it carries.
    pub fn carries(&self) -> IpMtu {
        self.impairments
            .narrow
            .map_or(self.mtu, |narrow| narrow.mtu)
    }

    /// What waits in front of it where it is emulated.
    pub fn queue(&self) -> Spec {
        let limit = match self.impairments.packets {
            Some(packets) => Limit::Packets(packets),
            None => Limit::Bytes(self.buffer),
        };
        match &self.impairments.queue {
            Queue::DropTail => Spec::DropTail { limit },
            Queue::DropFront => Spec::DropFront { limit },
            Queue::Law(spec) => (**spec).clone(),
        }
    }
}

/// What an emulated link does to frames besides serialising them.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Impairments {
    /// Which frame goes when the buffer is full.
    pub queue: Queue,
    /// How TCP sources react to its drop notifications, if it sends any; only
    /// where it is simulated [Mulahuwaish s3].
    pub notices: Option<React>,
    /// How many frames may wait, whatever their size; [`Link::buffer`] is then
    /// what so many of the largest take.
    pub packets: Option<u32>,
    /// Propagation delay.
    pub delay: Span,
    /// The scale of the extra delay, which never changes the order.
    pub jitter: Span,
    /// How the extra delay is distributed.
    pub jitter_law: JitterLaw,
    /// Probability of losing a frame.
    pub loss: f64,
    /// Probability of each bit being wrong; the frame is lost.
    pub bit_error_rate: f64,
    /// Probability of a frame being overtaken.
    pub reorder: f64,
    /// Probability of a frame arriving twice.
    pub duplicate: f64,
    /// Where it carries less than the interfaces at its ends send.
    pub narrow: Option<Narrow>,
}

/// A wire that carries less than its interfaces send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrow {
    /// The largest IP packet it carries.
    pub mtu: IpMtu,
    /// Whether the senders of larger ones are notified.
    pub answers: bool,
}

/// What waits in front of an emulated link.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Queue {
    /// The arriving frame is dropped where there is no room.
    #[default]
    DropTail,
    /// The oldest frames are dropped instead [Lakshman1996].
    DropFront,
    /// Another discipline, with its limit and its parameters.
    Law(Box<Spec>),
}

/// What runs on the end hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// The operating systems of sender and receiver.
    pub scenario: Scenario,
    /// Whether segmentation and receive offloads are on.
    pub offloads: bool,
    /// TCP congestion control by its kernel name.
    pub congestion: String,
    /// What packets cost a simulated host.
    pub costs: Costs,
}

/// What packets cost a simulated host; in each direction they are worked on one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    /// The time to send a packet, whatever its size.
    pub send_per_packet: Span,
    /// The time to send each octet of an IP packet besides.
    pub send_per_octet: Span,
    /// The time to receive a packet, whatever its size.
    pub receive_per_packet: Span,
    /// The time to receive each octet of an IP packet besides.
    pub receive_per_octet: Span,
    /// Octets of frames that may wait to be received; `None`: as many as come.
    pub receive_buffer: Option<Bytes>,
}

/// The systems at the two ends, as the 2019 study abbreviates them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// The sender's system.
    pub sender: System,
    /// The receiver's system.
    pub receiver: System,
}

/// An operating system of an end host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum System {
    /// `LU`: Linux.
    Linux,
    /// `WS`: Windows Server.
    Windows,
}

/// What one trial carries.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// A transfer of our own between two agents.
    Transfer(Transfer),
    /// The user's own programs.
    Command(Command),
    /// Datagrams on schedules.
    Flows(Flows),
    /// Round trips that are taken apart.
    LatencyBreakdown(LatencyBreakdown),
    /// Messages of many sizes, one at a time.
    RequestResponse(RequestResponse),
}

/// So many octets from sender to receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// The transport.
    pub protocol: Transport,
    /// Application octets counted in one transfer.
    pub size: Bytes,
    /// Octets of one message, i.e. of one write; the last one may be shorter.
    pub message: Bytes,
    /// Octets sent before counting starts, so that token buckets are empty.
    pub preroll: Bytes,
    /// Octets of the transfer over which CPU is metered; zero meters none.
    pub cpu_size: Bytes,
    /// SO_SNDBUF; `None` leaves the kernel's autotuning.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF; `None` leaves the kernel's autotuning.
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is on [RFC9293 s3.7.4].
    pub nagle: bool,
    /// Whether the messages travel once more and are echoed, for round trips.
    pub echo: Echo,
    /// How long one transfer may take before the trial is given up.
    pub timeout: Span,
    /// What a simulated connection is like; `None` over UDP, and where the
    /// kernel's carries it.
    pub tcp: Option<proto::tcp::Settings>,
}

/// What comes back of messages, for round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// Nothing; the messages do not travel once more.
    Off,
    /// The header of each, while others are on their way.
    Headers,
    /// All octets of each; the next one leaves once it is back.
    Whole,
}

impl Traffic {
    /// The transfer, if it is one.
    pub const fn transfer(&self) -> Option<&Transfer> {
        match self {
            Self::Transfer(transfer) => Some(transfer),
            Self::Command(_)
            | Self::Flows(_)
            | Self::LatencyBreakdown(_)
            | Self::RequestResponse(_) => None,
        }
    }

    /// The request-response traffic, if it is that.
    pub const fn request_response(&self) -> Option<&RequestResponse> {
        match self {
            Self::RequestResponse(request_response) => Some(request_response),
            Self::Transfer(_) | Self::Command(_) | Self::Flows(_) | Self::LatencyBreakdown(_) => {
                None
            }
        }
    }

    /// Whether a simulated connection carries some of it.
    pub fn has_connections(&self) -> bool {
        match self {
            Self::Transfer(transfer) => transfer.tcp.is_some(),
            Self::RequestResponse(request_response) => request_response.tcp.is_some(),
            Self::Command(_) | Self::LatencyBreakdown(_) => false,
            Self::Flows(flows) => flows
                .flows
                .iter()
                .any(|flow| matches!(flow.sends, Sends::Octets { .. })),
        }
    }
}
