//! `doctor`, `agent`, `completions` and `man` on the command line.

use std::net::IpAddr;
use std::path::PathBuf;

use backends::host_agent::PORT as AGENT_PORT;
use clap_complete::Shell;
#[cfg(target_os = "linux")]
use os::ssh::Destination;

use super::ELSEWHERE;

/// A host that `ssh` reaches: other systems reject it.
#[cfg(not(target_os = "linux"))]
type Destination = String;

#[derive(Debug, clap::Args)]
pub(crate) struct Doctor {
    /// Check these hosts by ssh instead, for experiments between hosts.
    #[arg(value_name = "HOST", hide = ELSEWHERE)]
    pub(crate) hosts: Vec<Destination>,
    /// Print JSON Lines instead of text (see docs/reference/json.md).
    #[arg(long)]
    pub(crate) json: bool,
    /// End with exit code 1 for warnings, too.
    #[arg(long)]
    pub(crate) strict: bool,
}

#[derive(Debug, clap::Args)]
#[command(after_help = AGENT_NOTES)]
pub(crate) struct Agent {
    /// Local address to listen on. Repeatable [default: none; requests come on stdin].
    #[arg(long, value_name = "ADDRESS", requires = "secret_file")]
    pub(crate) listen: Vec<IpAddr>,
    /// Port of the listening end [default: 7771].
    #[arg(long, value_name = "PORT", default_value_t = AGENT_PORT, hide_default_value = true)]
    pub(crate) port: u16,
    /// File with the secret that both ends share; only its owner may have access to it.
    #[arg(long, value_name = "FILE", requires = "listen")]
    pub(crate) secret_file: Option<PathBuf>,
}

const AGENT_NOTES: &str = "Without --listen it answers the requests of `run --on hosts`, which starts it by ssh.

With --listen it is a server for hosts without ssh: it starts an agent for each run that proves the secret, with the rights of its own user. A run can start programs here, so give the secret to nobody else, and make it random:

    head -c 32 /dev/urandom | base64 > secret; chmod 600 secret

On the other machine:

    jumbolab run os-comparison --on hosts --host sender=user@a --host receiver=tcp://192.0.2.2,secret_file=secret";

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
