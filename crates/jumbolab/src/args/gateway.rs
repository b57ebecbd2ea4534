//! `gateway` on the command line.

use std::path::PathBuf;

use clap::Subcommand;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = GATEWAY_NOTES
)]
pub(crate) struct Gateway {
    #[command(subcommand)]
    pub(crate) preparation: Option<Preparation>,

    /// Read the configuration from this TOML file; SIGHUP reads it again. The options for one peer are left out then.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["peer", "template"])]
    pub(crate) config: Option<PathBuf>,
    /// Print a commented file to start from, and exit.
    #[arg(long, conflicts_with = "peer")]
    pub(crate) template: bool,
    /// Check the configuration, and whether this host lets a gateway work with it, and end.
    #[arg(long)]
    pub(crate) check: bool,
    /// Stop after this time [default: run until Ctrl-C].
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<String>,

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
    /// Interface toward the hosts, received from by packet sockets. Repeatable [default: a TUN interface, to which the kernel routes].
    #[arg(
        long,
        value_name = "INTERFACE",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) inside_interface: Vec<String>,
    /// Exchange of packets with the hosts: `tun`, `packet`, `xdp` or `auto` [default: packet with --inside-interface, otherwise tun].
    #[arg(
        long,
        value_name = "DATAPATH",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) datapath: Option<String>,
    /// Address of this gateway among the hosts, the source of ICMP errors to them. Repeatable [default: as the kernel chooses].
    #[arg(
        long,
        value_name = "ADDRESS",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) inside_address: Vec<String>,
    /// Outgoing interface [default: as the kernel routes].
    #[arg(
        long,
        value_name = "INTERFACE",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) interface: Option<String>,
    /// Headers of bundles: `udp` (port 50253) or `ip` (protocol 253) [default: udp].
    #[arg(
        long,
        value_name = "ENCAPSULATION",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) encapsulation: Option<String>,
    /// MTU: the largest IP packet [default: 9000].
    #[arg(
        long,
        value_name = "BYTES",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) mtu: Option<String>,
    /// File with the private key of this gateway; only its owner may have access to it.
    #[arg(
        long,
        value_name = "FILE",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) private_key_file: Option<String>,
    /// Public key of the other gateway, as `keygen` or `init` printed it there.
    #[arg(long, value_name = "KEY", requires = "peer", help_heading = "One peer")]
    pub(crate) public_key: Option<String>,
    /// File with a key that both gateways share besides.
    #[arg(
        long,
        value_name = "FILE",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) preshared_key_file: Option<String>,
    /// Longest time that a packet waits for others in its bundle [default: 1ms].
    #[arg(
        long,
        value_name = "TIME",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) max_wait: Option<String>,
    /// Serve OpenMetrics at this loopback address, for example 127.0.0.1:9777.
    #[arg(
        long,
        value_name = "ADDRESS:PORT",
        requires = "peer",
        help_heading = "One peer"
    )]
    pub(crate) metrics_listen: Option<String>,

    /// Append the log to this file instead of printing it to stderr; the configuration may name one, too.
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) log: Option<PathBuf>,
    /// Record every packet and its outcome in this new file, for `run replay` (see docs/reference/formats.md).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) record: Option<PathBuf>,
}

/// What prepares a gateway.
#[derive(Debug, Subcommand)]
pub(crate) enum Preparation {
    /// Create a private key in a new file that only its owner can read, and print its public key.
    Keygen(Keygen),
    /// Write a key and, with the peer's public key, a configuration; print what to type on the other gateway.
    Init(Init),
}

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Init {
    /// Address of this gateway that the peer knows.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) local: String,
    /// Address of the other gateway.
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) peer: String,
    /// Network behind this gateway, for example 10.1.0.0/16. Repeatable.
    #[arg(long, value_name = "PREFIX", required = true)]
    pub(crate) local_prefix: Vec<String>,
    /// Network behind the peer, for example 10.2.0.0/16. Repeatable.
    #[arg(long, value_name = "PREFIX", required = true)]
    pub(crate) prefix: Vec<String>,
    /// Public key of the other gateway, as `keygen` or `init` printed it there.
    #[arg(long, value_name = "KEY")]
    pub(crate) public_key: Option<String>,
    /// MTU: the largest IP packet [default: that of the interface toward the peer, or 9000].
    #[arg(long, value_name = "BYTES")]
    pub(crate) mtu: Option<String>,
    /// MTU of the hosts, whatever that of the core is [default: 1500].
    #[arg(long, value_name = "BYTES")]
    pub(crate) inside_mtu: Option<String>,
    /// Folder of the files gateway.key and gateway.toml.
    #[arg(long, value_name = "DIR", default_value = "/etc/jumbolab")]
    pub(crate) config_dir: PathBuf,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Keygen {
    /// The new file.
    #[arg(value_name = "FILE")]
    pub(crate) file: PathBuf,
    /// Create a key that two ends share, instead of a private key: for --preshared-key-file, and for --secret-file of `send` and `recv`.
    #[arg(long)]
    pub(crate) preshared: bool,
}

const GATEWAY_NOTES: &str = "\
Needs CAP_NET_ADMIN for a TUN interface, CAP_NET_RAW for packet sockets, raw IP, and ICMP errors to hosts behind a TUN interface. \
docs/guides/gateway.md describes the set-up. The log has one JSON object per line. A recording has no bytes of packets. With --private-key-file and --public-key, bundles are sealed. \
SIGINT and SIGTERM send what waits and end; SIGHUP reads the file of --config again.";
