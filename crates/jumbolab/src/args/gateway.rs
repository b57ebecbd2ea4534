//! `gateway` on the command line.

use std::path::PathBuf;

#[derive(Debug, clap::Args)]
#[command(after_help = GATEWAY_NOTES)]
pub(crate) struct Gateway {
    /// Read the configuration from this TOML file; SIGHUP reads it again. The options for one peer are left out then.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["peer", "template"])]
    pub(crate) config: Option<PathBuf>,
    /// Print a commented configuration with all keys.
    #[arg(long, conflicts_with = "peer")]
    pub(crate) template: bool,
    /// Check the configuration and end.
    #[arg(long)]
    pub(crate) check: bool,
    /// Create this file with a new secret for two gateways, which its owner alone can read, and end.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["config", "peer", "template"])]
    pub(crate) new_secret: Option<PathBuf>,
    /// Stop after this time [default: run until Ctrl-C].
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) length: Option<String>,

    /// Address of the other gateway.
    #[arg(long, value_name = "ADDRESS", help_heading = "One peer")]
    pub(crate) peer: Option<String>,
    /// Address of this gateway that the peer knows.
    #[arg(
        long,
        value_name = "ADDRESS",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) local: Option<String>,
    /// Network behind the peer, for example 10.2.0.0/16. Repeatable.
    #[arg(
        long,
        value_name = "PREFIX",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) prefix: Vec<String>,
    /// Interface toward the hosts, read by packet sockets. Repeatable [default: a TUN interface, to which the kernel routes].
    #[arg(long, value_name = "IF", requires = "peer", help_heading = "One peer")]
    pub(crate) inside: Vec<String>,
    /// Path to the hosts: `tun`, `packet`, `xdp` or `auto` [default: packet with --inside, otherwise tun].
    #[arg(
        long,
        value_name = "PATH",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) path: Option<String>,
    /// Address of this gateway among the hosts. Repeatable.
    #[arg(
        long,
        value_name = "ADDRESS",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) address: Vec<String>,
    /// Interface toward the peer [default: as the kernel routes].
    #[arg(long, value_name = "IF", requires = "peer", help_heading = "One peer")]
    pub(crate) core: Option<String>,
    /// Headers of bundles: `udp` (port 50253) or `ip` (protocol 253) [default: udp].
    #[arg(
        long,
        value_name = "CARRIAGE",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) carriage: Option<String>,
    /// Largest IP packet toward the peer [default: 9000].
    #[arg(
        long,
        value_name = "BYTES",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) mtu: Option<String>,
    /// File with the secret shared with the peer: bundles are sealed. Nobody but its owner may be able to open it.
    #[arg(
        long,
        value_name = "FILE",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) secret: Option<String>,
    /// Maximum time that a packet waits for others [default: 1ms].
    #[arg(
        long,
        value_name = "TIME",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) wait: Option<String>,
    /// Serve OpenMetrics at this address of loopback, for example 127.0.0.1:9778.
    #[arg(
        long,
        value_name = "ADDRESS",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) metrics: Option<String>,

    /// Append the log to this file instead of printing it to stderr; the configuration may name one, too.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) log: Option<PathBuf>,
    /// Record each packet from inside and each decision in this new file, for `run replay`, without payload.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) record: Option<PathBuf>,
}

const GATEWAY_NOTES: &str = "\
Needs CAP_NET_ADMIN for a TUN interface, CAP_NET_RAW for packet sockets, raw IP, and ICMP errors to hosts behind a TUN interface. \
docs/guides/gateway.md describes the set-up. The log has one JSON object per line. \
SIGINT and SIGTERM send what waits and end; SIGHUP reads the file of --config again.";
