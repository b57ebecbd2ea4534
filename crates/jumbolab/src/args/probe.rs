//! `probe` on the command line.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use clap::ValueEnum;

#[derive(Debug, clap::Args)]
#[command(after_help = NOTES)]
pub(crate) struct Probe {
    /// Name or address of the far end.
    #[arg(required_unless_present = "mesh")]
    pub(crate) host: Option<String>,

    /// Largest packet to test, in bytes of a whole IP packet [default: MTU of the outgoing interface, at most 65535].
    #[arg(long, value_name = "BYTES")]
    pub(crate) up_to: Option<String>,
    /// Protocols to probe with, separated by commas.
    #[arg(
        long,
        value_name = "PROTOCOLS",
        value_delimiter = ',',
        default_value = "icmp,udp,tcp"
    )]
    pub(crate) protocol: Vec<ProbeProtocol>,
    /// Versions of IP, separated by commas [default: those of HOST's addresses to which there is a route].
    #[arg(long, value_name = "VERSIONS", value_delimiter = ',')]
    pub(crate) ip: Vec<ProbeIp>,
    /// Port of TCP segments, of a reflector (`jumbolab recv`), and without one of datagrams [default: 443; 7770; 33434, which should be closed].
    #[arg(long, value_name = "PORT", value_parser = clap::value_parser!(u16).range(1..))]
    pub(crate) port: Option<u16>,

    /// Send through this interface.
    #[arg(long, value_name = "INTERFACE", help_heading = "Source")]
    pub(crate) interface: Option<String>,
    /// Send from this address.
    #[arg(long, value_name = "ADDRESS", help_heading = "Source")]
    pub(crate) address: Option<IpAddr>,

    /// Keep monitoring until Ctrl-C: probe again at this interval, and print changes.
    #[arg(
        long,
        value_name = "TIME",
        conflicts_with = "capture",
        help_heading = "Watching"
    )]
    pub(crate) watch: Option<String>,
    /// Serve the state as OpenMetrics at this address of loopback, for instance 127.0.0.1:9777.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        requires = "watch",
        help_heading = "Watching"
    )]
    pub(crate) metrics: Option<SocketAddr>,

    /// Probe the paths between all hosts of this file, from those that ssh reaches (see docs/reference/formats.md).
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["host", "ip", "port", "interface", "address", "watch", "capture"],
        help_heading = "Mesh"
    )]
    pub(crate) mesh: Option<PathBuf>,
    /// Write a page with the matrix to this file.
    #[arg(long, value_name = "FILE", requires = "mesh", help_heading = "Mesh")]
    pub(crate) page: Option<PathBuf>,

    /// Write the packets that are sent and received to a new pcapng file; needs root.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) capture: Option<PathBuf>,
    /// Print JSON Lines (see docs/reference/json.md).
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

impl Probe {
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

/// A version of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ProbeIp {
    /// IPv4.
    #[value(name = "4")]
    V4,
    /// IPv6.
    #[value(name = "6")]
    V6,
}

const NOTES: &str = "\
Exit code: 0 if packets of the size pass in both directions and nothing else is wrong, 1 if there is a
problem, 2 if the probes cannot decide. Root is not needed, but adds TCP segments and fragments of any size;
docs/start/probe.md says how to read the result.";
