//! The setting of one cell: every value typed, every default filled in. Nothing
//! that depends on the text can fail from here on.

mod command;
mod counted;
mod cross;
mod domain;
mod emulated;
mod flows;
mod graph;
mod kernel_tcp;
mod latency_breakdown;
mod nic;
mod probe;
mod request_response;
mod watched;

pub use link::JitterDistribution;
pub use link::middlebox;
pub use link::{Direction, Protocol};
use queue::{Limit, Spec};
use tcp::React;
use units::{Bytes, Framing, IpMtu, IpVersion, Rate, Span, Transport};

pub use command::{Command, Reading};
pub use counted::{Counted, Losses, Window};
pub use cross::{Cross, Gaps, Heading};
pub use domain::{Destination, Domain, Route};
pub use flows::{Flow, Flows, Generator, PathMtu, Sends, Sockets};
pub use graph::{Graph, Role, Vertex, Wiring};
pub use kernel_tcp::KernelTcp;
pub use latency_breakdown::{Inject, InjectionPoint, LatencyBreakdown};
pub use nic::{Coalescing, NicSetting};
pub use probe::Probe;
pub use request_response::{Answer, ReadMode, RequestResponse, Sizes, WriteMode};
pub use watched::Watched;

/// The maximum size of a message, so that it fits in memory: 16 MiB.
pub const LARGEST_MESSAGE: Bytes = Bytes::new(16 << 20);

/// The complete input of one trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The nodes and the links between them.
    pub network: Network,
    /// The configuration of the end hosts.
    pub host: Host,
    /// The traffic of the trial.
    pub traffic: Traffic,
}

/// The nodes and the links between them.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// The arrangement of nodes and links.
    pub shape: Shape,
    /// The kind of link that limits the rate.
    pub link: LinkKind,
    /// The version of the Internet Protocol.
    pub ip: IpVersion,
    /// The source of the hosts' addresses.
    pub addresses: Addresses,
    /// Whether switches between emulated links forward a frame as soon as its
    /// header has arrived (cut-through). Hosts always wait for the whole frame.
    pub cut_through: bool,
    /// The links in path order, sender first. With a graph: the kinds of link
    /// that its wires refer to.
    pub links: Vec<Link>,
    /// The connections between nodes if they do not form a path.
    pub graph: Option<Graph>,
    /// The part of the network at whose edges packets are aggregated into
    /// bundles.
    pub domain: Option<Domain>,
    /// The allowed 99th percentile of the emulator's timing error per frame;
    /// `None` derives it from the path.
    pub timing_error: Option<Span>,
    /// Whether every trial gets a new test network, whose hosts have no cached path
    /// MTU.
    pub isolate_trials: bool,
    /// The limit that keeps packets to the MTU.
    pub mtu_method: MtuMethod,
}

/// The limit that keeps packets to the MTU of an experiment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MtuMethod {
    /// The interfaces.
    #[default]
    Interface,
    /// The largest segment of TCP, which the hosts' sockets negotiate
    /// (TCP_MAXSEG [tcp(7)]); the interfaces keep their MTU.
    Segment,
}

impl Network {
    /// The largest IP packet that reaches the receiver; `None` without links.
    pub fn path_mtu(&self) -> Option<IpMtu> {
        self.links.iter().map(Link::carries).min()
    }

    /// The largest segment of TCP that limits packets to the MTU, if segments do
    /// [RFC9293 s3.7.1].
    pub fn largest_segment(&self) -> Option<u16> {
        let headers = match self.ip {
            IpVersion::V4 => 20 + 20,
            IpVersion::V6 => 40 + 20,
        };
        match self.mtu_method {
            MtuMethod::Interface => None,
            MtuMethod::Segment => {
                let mtu = self.path_mtu()?.get();
                u16::try_from(mtu.saturating_sub(headers)).ok()
            }
        }
    }

    /// The names of the nodes in path order.
    pub fn node_names(&self) -> Vec<String> {
        self.shape.node_names(self.links.len().saturating_sub(1))
    }
}

/// The arrangement of nodes and links.
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
    /// Nodes and links as the experiment lists them.
    Explicit,
}

impl Shape {
    /// The shapes that form a path from the sender to the receiver.
    pub const PATHS: [Self; 4] = [Self::Pair, Self::Routed, Self::Switched, Self::Chain];

    /// The names of a path's links in order, as keys of `[links]`, for `devices`
    /// nodes between sender and receiver.
    pub fn link_names(self, devices: usize) -> Vec<String> {
        let nodes = self.node_names(devices);
        nodes.windows(2).map(|pair| pair.join("-")).collect()
    }

    /// The names of a path's nodes in order, with `devices` nodes between sender
    /// and receiver.
    pub fn node_names(self, devices: usize) -> Vec<String> {
        let (word, devices) = match self {
            Self::Pair | Self::Dumbbell | Self::Explicit => ("", 0),
            Self::Routed => ("router", 1),
            Self::Switched => ("switch", devices),
            Self::Chain => ("router", devices),
        };
        let middle = |number: usize| match devices {
            1 => word.to_owned(),
            _ => format!("{word}{number}"),
        };
        std::iter::once("sender".to_owned())
            .chain((1..=devices).map(middle))
            .chain(["receiver".to_owned()])
            .collect()
    }
}

/// The mechanism that limits the rate of the links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// The kernel's token bucket: accurate for throughput and CPU load,
    /// inaccurate for the delay of single messages.
    Kernel,
    /// Jumbolab's emulator, which serialises every frame: accurate for delay.
    /// It can delay, lose, reorder and duplicate frames, and uses CPU time
    /// itself.
    Emulated,
    /// Kernel links for goodput and CPU load, emulated links for delays and
    /// round trips.
    Mixed,
}

/// The source of the hosts' addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Configured statically.
    Static,
    /// Derived from the router's Router Advertisements [RFC4861 s4.2]
    /// [RFC4862].
    Router,
}

/// One link; both directions are alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Link {
    /// The name, such as `sender-router`.
    pub name: String,
    /// The MTU of the interfaces at both ends.
    pub mtu: IpMtu,
    /// The link rate including Ethernet framing; `None`: unlimited.
    pub rate: Option<Rate>,
    /// The depth of the token bucket; unused on emulated links.
    pub burst: Bytes,
    /// The capacity of the queue in front of the link.
    pub buffer: Bytes,
    /// The impairments of an emulated link.
    pub impairments: Impairments,
    /// The framing that the link adds to each packet.
    pub framing: Framing,
    /// Cross traffic on an emulated link.
    pub cross: Option<Cross>,
    /// Whether the outcome of each packet on an emulated link is recorded.
    pub recorded: bool,
    /// The recordings of a simulated link.
    pub watch: Watched,
    /// The counters of a simulated link.
    pub counted: Counted,
}

impl Link {
    /// The largest IP packet that the link carries.
    pub fn carries(&self) -> IpMtu {
        self.impairments
            .narrow
            .map_or(self.mtu, |narrow| narrow.mtu)
    }

    /// The queue in front of the link if it is emulated.
    pub fn queue(&self) -> Spec {
        let limit = match self.impairments.packets {
            Some(packets) => Limit::Packets(packets),
            None => Limit::Bytes(self.buffer),
        };
        match &self.impairments.queue {
            Queue::DropTail => Spec::DropTail { limit },
            Queue::DropFront => Spec::DropFront { limit },
            Queue::Discipline(spec) => (**spec).clone(),
        }
    }
}

/// The effects of an emulated link on frames besides serialisation.
#[derive(Clone, Default, Debug, PartialEq)]
pub struct Impairments {
    /// The queue discipline.
    pub queue: Queue,
    /// The reaction of TCP sources to the queue's drop notifications, if it
    /// sends any; simulation only [Mulahuwaish s3].
    pub notices: Option<React>,
    /// The capacity of the queue in frames of any size. [`Link::buffer`] is
    /// then the size of that many frames of the largest size.
    pub packets: Option<u32>,
    /// Propagation delay.
    pub delay: Span,
    /// The scale of the random extra delay, which never reorders frames.
    pub jitter: Span,
    /// The distribution of the extra delay.
    pub jitter_distribution: JitterDistribution,
    /// The probability that a frame is lost.
    pub loss: f64,
    /// The probability that a bit is damaged; the frame is then lost.
    pub bit_error_rate: f64,
    /// The probability that a frame is overtaken.
    pub reorder: f64,
    /// The probability that a frame arrives twice.
    pub duplicate: f64,
    /// An MTU of the link below that of its interfaces, if any.
    pub narrow: Option<Narrow>,
    /// The rules that break packets in front of the link, in the order of application.
    pub faults: Vec<middlebox::Rule>,
}

/// A link whose MTU is below that of its interfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Narrow {
    /// The largest IP packet that the link carries.
    pub mtu: IpMtu,
    /// Whether the link notifies the senders of larger packets.
    pub answers: bool,
}

/// The queue in front of an emulated link.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Queue {
    /// Drops the arriving frame if there is no room.
    #[default]
    DropTail,
    /// Drops the oldest frames instead [Lakshman1996].
    DropFront,
    /// Another discipline with its limit and parameters.
    Discipline(Box<Spec>),
}

/// The configuration of the end hosts.
#[derive(Clone, Debug, PartialEq)]
pub struct Host {
    /// The operating systems that sender and receiver have to have; `None`: any.
    pub scenario: Option<Scenario>,
    /// Whether segmentation and receive offloads are on.
    pub offloads: bool,
    /// The TCP congestion control, by its kernel name.
    pub congestion: String,
    /// The settings of its network card.
    pub nic: NicSetting,
    /// The largest number of TCP segments in a packet at an interface, not zero; `None`:
    /// as the offloads say.
    pub segments_per_packet: Option<u32>,
    /// The processor on which the agents of both hosts transfer; `None`: any.
    pub processor: Option<u32>,
    /// The settings of its kernel's TCP.
    pub tcp: KernelTcp,
    /// The processing times of a simulated host.
    pub costs: Costs,
}

/// The processing times of a simulated host. It processes the packets of each
/// direction one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Costs {
    /// Time to send a packet, whatever its size.
    pub send_per_packet: Span,
    /// Additional time to send each byte of an IP packet.
    pub send_per_byte: Span,
    /// Time to receive a packet, whatever its size.
    pub receive_per_packet: Span,
    /// Additional time to receive each byte of an IP packet.
    pub receive_per_byte: Span,
    /// The study to whose figures they are fitted, as a key of docs/sources.md.
    pub fitted_to: Option<String>,
    /// Capacity for frames that wait to be received, in bytes; `None`:
    /// unlimited.
    pub receive_buffer: Option<Bytes>,
}

/// The systems of the two end hosts, abbreviated as in the 2019 study.
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

impl System {
    /// The system that a host names so, as `uname -s` or an agent does; `None` of others.
    pub fn called(name: &str) -> Option<Self> {
        match name {
            "Linux" => Some(Self::Linux),
            name if name.starts_with("Windows") => Some(Self::Windows),
            _ => None,
        }
    }

    /// Its name in sentences.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Linux => "Linux",
            Self::Windows => "Windows",
        }
    }
}

/// The traffic of one trial.
#[derive(Clone, Debug, PartialEq)]
pub enum Traffic {
    /// A transfer between two agents of Jumbolab.
    Transfer(Transfer),
    /// Programs of the user.
    Command(Command),
    /// Scheduled messages and connections.
    Flows(Flows),
    /// Round trips split into stages.
    LatencyBreakdown(LatencyBreakdown),
    /// Request-response messages of many sizes, one at a time.
    RequestResponse(RequestResponse),
    /// The investigation of a path by probes.
    Probe(Probe),
}

/// A transfer of a number of bytes from sender to receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    pub protocol: Transport,
    /// Application bytes counted in one transfer.
    pub size: Bytes,
    /// Bytes of one message (one write); the last one may be shorter.
    pub message: Bytes,
    /// Bytes sent before counting starts, to empty token buckets.
    pub warmup: Bytes,
    /// Bytes of the transfer over which CPU time is metered; 0: none.
    pub cpu_bytes: Bytes,
    /// SO_SNDBUF; `None` leaves the kernel's autotuning.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF; `None` leaves the kernel's autotuning.
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is on [RFC9293 s3.7.4].
    pub nagle: bool,
    /// The mode of the additional echo phase for round trips.
    pub echo: Echo,
    /// The time limit of one transfer; the trial fails when it passes.
    pub timeout: Span,
    /// The settings of a simulated connection; `None` over UDP and for
    /// connections of the kernel.
    pub tcp: Option<tcp::Settings>,
}

/// The echo mode for round trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Echo {
    /// No echo phase.
    Off,
    /// The receiver returns the header of each message while others are in
    /// flight.
    Headers,
    /// The receiver returns each message whole; the next one leaves after the
    /// echo.
    Whole,
}

impl Traffic {
    /// The transfer settings, if the traffic is a transfer.
    pub const fn transfer(&self) -> Option<&Transfer> {
        match self {
            Self::Transfer(transfer) => Some(transfer),
            Self::Command(_)
            | Self::Flows(_)
            | Self::LatencyBreakdown(_)
            | Self::RequestResponse(_)
            | Self::Probe(_) => None,
        }
    }

    /// The request-response settings, if the traffic is request-response.
    pub const fn request_response(&self) -> Option<&RequestResponse> {
        match self {
            Self::RequestResponse(request_response) => Some(request_response),
            Self::Transfer(_)
            | Self::Command(_)
            | Self::Flows(_)
            | Self::LatencyBreakdown(_)
            | Self::Probe(_) => None,
        }
    }

    /// Whether simulated TCP connections carry part of the traffic.
    pub fn has_connections(&self) -> bool {
        match self {
            Self::Transfer(transfer) => transfer.tcp.is_some(),
            Self::RequestResponse(request_response) => request_response.tcp.is_some(),
            Self::Command(_) | Self::LatencyBreakdown(_) | Self::Probe(_) => false,
            Self::Flows(flows) => flows
                .flows
                .iter()
                .any(|flow| matches!(flow.sends, Sends::Bytes { .. })),
        }
    }
}
