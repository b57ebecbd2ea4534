//! One cell of an experiment, resolved: every value typed, every default
//! written out, nothing left to fail.

use units::{Bytes, IpMtu, IpVersion, Rate, Span};

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

/// The nodes and the links between sender and receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Network {
    /// How many nodes there are and what the middle one does.
    pub shape: Shape,
    /// Who paces the links.
    pub link: LinkKind,
    /// Which Internet Protocol carries the traffic.
    pub ip: IpVersion,
    /// Where the hosts' addresses come from.
    pub addresses: Addresses,
    /// The links in path order, sender first.
    pub links: Vec<Link>,
}

/// The shapes of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    /// Sender - receiver.
    Pair,
    /// Sender - router - receiver; the router forwards IP.
    Routed,
    /// Sender - switch - receiver; the switch bridges frames.
    Switched,
}

impl Shape {
    /// The names of the links in path order, as the `[links]` table takes them.
    pub const fn link_names(self) -> &'static [&'static str] {
        match self {
            Self::Pair => &["sender-receiver"],
            Self::Routed => &["sender-router", "router-receiver"],
            Self::Switched => &["sender-switch", "switch-receiver"],
        }
    }
}

/// Who paces the links.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LinkKind {
    /// The kernel's token bucket: right for throughput and CPU, wrong for the
    /// delay of single messages.
    Kernel,
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
    pub name: &'static str,
    /// The largest IP packet it carries.
    pub mtu: IpMtu,
    /// Its rate, Ethernet framing included; `None` is as fast as the machine.
    pub rate: Option<Rate>,
    /// The token bucket's depth.
    pub burst: Bytes,
    /// What may wait in front of it.
    pub buffer: Bytes,
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

/// The transport protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// TCP [RFC9293].
    Tcp,
    /// UDP [RFC768].
    Udp,
}

/// What one trial carries.
#[derive(Clone, Debug, PartialEq)]
pub struct Traffic {
    /// The transport.
    pub protocol: Protocol,
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
    /// How long one transfer may take before the trial is given up.
    pub timeout: Span,
}
