//! The commands, one file each.

pub(crate) mod agent;
pub(crate) mod claims;
pub(crate) mod completions;
mod consent;
pub(crate) mod decode;
pub(crate) mod doctor;
#[cfg(target_os = "linux")]
mod emulate;
mod flow_text;
#[cfg(all(feature = "gateway", target_os = "linux"))]
mod gateway;
mod iperf3;
#[cfg_attr(not(target_os = "linux"), path = "command/no_jumbogram.rs")]
mod jumbogram;
pub(crate) mod list;
mod log_thread;
pub(crate) mod man;
#[cfg(target_os = "linux")]
mod openmetrics;
mod page;
pub(crate) mod predict;
mod printed;
mod probabilities;
pub(crate) mod probe;
pub(crate) mod recv;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod run;
pub(crate) mod send;
pub(crate) mod sensitivity;
#[cfg(target_os = "linux")]
mod shell;
pub(crate) mod show;
#[cfg(test)]
mod tests;

#[cfg(target_os = "linux")]
use crate::args::OnLinux;
#[cfg(target_os = "linux")]
use crate::exit::Ending;

/// The error about an option that needs Linux.
#[cfg(not(target_os = "linux"))]
fn needs_linux(option: &str) -> String {
    let system = std::env::consts::OS;
    format!("{option}: it needs Linux, and this program is for {system}; leave it out")
}

/// Runs a command that needs Linux.
#[cfg(target_os = "linux")]
pub(crate) fn on_linux(command: OnLinux) -> anyhow::Result<Ending> {
    match command {
        OnLinux::Shell(shell) => shell::run(shell),
        OnLinux::Emulate(emulate) => emulate::run(&emulate),
        #[cfg(feature = "gateway")]
        OnLinux::Gateway(gateway) => gateway::run(&gateway),
    }
}
