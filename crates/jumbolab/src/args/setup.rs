//! `doctor`, `agent`, `completions` and `man` on the command line.

use std::path::PathBuf;

use clap_complete::Shell;
#[cfg(target_os = "linux")]
use os::ssh::Destination;

#[cfg(target_os = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Check these hosts by ssh instead, for experiments between hosts.
    #[arg(value_name = "HOST")]
    pub(crate) hosts: Vec<Destination>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// End with exit code 1 for warnings, too.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Agent {}

#[derive(Debug, clap::Args)]
pub(crate) struct Completions {
    /// Shell to complete commands in.
    #[arg(value_name = "SHELL")]
    pub(crate) shell: Shell,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Man {
    /// Command to document [default: jumbolab itself].
    #[arg(value_name = "COMMAND")]
    pub(crate) command: Option<String>,
    /// Write the pages of the program and of all commands to this folder instead.
    #[arg(long, value_name = "DIR", conflicts_with = "command")]
    pub(crate) dir: Option<PathBuf>,
    /// Print docs/reference/commands.md instead.
    #[arg(long, hide = true, exclusive = true)]
    pub(crate) markdown: bool,
    /// Print docs/reference/options.md instead.
    #[arg(long, hide = true, exclusive = true)]
    pub(crate) options: bool,
}
