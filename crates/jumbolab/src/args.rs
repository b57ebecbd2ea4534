//! The command line as it is typed.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand, ValueEnum};

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
    /// The world that runs it.
    #[arg(long, value_name = "WORLD", default_value = "netns")]
    pub(crate) on: String,
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
    /// Say what would be run, and run nothing.
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// Print the figures as one JSON object a line instead of tables.
    #[arg(long)]
    pub(crate) json: bool,
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
    /// The folder of a run; of two, what changed from the first to the second.
    #[arg(value_name = "DIR", required = true, num_args = 1..=2)]
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

/// What the arguments alone do not say.
const SHELL_HELP: &str = "\
In commands {sender}, {receiver} and {router} stand for addresses. The exit code is the program's.

  jumbolab shell os-comparison sender --set mtu=9000
  jumbolab shell os-comparison sender --with receiver=\"iperf3 -s\" -- iperf3 -c {receiver} -t 2";
