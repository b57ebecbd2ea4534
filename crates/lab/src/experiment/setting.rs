//! One cell of an experiment, resolved: every value typed, every default
//! written out, nothing left to fail.

mod cross;

use std::fmt;

use units::{Bytes, IpMtu, IpVersion, Rate, Span};

use crate::command_line::CommandLine;
pub use cross::{Cross, Gaps, Heading};

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
#[derive(Clone, PartialEq)]
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
    /// The links in path order, sender first.
    pub links: Vec<Link>,
    /// How late one frame in a hundred may leave an emulated link; `None`
    /// leaves it to what the path forgives.
    pub lateness: Option<Span>,
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
}

impl Shape {
    /// Every shape.
    pub const ALL: [Self; 4] = [Self::Pair, Self::Routed, Self::Switched, Self::Chain];

    /// The names of the links in path order, as the `[links]` table takes
    /// them, where `stages` nodes stand in the middle.
    pub fn link_names(self, stages: usize) -> Vec<String> {
        let nodes = self.node_names(stages);
        nodes.windows(2).map(|pair| pair.join("-")).collect()
    }

    /// The names of the nodes in path order, `stages` of them in the middle.
    pub fn node_names(self, stages: usize) -> Vec<String> {
        let (word, stages) = match self {
            Self::Pair => ("", 0),
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
#[derive(Clone, PartialEq)]
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
    pub wire: Wire,
    /// Who else is on an emulated link.
    pub cross: Option<Cross>,
    /// Whether what becomes of each packet on an emulated link is kept.
    pub recorded: bool,
}

impl Link {
    /// The largest IP packet it carries.
    pub fn carries(&self) -> IpMtu {
        self.wire.narrow.map_or(self.mtu, |narrow| narrow.mtu)
    }
}

/// What an emulated link does to frames besides serialising them.
#[derive(Clone, Default, PartialEq)]
pub struct Wire {
    /// Which frame goes when the buffer is full.
    pub queue: Queue,
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
    /// Whether the senders of larger ones are told.
    pub answers: bool,
}

/// A distribution of extra delays.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum JitterLaw {
    /// Uniform from 0 to the scale.
    #[default]
    Uniform,
    /// Normal about 0, the scale its standard deviation, cut off below 0.
    Normal,
    /// Exponential, the scale its mean.
    Exponential,
}

/// What waits in front of an emulated link.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Queue {
    /// The arriving frame is dropped where there is no room.
    #[default]
    DropTail,
    /// The oldest frames are dropped instead [Lakshman1996].
    DropFront,
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
#[derive(Clone, PartialEq)]
pub enum Traffic {
    /// A transfer of our own between two agents.
    Transfer(Transfer),
    /// The user's own programs.
    Command(Command),
}

/// So many octets from sender to receiver.
#[derive(Clone, PartialEq)]
pub struct Transfer {
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
    /// Whether the messages travel once more and are echoed, for round trips.
    pub echo: Echo,
    /// How long one transfer may take before the trial is given up.
    pub timeout: Span,
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

/// A program in the sender whose report is read, and perhaps one in the
/// receiver that serves it.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    /// What is started in the receiver first.
    pub receiver: Option<CommandLine>,
    /// What is run in the sender; its stdout is one JSON document.
    pub sender: CommandLine,
    /// Where in it the figures stand, by the names of their metrics, each in
    /// the unit that the catalogue gives it.
    pub read: Vec<(&'static str, Reading)>,
    /// Where in it the octets of payload stand, so that CPU can be told per octet.
    pub octets: Option<Reading>,
    /// How long the sender's program may run before the trial is given up.
    pub timeout: Span,
}

/// A number in a JSON document.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// Where it stands [RFC6901].
    pub pointer: String,
    /// What it is multiplied by.
    pub factor: f64,
}

impl Traffic {
    /// The transfer, if it is one.
    pub const fn transfer(&self) -> Option<&Transfer> {
        match self {
            Self::Transfer(transfer) => Some(transfer),
            Self::Command(_) => None,
        }
    }
}

/// The hash of a plan covers how its settings are written, and results folders
/// are named by it: what came later is written only where it is not the default.
impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            shape,
            link,
            ip,
            addresses,
            cut_through,
            links,
            lateness,
        } = self;
        let mut text = f.debug_struct("Network");
        text.field("shape", shape)
            .field("link", link)
            .field("ip", ip)
            .field("addresses", addresses)
            .field("links", links);
        if *cut_through {
            text.field("cut_through", cut_through);
        }
        if let Some(lateness) = lateness {
            text.field("lateness", lateness);
        }
        text.finish()
    }
}

/// Likewise.
impl fmt::Debug for Wire {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            queue,
            delay,
            jitter,
            jitter_law,
            loss,
            bit_error_rate,
            reorder,
            duplicate,
            narrow,
        } = self;
        let mut text = f.debug_struct("Wire");
        text.field("queue", queue)
            .field("delay", delay)
            .field("jitter", jitter)
            .field("loss", loss)
            .field("bit_error_rate", bit_error_rate)
            .field("reorder", reorder)
            .field("duplicate", duplicate);
        if *jitter_law != JitterLaw::Uniform {
            text.field("jitter_law", jitter_law);
        }
        if let Some(narrow) = narrow {
            text.field("narrow", narrow);
        }
        text.finish()
    }
}

/// Likewise: a transfer is written as when it was all that traffic could be.
impl fmt::Debug for Traffic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Transfer(transfer) => transfer.fmt(f),
            Self::Command(command) => command.fmt(f),
        }
    }
}

/// Likewise.
impl fmt::Debug for Link {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            name,
            mtu,
            rate,
            burst,
            buffer,
            wire,
            cross,
            recorded,
        } = self;
        let mut text = f.debug_struct("Link");
        text.field("name", name)
            .field("mtu", mtu)
            .field("rate", rate)
            .field("burst", burst)
            .field("buffer", buffer)
            .field("wire", wire);
        if let Some(cross) = cross {
            text.field("cross", cross);
        }
        if *recorded {
            text.field("recorded", recorded);
        }
        text.finish()
    }
}

impl fmt::Debug for Transfer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            protocol,
            size,
            message,
            preroll,
            cpu_size,
            send_buffer,
            receive_buffer,
            nagle,
            echo,
            timeout,
        } = self;
        let mut text = f.debug_struct("Traffic");
        text.field("protocol", protocol)
            .field("size", size)
            .field("message", message)
            .field("preroll", preroll)
            .field("cpu_size", cpu_size)
            .field("send_buffer", send_buffer)
            .field("receive_buffer", receive_buffer)
            .field("nagle", nagle)
            .field("timeout", timeout);
        match echo {
            Echo::Headers => {}
            // As it was written when it was a switch.
            Echo::Off => drop(text.field("echo", &false)),
            Echo::Whole => drop(text.field("echo", echo)),
        }
        text.finish()
    }
}
