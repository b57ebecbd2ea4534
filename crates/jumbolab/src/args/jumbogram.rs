//! Options of `send` for jumbograms.

use std::path::PathBuf;

use clap::ValueEnum;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Jumbograms (also with --packets, --for, --gap, --port and --json)")]
pub(crate) struct Jumbogram {
    /// Send UDP datagrams of this payload size, each as one IPv6 packet. Send to `recv --jumbogram` on HOST, or without HOST inside this machine.
    #[arg(long, value_name = "BYTES", conflicts_with_all = OF_FLOWS)]
    pub(crate) jumbogram: Option<String>,
    /// Network to use inside this machine [default: loopback].
    #[arg(
        long,
        value_name = "NETWORK",
        requires = "jumbogram",
        conflicts_with = "host"
    )]
    pub(crate) over: Option<Over>,
    /// Sending method [default: packet].
    #[arg(
        long = "by",
        value_name = "METHOD",
        requires = "jumbogram",
        conflicts_with = "host"
    )]
    pub(crate) method: Option<Method>,
    /// Capture the packets that arrive in a new pcapng file. With --for, capture the first datagram only.
    #[arg(
        long,
        value_name = "FILE",
        requires = "jumbogram",
        conflicts_with = "host"
    )]
    pub(crate) capture: Option<PathBuf>,
}

/// The network that jumbograms cross.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Over {
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
const OF_FLOWS: [&str; 26] = [
    "ipv4",
    "secret",
    "file",
    "flows",
    "reverse",
    "bidir",
    "log",
    "interval",
    "json_stream",
    "protocol",
    "meter",
    "message",
    "rate",
    "on",
    "off",
    "start",
    "bytes",
    "dscp",
    "ttl",
    "path_mtu",
    "bind",
    "device",
    "send_buffer",
    "receive_buffer",
    "segmentation",
    "busy",
];
