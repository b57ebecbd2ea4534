//! `predict` on the command line.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};

use super::Family;

#[derive(Debug, clap::Args)]
#[command(
    args_conflicts_with_subcommands = true,
    disable_help_subcommand = true,
    after_help = NOTES
)]
pub(crate) struct Predict {
    #[command(subcommand)]
    pub(crate) question: Option<Question>,

    /// File to send; only its size matters.
    #[arg(long, value_name = "FILE", conflicts_with = "size")]
    pub(crate) file: Option<PathBuf>,
    /// Size to send, for example 5MB.
    #[arg(long, value_name = "BYTES")]
    pub(crate) size: Option<String>,
    /// Link rate, for example 100mbit [default: 1gbit; with --from, none].
    #[arg(long, value_name = "BITS/S")]
    pub(crate) rate: Option<String>,
    /// Number of links in a row; all but the last end in a device that stores frames before it forwards them.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u64).range(1..=1000))]
    pub(crate) hops: u64,
    /// Results folder, or table of trials, to which costs of packets and bytes are fitted.
    #[arg(long, value_name = "DIR|FILE.csv", conflicts_with_all = ["file", "size", "hops"], help_heading = FROM_TRIALS)]
    pub(crate) from: Option<PathBuf>,
    /// Largest MTU whose trials are fitted; larger ones are compared with the prediction.
    #[arg(long, value_name = "BYTES", requires = "from", help_heading = FROM_TRIALS)]
    pub(crate) fit_max_mtu: Option<String>,
    /// Standard deviation of a value, for tables without repeats.
    #[arg(long, value_name = "PERCENT", requires = "from", help_heading = FROM_TRIALS)]
    pub(crate) spread: Option<String>,
    /// Number of new trials for whose mean the intervals hold.
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=100_000), requires = "from", help_heading = FROM_TRIALS)]
    pub(crate) trials: u32,
    /// Folders or tables of further runs to validate the prediction with.
    #[arg(long, value_name = "DIR|FILE.csv", num_args = 1.., value_delimiter = ',', requires = "from", help_heading = FROM_TRIALS)]
    pub(crate) validate: Vec<PathBuf>,
    #[command(flatten)]
    pub(crate) packets: Packets,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// The quantity to predict.
#[derive(Debug, Subcommand)]
pub(crate) enum Question {
    /// Print the bytes that each header adds, and which MTU it leaves to the next one.
    Overhead(Overhead),
    /// Print the maximum packets per second and goodput of a link.
    Limit(Limit),
    /// Print the best MTU of a path with errors and losses, and what other MTUs lose.
    Optimal(Optimal),
    /// Print the mean time that packets wait for a busy link.
    Wait(Wait),
    /// Print the bytes that bundles of packets save, and how long their packets wait.
    Bundle(Bundle),
    /// Repeat the calculations of the studied papers.
    Arithmetic(Arithmetic),
}

#[derive(Debug, clap::Args)]
pub(crate) struct Overhead {
    #[command(flatten)]
    pub(crate) packets: Packets,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Limit {
    /// Link rate, for example 100mbit [default: those of Ethernet, 10 Mbit/s to 800 Gbit/s].
    #[arg(long, value_name = "BITS/S,..", value_delimiter = ',')]
    pub(crate) rate: Vec<String>,
    #[command(flatten)]
    pub(crate) packets: Packets,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, clap::Args)]
#[command(after_help = MIXES)]
pub(crate) struct Optimal {
    /// Probability of an error in each bit, for example 1e-9. A frame with a wrong bit is lost.
    #[arg(
        long,
        value_name = "PROBABILITY",
        default_value = "0",
        help_heading = "Path"
    )]
    pub(crate) bit_error_rate: String,
    /// Share of frames lost, for example 0.1%.
    #[arg(
        long,
        value_name = "PERCENT",
        default_value = "0",
        help_heading = "Path"
    )]
    pub(crate) loss: String,
    /// Round-trip time; with it, the response of TCP to losses is a bound too.
    #[arg(long, value_name = "TIME", help_heading = "Path")]
    pub(crate) rtt: Option<String>,
    /// Model of the response of TCP to losses.
    #[arg(
        long,
        value_name = "MODEL",
        default_value = "cubic",
        help_heading = "Path"
    )]
    pub(crate) tcp_model: TcpModel,
    /// Link rate, for example 100mbit.
    #[arg(
        long,
        value_name = "BITS/S",
        default_value = "1gbit",
        help_heading = "Path"
    )]
    pub(crate) rate: String,
    /// Sizes of messages: web, nfs, voip, or a FILE with a size and a weight per line [default: all packets are full].
    #[arg(long, value_name = "MIX|FILE")]
    pub(crate) traffic_mix: Option<String>,
    #[command(flatten)]
    pub(crate) stack: Headers,
    /// MTU: the largest IP packet.
    #[arg(
        long,
        value_name = "BYTES,..",
        value_delimiter = ',',
        default_value = "1500,4200,9000"
    )]
    pub(crate) mtu: Vec<String>,
    /// Largest MTU to test.
    #[arg(long, value_name = "BYTES", default_value = "9216")]
    pub(crate) max_mtu: String,
    #[command(flatten)]
    pub(crate) output: Output,
}

/// A response of TCP to losses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum TcpModel {
    /// The inverse square root of the loss.
    Reno,
    /// The same with time-outs of at least 1 s.
    Timeouts,
    /// That of CUBIC.
    Cubic,
}

#[derive(Debug, clap::Args)]
#[command(after_help = MIXES)]
pub(crate) struct Wait {
    /// Link rate, for example 100mbit.
    #[arg(long, value_name = "BITS/S", default_value = "1gbit")]
    pub(crate) rate: String,
    /// Share of the time during which the link is busy.
    #[arg(
        long,
        value_name = "PERCENT,..",
        value_delimiter = ',',
        default_value = "30%,50%,70%,90%"
    )]
    pub(crate) load: Vec<String>,
    /// Sizes of messages: web, nfs, voip, or a FILE with a size and a weight per line [default: all packets are full].
    #[arg(long, value_name = "MIX|FILE")]
    pub(crate) traffic_mix: Option<String>,
    #[command(flatten)]
    pub(crate) packets: Packets,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Bundle {
    /// Number of packets in a bundle.
    #[arg(long, value_name = "COUNT,..", value_delimiter = ',', default_value = "2,3,4,6,8", value_parser = clap::value_parser!(u32).range(1..=4095))]
    pub(crate) packets_per_bundle: Vec<u32>,
    #[command(flatten)]
    pub(crate) family: Family,
    /// Longest time that a packet waits for others in its bundle.
    #[arg(long, value_name = "TIME")]
    pub(crate) max_wait: Option<String>,
    /// Packets that arrive in a second.
    #[arg(
        long,
        value_name = "PACKETS/S,..",
        value_delimiter = ',',
        default_value = "1000,10000,100000",
        requires = "max_wait"
    )]
    pub(crate) arrivals: Vec<String>,
    /// Size of packets that are larger than a bundle, and are cut into pieces.
    #[arg(long, value_name = "BYTES,..", value_delimiter = ',')]
    pub(crate) inner_mtu: Vec<String>,
    /// MTU: the largest IP packet.
    #[arg(
        long,
        value_name = "BYTES",
        default_value = "1500",
        requires = "inner_mtu"
    )]
    pub(crate) mtu: String,
    #[command(flatten)]
    pub(crate) output: Output,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Arithmetic {
    /// Name of a paper, such as egan [default: all papers].
    #[arg(value_name = "PAPER")]
    pub(crate) paper: Option<String>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

/// The headers of packets.
#[derive(Debug, clap::Args)]
pub(crate) struct Headers {
    /// Headers from the outermost to the innermost, with options behind a `+` (see docs/reference/predict.md).
    #[arg(long, value_name = "HEADERS", default_value = "eth,ipv6,tcp+ts")]
    pub(crate) headers: String,
}

/// The headers and sizes of packets.
#[derive(Debug, clap::Args)]
pub(crate) struct Packets {
    #[command(flatten)]
    pub(crate) stack: Headers,
    /// MTU: the largest IP packet.
    #[arg(
        long,
        value_name = "BYTES,..",
        value_delimiter = ',',
        default_value = "1500,4000,9000"
    )]
    pub(crate) mtu: Vec<String>,
}

/// Where figures go.
#[derive(Debug, clap::Args)]
pub(crate) struct Output {
    /// Draw the values against the MTU in this file.
    #[arg(long, value_name = "FILE.svg", help_heading = "Output")]
    pub(crate) plot: Option<PathBuf>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

/// The heading of options about trials.
const FROM_TRIALS: &str = "From trials";

const MIXES: &str = "\
Mixes: web: 500 B, and answers of 2 kB, 20 kB and 200 kB, weights 10, 6, 3 and 1. nfs: 128 B, and blocks of 8192 B with 128 B of
headers, equal weights. voip: 172 B, RTP with 20 ms of G.711.";

const NOTES: &str = "\
Nothing is sent or measured: the results follow from formulas, and with --from from earlier trials.
docs/reference/predict.md lists them with their sources.";
