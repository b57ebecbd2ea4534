//! The command line as it is typed.

mod jumbogram;
mod traffic;

use std::ffi::OsString;
use std::num::NonZero;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};
use queue::{Choice, DISCIPLINES};

pub(crate) use jumbogram::{By, Jumbogram, Over};
pub(crate) use traffic::{PORT, Recv, Send};

/// What a bigger MTU buys, answered with evidence.
#[derive(Debug, Parser)]
#[command(name = "jumbolab", version, max_term_width = 100)]
pub(crate) struct Args {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// The shipped experiments, one line each.
    List(List),
    /// Run an experiment and print its tables.
    Run(Run),
    /// Print the tables of a run that was made before.
    Report(Report),
    /// Say what this machine can run, what is missing and what to type for it, and how well it keeps time.
    Doctor(Doctor),

    /// Run a program of yours in a node of an experiment's test bed.
    Shell(Shell),
    /// Carry frames between two interfaces as a link would that you describe, until Ctrl-C.
    Emulate(Box<Emulate>),
    /// Send traffic to `jumbolab recv`, or ICMP echoes to anybody, and say what became of it.
    Send(Box<Send>),
    /// Receive what `jumbolab send` sends, until Ctrl-C.
    Recv(Recv),
    /// Say what a packet log holds: delay and its variation, loss, order.
    Decode(Decode),
}

#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// One JSON object a line.
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Run {
    /// A shipped experiment (see `jumbolab list`) or the path of a TOML file.
    #[arg(required_unless_present = "template")]
    pub(crate) experiment: Option<String>,
    /// The world that runs it [default: netns; a replay is always simulated].
    #[arg(long, value_name = "WORLD")]
    pub(crate) on: Option<String>,
    /// The folder for the results [default: results/NAME-HASH].
    #[arg(short, long, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Change a value: a dotted TOML path or an alias of the experiment; commas make a sweep.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// How often each cell is run.
    #[arg(long, value_name = "N")]
    pub(crate) repeat: Option<String>,
    /// Go on with a run that was stopped; `force` also on another kernel or binary.
    #[arg(long, value_name = "HOW", num_args = 0..=1, require_equals = true, default_missing_value = "same")]
    pub(crate) resume: Option<Resume>,
    /// How many trials run at once, in the world `sim` only [default: as many as there are processors].
    #[arg(long, value_name = "N")]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Run one part of several, in the world `sim` only: 1/3, 2/3 and 3/3 together are the run.
    #[arg(long, value_name = "I/N")]
    pub(crate) shard: Option<String>,
    /// Say what would be run, and run nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the figures as one JSON object a line instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
    /// The recording that `run replay` goes by: of `jumbolab emulate --record`, or of a run.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "repeat", "resume", "threads", "shard", "dry_run"])]
    pub(crate) trace: Option<PathBuf>,
    /// Print a commented experiment to start from.
    #[arg(long, exclusive = true)]
    pub(crate) template: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Resume {
    /// Only where kernel and binary are those that began.
    Same,
    /// Wherever.
    Force,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// The folder of a run; of two in one world, what changed from the first to
    /// the second; of several in different worlds, all of them side by side.
    #[arg(value_name = "DIR", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// One JSON object a line (docs/formats.md).
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Every trial as CSV.
    #[arg(long)]
    pub(crate) csv: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// One JSON object (docs/formats.md).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = SHELL_HELP)]
pub(crate) struct Shell {
    /// A shipped experiment (see `jumbolab list`) or the path of a TOML file.
    pub(crate) experiment: String,
    /// Where the program runs: sender, receiver, router or switch.
    pub(crate) node: String,
    /// Change a value, as for `run`. Of several cells the first is built.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Start another program in a node before, and end it afterwards.
    #[arg(long, value_name = "NODE=COMMAND")]
    pub(crate) with: Vec<String>,
    /// The program and its arguments [default: $SHELL, or /bin/sh].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
}

#[derive(Debug, clap::Args)]
#[command(after_help = EMULATE_HELP)]
pub(crate) struct Emulate {
    /// The interfaces, which must be up, in the network namespace of the caller.
    #[arg(long, num_args = 2, required = true, value_names = ["IF1", "IF2"])]
    pub(crate) between: Vec<String>,
    /// How fast bits follow each other, preamble and gap counted, e.g. 100mbit [default: all at once].
    #[arg(long, value_name = "RATE")]
    pub(crate) rate: Option<String>,
    /// How long a bit travels, e.g. 10ms.
    #[arg(long, value_name = "TIME")]
    pub(crate) delay: Option<String>,
    /// The most extra delay, uniform from 0, unless --jitter-law says otherwise; it never changes the order.
    #[arg(long, value_name = "TIME")]
    pub(crate) jitter: Option<String>,
    /// How extra delays are spread: uniform up to --jitter, normal (the part above 0, --jitter is the standard deviation), or exponential (--jitter is the mean) [default: uniform].
    #[arg(long, value_name = "LAW")]
    pub(crate) jitter_law: Option<String>,
    /// Share of frames that are lost, e.g. 0.1%.
    #[arg(long, value_name = "SHARE")]
    pub(crate) loss: Option<String>,
    /// Probability of each bit being wrong, which loses the frame, e.g. 1e-9.
    #[arg(long, value_name = "P")]
    pub(crate) bit_error_rate: Option<String>,
    /// Share of frames that others may overtake: held back for four of the largest frames, or 1 ms without a rate.
    #[arg(long, value_name = "SHARE")]
    pub(crate) reorder: Option<String>,
    /// Share of frames that come out twice.
    #[arg(long, value_name = "SHARE")]
    pub(crate) duplicate: Option<String>,
    /// Octets of frames that may wait in front of the link, or so many frames, e.g. "35 packets" [default: 500kB].
    #[arg(long, value_name = "SIZE")]
    pub(crate) buffer: Option<String>,
    #[arg(long, value_name = "LAW", help = queue_help())]
    pub(crate) queue: Option<String>,
    /// The largest IP packet that passes; larger ones are dropped [default: any].
    #[arg(long, value_name = "SIZE")]
    pub(crate) mtu: Option<String>,
    /// What is larger than --mtu is dropped in silence (drop), or its sender is also told, by Packet Too Big or, of IPv4 that must not be fragmented, Fragmentation Needed (answer), 100 times a second at most [default: drop].
    #[arg(long, value_name = "HOW")]
    pub(crate) too_big: Option<String>,
    /// Begin to send when the header is in, instead of storing the frame first.
    #[arg(long)]
    pub(crate) cut_through: bool,
    /// The seed of all chance [default: 1].
    #[arg(long, value_name = "N")]
    pub(crate) seed: Option<String>,
    /// Another value for the way back, from IF2 to IF1: an option above without its dashes, e.g. rate=1mbit.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) back: Vec<String>,
    /// Write what becomes of every frame into a new CSV file (docs/formats.md).
    #[arg(long, value_name = "FILE")]
    pub(crate) record: Option<PathBuf>,
    /// End after this time [default: until Ctrl-C].
    #[arg(long = "for", value_name = "TIME")]
    pub(crate) length: Option<String>,
    /// One JSON object a second instead of tables (docs/formats.md).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Decode {
    /// Packet logs, as `--log` writes them. Of one that was torn off all before the tear is decoded.
    #[arg(value_name = "LOG", required = true)]
    pub(crate) logs: Vec<PathBuf>,
    /// One JSON object for each row (docs/formats.md).
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// The rows as CSV.
    #[arg(long)]
    pub(crate) csv: bool,
    /// Write the rows as a Parquet file as well.
    #[arg(long, value_name = "FILE")]
    pub(crate) parquet: Option<PathBuf>,
    /// Add rows for each interval of this length, by arrival, e.g. 1s.
    #[arg(long, value_name = "TIME")]
    pub(crate) interval: Option<String>,
    /// Add rows for each flow.
    #[arg(long)]
    pub(crate) by_flow: bool,
    /// Whose definitions the figures follow.
    #[arg(long, value_name = "WHOSE", default_value = "standard")]
    pub(crate) metrics: Metrics,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Metrics {
    /// Those of the standards: docs/formats.md names them.
    Standard,
    /// Those of D-ITG's decoder, to be compared with what it prints.
    Ditg,
}

/// What the arguments alone do not say.
const EMULATE_HELP: &str = "\
Needs CAP_NET_RAW: sudo, or inside `unshare -Urnm`. Both interfaces are best without addresses of their own.

  jumbolab emulate --between eth1 eth2 --rate 20mbit --delay 15ms --loss 0.1% --back rate=2mbit";

/// What the arguments alone do not say.
const SHELL_HELP: &str = "\
In commands {sender}, {receiver} and {router} stand for addresses. The exit code is the program's.

  jumbolab shell os-comparison sender --set mtu=9000
  jumbolab shell os-comparison sender --with receiver=\"iperf3 -s\" -- iperf3 -c {receiver} -t 2";

/// The help of `--queue`, with the names of all queues.
fn queue_help() -> String {
    let names: Vec<&str> = DISCIPLINES.iter().map(|choice| choice.name).collect();
    let (last, others) = names.split_last().expect("there are queues");
    let others = others.join(", ");
    let usual = Choice::usual().name;
    format!(
        "Who is dropped and when, perhaps with parameters, e.g. red,min=5,max=15: {others} or {last}, as docs/experiments.md has them [default: {usual}]"
    )
}
