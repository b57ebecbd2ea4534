//! Scheduled messages and connections.

pub use meter::departures::PathMtu;
use meter::departures::{Bursts, Distribution};
use units::{Bytes, Span};

/// Flows and the duration of their traffic.
#[derive(Clone, Debug, PartialEq)]
pub struct Flows {
    /// The time at which the last flow stops; packets in flight still arrive.
    pub duration: Span,
    /// The flows, by name.
    pub flows: Vec<Flow>,
    /// The socket settings of flows between kernels; `None` in the simulator.
    pub sockets: Option<Sockets>,
}

/// Common settings of flows between kernels.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sockets {
    /// SO_SNDBUF; `None` leaves it to the kernel.
    pub send_buffer: Option<Bytes>,
    /// SO_RCVBUF; `None` leaves it to the kernel (UDP: the kernel's maximum).
    pub receive_buffer: Option<Bytes>,
    /// Whether Nagle's algorithm is on.
    pub nagle: bool,
    /// The traffic generator.
    pub generator: Generator,
    /// Whether every packet is logged.
    pub log: bool,
}

/// The traffic generator of flows between kernels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Generator {
    /// Jumbolab's generator, which sends each message at its scheduled time.
    #[default]
    Own,
    /// Jumbolab's generator without busy waiting: departures are later, and all
    /// CPU time is spent on messages.
    Sleeping,
    /// Jumbolab's generator with the timing error of D-ITG and with Nagle's
    /// algorithm, as D-ITG has it [D-ITG].
    Ditg,
}

/// Traffic from one host to another, as one flow or several equal ones.
#[derive(Clone, Debug, PartialEq)]
pub struct Flow {
    /// The unique name.
    pub name: String,
    /// The number of equal flows.
    pub count: u32,
    /// The delay between the starts of successive flows.
    pub start_interval: Span,
    /// The range of an additional random start delay.
    pub start_jitter: Span,
    /// The host that sends.
    pub from: String,
    /// The host that receives.
    pub to: String,
    /// The start time, from the begin of the trial.
    pub start: Span,
    /// The stop time; `None`: the end of the trial.
    pub stop: Option<Span>,
    /// The traffic of the flow.
    pub sends: Sends,
    /// Whether the receiver echoes every message, so that round trips are
    /// measured instead of delays; between kernels only.
    pub round_trip: bool,
    /// The sending kernel's handling of the path MTU.
    pub path_mtu: PathMtu,
    /// The traffic class, for queues that distinguish classes.
    pub class: u8,
    /// The drop precedence, for queues that use one; 0 is dropped last.
    pub precedence: u8,
}

/// The traffic of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Sends {
    /// Datagrams on a schedule.
    Datagrams {
        /// Picoseconds from one datagram to the next.
        gaps: Distribution,
        /// Bytes of payload in a datagram.
        payloads: Distribution,
        /// The on and off periods; `None`: always on.
        bursts: Option<Bursts>,
        /// The maximum number of datagrams.
        packets: Option<u64>,
        /// The number of payload bytes after which the flow ends; `None`:
        /// unlimited.
        bytes: Option<Bytes>,
        /// Whether datagrams that need fragmentation are discarded.
        dont_fragment: bool,
    },
    /// Messages on a schedule over a connection between kernels.
    Messages {
        /// Picoseconds from one message to the next; zero: as fast as possible.
        gaps: Distribution,
        /// Bytes of a message.
        payloads: Distribution,
        /// The on and off periods; `None`: always on.
        bursts: Option<Bursts>,
        /// The maximum number of messages.
        packets: Option<u64>,
        /// The number of bytes after which the flow ends; `None`: unlimited.
        bytes: Option<Bytes>,
        /// The segments that the receiver lets be in flight; `None`: as its kernel has it.
        window: Option<u32>,
    },
    /// A stream of bytes over a connection.
    Bytes {
        /// The settings of the connection. Its segment may exceed the path's
        /// packet size, and its phase is drawn for each flow.
        settings: tcp::Settings,
        /// The number of bytes; `None`: as many as possible until the flow
        /// stops.
        bytes: Option<Bytes>,
        /// The sampling interval of the sender's state; `None`: no samples.
        watch: Option<Span>,
    },
}

impl Flow {
    /// The names of the flows: the flow's own name, or with numbers from 01.
    pub fn names(&self) -> impl Iterator<Item = String> + '_ {
        let digits = self.count.to_string().len().max(2);
        (1..=self.count).map(move |number| match self.count {
            1 => self.name.clone(),
            _ => format!("{}{number:0digits$}", self.name),
        })
    }

    /// The host at one end of flow `number` (from 1): replaces `*` in the name
    /// with the number.
    pub fn end(written: &str, number: u32) -> String {
        written.replace('*', &number.to_string())
    }
}
