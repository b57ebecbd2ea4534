//! `list`, `show`, `run`, `report` and `shell` on the command line.

#[cfg(target_os = "linux")]
use std::ffi::OsString;
use std::num::NonZero;
use std::path::PathBuf;

use clap::ValueEnum;

#[derive(Debug, clap::Args)]
pub(crate) struct List {
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long)]
    pub(crate) json: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = SHOW_NOTES)]
pub(crate) struct Show {
    /// Name of a shipped experiment (see `jumbolab list`), or path of a TOML file.
    #[arg(required_unless_present = "template")]
    pub(crate) experiment: Option<String>,
    /// Print a commented file to start from, and exit.
    #[arg(long)]
    pub(crate) template: bool,
}

/// How much of a report to print.
#[derive(Clone, Copy, Debug, Default, clap::Args)]
pub(crate) struct Detail {
    /// Print the whole report instead of its first 40 lines: all tables, verdicts with reasons, and the quality check.
    #[arg(long, help_heading = "Output", conflicts_with_all = ["json", "quiet"])]
    pub(crate) full: bool,
    /// Print only the answer, its warnings and the paths, without progress.
    #[arg(short, long, help_heading = "Output", conflicts_with = "json")]
    pub(crate) quiet: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = RUN_NOTES)]
pub(crate) struct Run {
    /// Name of a shipped experiment (see `jumbolab list`), or path of a TOML file.
    #[arg(required_unless_present = "template")]
    pub(crate) experiment: Option<String>,

    /// Backend to run in: `netns` (real kernels in network namespaces), `hosts` (hosts reached by ssh), `sim` (simulated) or `model` (predicted by closed forms) [default: the experiment's, else netns].
    #[arg(long, value_name = "BACKEND,..", help_heading = "Experiment")]
    pub(crate) on: Option<String>,
    /// With `--on hosts`: machine that is the sender, the receiver or a router to be metered, reached by `ssh`, e.g. `sender=user@machine,interface=eth1`; also `address=..` and `become=sudo`. Repeatable.
    #[cfg_attr(
        target_os = "linux",
        arg(long, value_name = "ROLE=DESTINATION", help_heading = "Experiment")
    )]
    #[cfg_attr(not(target_os = "linux"), arg(skip))]
    pub(crate) host: Vec<String>,
    /// Set a key, given as a dotted TOML path or an alias of the experiment. Commas make a sweep. Repeatable.
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Experiment")]
    pub(crate) set: Vec<String>,
    /// Number of trials in each cell [default: the experiment's].
    #[arg(long, value_name = "COUNT", help_heading = "Experiment")]
    pub(crate) repeat: Option<String>,
    /// With `run replay`: recording to replay, from `--record` of `emulate` or `gateway`, or from a run.
    #[arg(long, value_name = "FILE", help_heading = "Experiment", conflicts_with_all = ["repeat", "resume", "threads", "shard", "dry_run", "strict", "verbose"])]
    pub(crate) recording: Option<PathBuf>,
    /// Print a commented file to start from, and exit.
    #[arg(long, exclusive = true, help_heading = "Experiment")]
    pub(crate) template: bool,

    /// List the links of the test network, print the trials that would run, and exit. With `--json` print one object instead (see docs/reference/json.md).
    #[arg(long, help_heading = "Execution")]
    pub(crate) dry_run: bool,
    /// Continue an interrupted run.
    #[arg(
        long,
        value_name = "WHEN",
        help_heading = "Execution",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "same"
    )]
    pub(crate) resume: Option<Resume>,
    /// With `--resume`: run failed trials again.
    #[arg(long, help_heading = "Execution", requires = "resume")]
    pub(crate) retry: bool,
    /// Start an experiment file of another user that runs programs, or reaches or changes hosts, without asking.
    #[cfg(target_os = "linux")]
    #[arg(long, help_heading = "Execution")]
    pub(crate) allow_commands: bool,
    /// Number of parallel trials, in backend `sim` only [default: number of processors].
    #[arg(long, value_name = "COUNT", help_heading = "Execution")]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Run part I of N, or parts I to J with `I-J/N`, in backend `sim` only.
    #[arg(long, value_name = "I/N", help_heading = "Execution")]
    pub(crate) shard: Option<String>,

    /// Folder for the results [default: results/NAME-HASH; of a replay results/replay-RECORDING].
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) detail: Detail,
    /// Print the quality check of each run below the short report: faults, warnings, notes, program and machine.
    #[arg(short, long, help_heading = "Output", conflicts_with_all = ["json", "quiet", "full"])]
    pub(crate) verbose: bool,
    /// Report progress in plain lines, on a terminal too.
    #[arg(long, help_heading = "Output")]
    pub(crate) plain: bool,
    /// End with exit code 1 for warnings, too.
    #[arg(long, help_heading = "Output")]
    pub(crate) strict: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Resume {
    /// Only with the kernel and the program that started the run.
    Same,
    /// With any kernel and program.
    Force,
}

#[derive(Debug, clap::Args)]
#[command(after_help = SENSITIVITY_NOTES)]
pub(crate) struct Sensitivity {
    /// Name of a shipped experiment with `[[unstated]]` settings, or path of a TOML file.
    pub(crate) experiment: String,

    /// Backend to run in: `netns` (real kernels in network namespaces), `hosts` (hosts reached by ssh), `sim` (simulated) or `model` (predicted by closed forms) [default: the experiment's, else netns].
    #[arg(long, value_name = "BACKEND", help_heading = "Experiment")]
    pub(crate) on: Option<String>,
    /// Set a key, given as a dotted TOML path or an alias of the experiment. Commas make a sweep. Repeatable.
    #[arg(long, value_name = "KEY=VALUE", help_heading = "Experiment")]
    pub(crate) set: Vec<String>,
    /// Seed of the random numbers [default: the experiment's].
    #[arg(long, value_name = "NUMBER", help_heading = "Experiment")]
    pub(crate) seed: Option<u64>,

    /// Longest time that the search takes [default: 10min; with --max-trials, unlimited].
    #[arg(long, value_name = "TIME", help_heading = "Execution")]
    pub(crate) max_time: Option<String>,
    /// Largest number of trials, those of an interrupted search included [default: unlimited].
    #[arg(
        long,
        value_name = "COUNT",
        help_heading = "Execution",
        value_parser = clap::value_parser!(u32).range(1..),
        conflicts_with = "max_time"
    )]
    pub(crate) max_trials: Option<u32>,
    /// Continue an interrupted run.
    #[arg(
        long,
        value_name = "WHEN",
        help_heading = "Execution",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "same"
    )]
    pub(crate) resume: Option<Resume>,
    /// Start an experiment file of another user that runs programs, or reaches or changes hosts, without asking.
    #[cfg(target_os = "linux")]
    #[arg(long, help_heading = "Execution")]
    pub(crate) allow_commands: bool,
    /// Number of parallel trials, in backend `sim` only [default: number of processors].
    #[arg(long, value_name = "COUNT", help_heading = "Execution")]
    pub(crate) threads: Option<NonZero<usize>>,
    /// Run part I of N, or parts I to J with `I-J/N`, in backend `sim` only.
    #[arg(long, value_name = "I/N", help_heading = "Execution")]
    pub(crate) shard: Option<String>,

    /// Folder for the results [default: results/NAME-sensitivity-HASH].
    #[arg(short, long, value_name = "DIR", help_heading = "Output")]
    pub(crate) output: Option<PathBuf>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long, help_heading = "Output")]
    pub(crate) json: bool,
    #[command(flatten)]
    pub(crate) detail: Detail,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Report {
    /// Results folder. Two runs in one backend are compared; runs in different backends are shown side by side.
    #[arg(value_name = "DIR", required = true)]
    pub(crate) folders: Vec<PathBuf>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long, conflicts_with = "csv")]
    pub(crate) json: bool,
    /// Print CSV instead of text.
    #[arg(long, conflicts_with_all = ["full", "verbose", "quiet"])]
    pub(crate) csv: bool,
    #[command(flatten)]
    pub(crate) detail: Detail,
    /// Print the quality check of each run below the short report: faults, warnings, notes, program and machine.
    #[arg(short, long, help_heading = "Output", conflicts_with_all = ["json", "quiet", "full"])]
    pub(crate) verbose: bool,
    /// End with exit code 1 for warnings, too.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[cfg(target_os = "linux")]
#[derive(Debug, clap::Args)]
#[command(after_help = SHELL_NOTES)]
pub(crate) struct Shell {
    /// Name of a shipped experiment (see `jumbolab list`), or path of a TOML file.
    pub(crate) experiment: String,
    /// Node to run the program in: sender, receiver, router or switch.
    pub(crate) node: String,
    /// Program and its arguments [default: $SHELL, or /bin/sh].
    #[arg(last = true, value_name = "COMMAND")]
    pub(crate) command: Vec<OsString>,
    /// Set a key, given as a dotted TOML path or an alias of the experiment. Commas make a sweep. Repeatable.
    #[arg(long, value_name = "KEY=VALUE")]
    pub(crate) set: Vec<String>,
    /// Run a second program in another node, from before the first starts until it ends. Repeatable.
    #[arg(long, value_name = "NODE=COMMAND")]
    pub(crate) with: Vec<String>,
}

#[cfg(target_os = "linux")]
const SHELL_NOTES: &str = "\
In commands, {sender}, {receiver} and {router} are replaced by the addresses of these nodes.
If the settings make several cells, the first is built. The exit code is that of the program.";

const SHOW_NOTES: &str = "\
With --template, EXPERIMENT is copied under a name of its own. Without EXPERIMENT, the template of `run --template` is printed.";

const RUN_NOTES: &str = "\
Several backends run one after the other into one report.
The parts 1/N to N/N together form the whole run; with N the number of trials, part I is the Ith trial of its order.
With --dry-run, --json prints one object (see docs/reference/json.md).";

const SENSITIVITY_NOTES: &str = "\
The search runs in backend netns or sim. A setting of --set leaves the search. A part of --shard is one of each round.";
