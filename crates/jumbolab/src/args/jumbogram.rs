//! The options of `send` that make jumbograms.

use std::path::PathBuf;

use clap::ValueEnum;

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Jumbograms (with --packets, --for, --gap, --port and --json)")]
pub(crate) struct Jumbogram {
    /// Send datagrams of this size instead of flows, each as one IPv6 packet: to `jumbolab recv --jumbogram` at HOST, or without HOST in a world of its own.
    #[arg(long, value_name = "SIZE", conflicts_with_all = OF_FLOWS)]
    pub(crate) jumbogram: Option<String>,
    /// The world: loopback; as root namespaces, two that are neighbours, or router, with a router between them [default: loopback].
    #[arg(
        long,
        value_name = "WORLD",
        requires = "jumbogram",
        conflicts_with = "host"
    )]
    pub(crate) over: Option<Over>,
    /// Who writes the headers: packet, we do; socket, the kernel does, up to 65527 octets; tcp, a stream over loopback of MTU 1500 whose super-packets may be as large [default: packet].
    #[arg(
        long,
        value_name = "HOW",
        requires = "jumbogram",
        conflicts_with = "host"
    )]
    pub(crate) by: Option<By>,
    /// Write a capture of what arrives, a new pcapng file; with --for of the first datagram alone.
    #[arg(
        long,
        value_name = "FILE",
        requires = "jumbogram",
        conflicts_with = "host"
    )]
    pub(crate) capture: Option<PathBuf>,
    /// Send jumbograms that are wrong, each in one way, over loopback, and say what the kernel does to them.
    #[arg(long, conflicts_with_all = ["jumbogram", "host"], conflicts_with_all = OF_FLOWS)]
    pub(crate) malformed: bool,
}

/// Where jumbograms travel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Over {
    /// Loopback of a network namespace.
    Loopback,
    /// From one network namespace to another.
    Namespaces,
    /// Through a third one.
    Router,
}

/// Who writes the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum By {
    /// The program.
    Packet,
    /// The kernel.
    Socket,
    /// The kernel, of super-packets.
    Tcp,
}

/// Options that are about flows alone.
const OF_FLOWS: [&str; 22] = [
    "ipv4",
    "secret",
    "file",
    "flows",
    "log",
    "protocol",
    "meter",
    "message",
    "rate",
    "on",
    "off",
    "start",
    "octets",
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
