//! `probe` on the command line.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::ValueEnum;

use super::{ELSEWHERE, Family};

#[derive(Debug, clap::Args)]
#[command(after_help = NOTES)]
pub(crate) struct Probe {
    /// Name or address of the far end; `https://HOST`, `http://HOST` or `HOST:PORT` tests a server by TCP connections.
    #[arg(required_unless_present_any = ["mesh", "local"])]
    pub(crate) host: Option<String>,

    /// Check the interfaces, routes and cached path MTUs of this host or container, and send nothing.
    #[arg(
        long = "self",
        hide = ELSEWHERE,
        conflicts_with_all = ["host", "max_mtu", "protocol", "ipv4", "ipv6", "port", "interface", "source", "watch", "mesh", "capture"]
    )]
    pub(crate) local: bool,
    /// Largest MTU to test [default: MTU of the outgoing interface, at most 65535].
    #[arg(long, value_name = "BYTES")]
    pub(crate) max_mtu: Option<String>,
    /// Protocol to send: `icmp` (echo requests), `udp` or `tcp`; `send` also has `udplite` and `sctp`, on Linux.
    #[arg(
        long,
        value_name = "PROTOCOL,..",
        value_delimiter = ',',
        hide_possible_values = true,
        default_value = "icmp,udp,tcp"
    )]
    pub(crate) protocol: Vec<ProbeProtocol>,
    #[command(flatten)]
    pub(crate) family: Family,
    /// Port of the listening end [default: TCP 443; 7770 of a reflector (`jumbolab recv`); UDP 33434, which should be closed].
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,

    /// How wide the 95 % interval of the loss of large packets may be, in points [default: 8%].
    #[arg(long, value_name = "PERCENT", help_heading = "Loss")]
    pub(crate) loss_interval: Option<String>,
    /// Send up to 10 000 packets and 100 MB for narrow intervals, instead of 600 packets and 1 MB.
    #[arg(long, help_heading = "Loss")]
    pub(crate) thorough: bool,

    /// Outgoing interface [default: as the kernel routes].
    #[arg(long, hide = ELSEWHERE, value_name = "INTERFACE", help_heading = "Source")]
    pub(crate) interface: Option<String>,
    /// Source address [default: as the kernel chooses].
    #[arg(long, value_name = "ADDRESS", help_heading = "Source")]
    pub(crate) source: Option<IpAddr>,

    /// Keep monitoring until Ctrl-C: probe again at this interval, and print changes.
    #[arg(
        long,
        hide = ELSEWHERE,
        value_name = "TIME",
        conflicts_with = "capture",
        help_heading = "Watching"
    )]
    pub(crate) watch: Option<String>,
    /// Serve OpenMetrics at this loopback address, for example 127.0.0.1:9777.
    #[arg(
        long,
        hide = ELSEWHERE,
        value_name = "ADDRESS:PORT",
        requires = "watch",
        help_heading = "Watching"
    )]
    pub(crate) metrics_listen: Option<SocketAddr>,

    /// Probe the paths between all hosts of this file, from those that ssh reaches (see docs/reference/formats.md).
    #[arg(
        long,
        hide = ELSEWHERE,
        value_name = "FILE",
        conflicts_with_all = ["host", "ipv4", "ipv6", "port", "interface", "source", "capture"],
        help_heading = "Mesh"
    )]
    pub(crate) mesh: Option<PathBuf>,
    /// Compare with the output of an earlier `--mesh --json` in this file, and exit with 1 if a path got worse.
    #[arg(
        long,
        hide = ELSEWHERE,
        value_name = "FILE",
        requires = "mesh",
        conflicts_with = "watch",
        help_heading = "Mesh"
    )]
    pub(crate) compare: Option<PathBuf>,
    /// Write a page with the matrix to this file.
    #[arg(
        long,
        hide = ELSEWHERE,
        value_name = "FILE",
        requires = "mesh",
        help_heading = "Mesh"
    )]
    pub(crate) page: Option<PathBuf>,

    /// Write the packets to a new pcapng file.
    #[arg(long, hide = ELSEWHERE, value_name = "FILE", help_heading = "Output")]
    pub(crate) capture: Option<PathBuf>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

impl Probe {
    /// The protocols to probe with unless others are named.
    pub(crate) const PROTOCOLS: [ProbeProtocol; 3] =
        [ProbeProtocol::Icmp, ProbeProtocol::Udp, ProbeProtocol::Tcp];

    /// The far end, if no mesh is probed.
    pub(crate) fn host(&self) -> &str {
        self.host.as_deref().unwrap_or_default()
    }
}

/// A protocol to probe with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProbeProtocol {
    /// Echo requests.
    Icmp,
    /// Datagrams.
    Udp,
    /// Segments that open a connection.
    Tcp,
}

/// The text of [`NOTES`] on every system.
macro_rules! notes {
    () => {
        "\
Exit code: 0 if packets of the size pass in both directions and nothing else is wrong, 1 if there is a
problem, 3 if the probes cannot decide. Loss of large packets alone is a problem."
    };
}

const NOTES: &str = match ELSEWHERE {
    true => concat!(
        notes!(),
        "\nSizes are best told by UDP to a reflector, `jumbolab recv` at the far end. Windows has echo requests of IPv4, too.
A test of a server opens at most 20 connections to an address, with a request on each; docs/start/probe.md says what
each system states of them."
    ),
    false => concat!(
        notes!(),
        " Root is not needed, but adds
TCP segments and fragments of any size, and --capture.
A test of a server needs no root: it opens at most 20 connections to an address, with a request on each;
docs/start/probe.md says how to read the result."
    ),
};
