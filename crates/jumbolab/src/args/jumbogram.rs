//! Options of `send` for jumbograms.

use std::path::PathBuf;

use clap::ValueEnum;

use super::ELSEWHERE;

#[derive(Debug, clap::Args)]
#[command(
    next_help_heading = "Jumbograms (also with --packets, --duration, --gap, --port and --json)"
)]
pub(crate) struct Jumbogram {
    /// Use jumbograms: UDP datagrams, each as one IPv6 packet of any size.
    #[arg(long, hide = ELSEWHERE, requires = "message", conflicts_with_all = OF_FLOWS)]
    pub(crate) jumbogram: bool,
    /// Network to use inside this machine [default: loopback].
    #[arg(
        long,
        hide = ELSEWHERE,
        value_name = "TOPOLOGY",
        requires = "jumbogram",
        conflicts_with = "host"
    )]
    pub(crate) topology: Option<Topology>,
    /// Sending method [default: packet].
    #[arg(
        long,
        hide = ELSEWHERE,
        value_name = "METHOD",
        requires = "jumbogram",
        conflicts_with = "host"
    )]
    pub(crate) method: Option<Method>,
    /// Write the packets to a new pcapng file.
    #[arg(
        long,
        hide = ELSEWHERE,
        value_name = "FILE",
        requires = "jumbogram",
        conflicts_with = "host"
    )]
    pub(crate) capture: Option<PathBuf>,
}

/// The network that jumbograms cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Topology {
    /// Loopback, in a network namespace of its own.
    Loopback,
    /// Two neighbouring network namespaces; needs root.
    Namespaces,
    /// Two network namespaces with a router between them; needs root.
    Router,
}

/// How jumbograms are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Method {
    /// Through a raw socket, with headers written by the program.
    Packet,
    /// Through a UDP socket; at most 65527 bytes.
    Socket,
    /// As a TCP stream over loopback with MTU 1500, in super-packets of up to this size.
    Tcp,
}

/// Options that only concern flows.
const OF_FLOWS: [&str; 25] = [
    "ipv4",
    "secret_file",
    "flow_file",
    "flows",
    "reverse",
    "bidir",
    "packet_log",
    "interval",
    "json_stream",
    "protocol",
    "meter",
    "payload_rate",
    "on_time",
    "off_time",
    "start",
    "bytes",
    "dscp",
    "ttl",
    "pmtudisc",
    "source",
    "interface",
    "send_buffer",
    "receive_buffer",
    "gso",
    "busy_poll",
];
