//! Traffic on schedules, and connections.

use proto::tcp;
pub use proto::traffic::PathMtu;
use proto::traffic::{Bursts, Law};
use units::{Bytes, Span};

/// What senders do about the path's MTU, by the words for it.
pub const PATH_MTUS: &[(&str, PathMtu)] = &[
    ("machine", PathMtu::Machine),
    ("dont", PathMtu::Dont),
    ("want", PathMtu::Want),
    ("do", PathMtu::Do),
    ("probe", PathMtu::Probe),
];

/// Flows, and for how long they are sent.
#[derive(Clone, Debug, PartialEq)]
pub struct Flows {
    /// When the last of them stops; what is in flight then still arrives.
    pub duration: Span,
    /// The flows, by name.
    pub flows: Vec<Flow>,
    /// What they have where kernels carry them; none in the simulator.
    pub sockets: Option<Sockets>,
}

/// What flows through kernels have in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sockets {
    /// SO_SNDBUF, or the kernel's choice.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF, or the kernel's choice (UDP: the most the kernel gives).
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is on.
    pub nagle: bool,
    /// Who sends.
    pub instrument: Instrument,
    /// Whether all packets are logged.
    pub log: bool,
}

/// Who sends the messages of flows through kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Instrument {
    /// Our generator, each message at its instant.
    #[default]
    Own,
    /// Our generator, which sleeps until an instant and does not watch the clock
    /// before it: later, and what processors do is work for messages.
    Sleeping,
    /// Our generator, as late as D-ITG is and with Nagle's algorithm, as it
    /// has it [D-ITG].
    Ditg,
}

/// Traffic from one host to another, once or several times alike.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// Its name, of which there is no other.
    pub name: String,
    /// How many flows are like this one.
    pub count: u32,
    /// By how much each of them begins later than the one before.
    pub stagger: Span,
    /// Each begins at a random instant within this time besides.
    pub start_within: Span,
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// When it begins, from the beginning of the trial on.
    pub start: Span,
    /// When it stops; `None`: with the trial.
    pub stop: Option<Span>,
    /// What is sent.
    pub sends: Sends,
    /// Whether the receiver sends every message back, and round trips are
    /// measured instead of delays; between kernels alone.
    pub round_trip: bool,
    /// What the sending kernel does about the path's MTU.
    pub path_mtu: PathMtu,
    /// Its class, for queues that tell classes apart.
    pub class: u8,
    /// Its drop precedence, for queues that know one; 0 is dropped last.
    pub precedence: u8,
}

/// What a flow sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Sends {
    /// Datagrams on a schedule.
    Datagrams {
        /// Picoseconds from one datagram to the next.
        gaps: Law,
        /// Octets of payload in a datagram.
        payloads: Law,
        /// In which periods it sends; `None`: all the time.
        bursts: Option<Bursts>,
        /// How many datagrams are sent at most.
        packets: Option<u64>,
        /// With how many octets of payload it ends; `None`: not by them.
        octets: Option<Bytes>,
        /// Whether a datagram that needs fragments is not sent.
        dont_fragment: bool,
    },
    /// Messages on a schedule over a connection between kernels.
    Messages {
        /// Picoseconds from one message to the next; zero: as fast as they can
        /// leave.
        gaps: Law,
        /// Octets of a message.
        payloads: Law,
        /// In which periods it sends; `None`: all the time.
        bursts: Option<Bursts>,
        /// How many messages are sent at most.
        packets: Option<u64>,
        /// With how many octets it ends; `None`: not by them.
        octets: Option<Bytes>,
    },
    /// Octets over a connection.
    Octets {
        /// What the connection is like; its segment may be larger than the
        /// path's packets hold, and its phase is drawn for each flow.
        settings: tcp::Settings,
        /// How many octets; `None`: as many as can be until the flow stops.
        octets: Option<Bytes>,
        /// How often the sender is looked at; `None`: never.
        watch: Option<Span>,
    },
}

impl Flow {
    /// The names of its flows: its own, or with numbers from 01 on.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        let digits = self.count.to_string().len().max(2);
        (1..=self.count).map(move |number| match self.count {
            1 => self.name.clone(),
            _ => format!("{}{number:0digits$}", self.name),
        })
    }

    /// The host at an end of the flow of that number, from 1 on: in what is
    /// written of all of them `*` stands for it.
    pub fn end(written: &str, number: u32) -> String {
        written.replace('*', &number.to_string())
    }
}
