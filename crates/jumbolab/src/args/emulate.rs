//! `emulate` on the command line.

use std::path::PathBuf;

use queue::{Choice, DISCIPLINES};

#[derive(Debug, clap::Args)]
#[command(after_help = EMULATE_NOTES)]
pub(crate) struct Emulate {
    /// Interfaces to connect. Both must be up and in the current network namespace.
    #[arg(long, num_args = 2, required = true, value_names = ["IF1", "IF2"])]
    pub(crate) between: Vec<String>,
    /// Override an option of the link in the reverse direction, from IF2 to IF1, for example rate=1mbit. Repeatable.
    #[arg(long, value_name = "OPTION=VALUE")]
    pub(crate) reverse_option: Vec<String>,
    /// Stop after this time [default: run until Ctrl-C].
    #[arg(long, value_name = "TIME")]
    pub(crate) duration: Option<String>,

    /// Link rate, for example 100mbit [default: unlimited].
    #[arg(long, value_name = "BITS/S", help_heading = "Link")]
    pub(crate) rate: Option<String>,
    /// Propagation delay, for example 10ms [default: 0s].
    #[arg(long, value_name = "TIME", help_heading = "Link")]
    pub(crate) delay: Option<String>,
    /// MTU: the largest IP packet [default: unlimited].
    #[arg(long, value_name = "BYTES", help_heading = "Link")]
    pub(crate) mtu: Option<String>,
    /// Action on packets larger than --mtu: `drop`, or `answer` (drop and send Packet Too Big or Fragmentation Needed, at most 100 per second) [default: drop].
    #[arg(long, value_name = "ACTION", help_heading = "Link")]
    pub(crate) too_big: Option<String>,
    /// Start to forward a frame once its header has arrived, instead of storing it first.
    #[arg(long, help_heading = "Link")]
    pub(crate) cut_through: bool,

    /// Size of the queue in front of the link, in bytes or in frames, for example "35 packets" [default: 500kB].
    #[arg(long, value_name = "BYTES|FRAMES", help_heading = "Queue")]
    pub(crate) buffer: Option<String>,
    #[arg(long, value_name = "DISCIPLINE", help_heading = "Queue", help = queue_help())]
    pub(crate) queue: Option<String>,

    /// Scale of the random extra delay; see --jitter-distribution. Frames keep their order [default: 0s].
    #[arg(long, value_name = "TIME", help_heading = "Impairments")]
    pub(crate) jitter: Option<String>,
    /// Distribution of the extra delay: `uniform` (from 0 to --jitter), `normal` (positive half, with standard deviation --jitter) or `exponential` (with mean --jitter) [default: uniform].
    #[arg(long, value_name = "DISTRIBUTION", help_heading = "Impairments")]
    pub(crate) jitter_distribution: Option<String>,
    /// Share of frames lost, for example 0.1% [default: 0].
    #[arg(long, value_name = "PERCENT", help_heading = "Impairments")]
    pub(crate) loss: Option<String>,
    /// Probability of an error in each bit, for example 1e-9. A frame with a wrong bit is lost [default: 0].
    #[arg(long, value_name = "PROBABILITY", help_heading = "Impairments")]
    pub(crate) bit_error_rate: Option<String>,
    /// Share of frames held back so that others overtake them, for the time of four frames of the largest size, or 1 ms without --rate [default: 0].
    #[arg(long, value_name = "PERCENT", help_heading = "Impairments")]
    pub(crate) reorder: Option<String>,
    /// Share of frames delivered twice [default: 0].
    #[arg(long, value_name = "PERCENT", help_heading = "Impairments")]
    pub(crate) duplicate: Option<String>,
    /// Seed of the random numbers [default: 1].
    #[arg(long, value_name = "NUMBER", help_heading = "Impairments")]
    pub(crate) seed: Option<String>,

    /// Record every packet and its outcome in this new file, for `run replay` (see docs/reference/formats.md).
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) record: Option<PathBuf>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
}

const EMULATE_NOTES: &str = "\
Needs CAP_NET_RAW: use sudo, or run inside `unshare -Urnm`. The interfaces should have no IP addresses.
A rate includes preamble and inter-frame gap. JSON Lines are printed once a second.";

/// The help of `--queue`, with the names of all disciplines.
fn queue_help() -> String {
    let names: Vec<&str> = DISCIPLINES.iter().map(|choice| choice.name).collect();
    let (last, others) = names.split_last().expect("there are queues");
    let others = others.join(", ");
    let usual = Choice::usual().name;
    format!(
        "Queueing discipline, with parameters if wanted, for example red,min=5,max=15: {others} or {last} (see docs/reference/experiments.md) [default: {usual}]"
    )
}
