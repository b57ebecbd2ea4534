//! `doctor`, `agent`, `completions` and `man` on the command line.

use std::path::PathBuf;

use clap_complete::Shell;
#[cfg(target_os = "linux")]
use os::ssh::Destination;

#[cfg(target_os = "linux")]
#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Check this machine by ssh instead, for experiments between machines; repeatable.
    #[arg(long, value_name = "DESTINATION")]
    pub(crate) host: Vec<Destination>,
    /// Print one JSON object (see docs/reference/json.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// End with exit code 1 if there is a note, and not only if something is missing.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[cfg(target_os = "linux")]
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
}
