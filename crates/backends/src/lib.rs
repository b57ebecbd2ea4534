//! Runs plans in the backends of this program.
//!
//! [`run`] runs the trials of a plan in its [`backend`]. A trial between two
//! agents is a function of `measure`, which is independent of namespaces and
//! hosts. [`doctor`] checks the machine and [`dry_run`] summarises a run
//! beforehand. [`auto_rate`] chooses the rate of links that leave it to the machine, and
//! a [`testbed`] is the path of a trial in namespaces. [`recording`] and [`replay`] handle frames recorded on emulated links.

// Elsewhere the controller is absent, and with it what it alone uses of its agents.
#[cfg_attr(
    not(target_os = "linux"),
    allow(dead_code, unreachable_pub, unused_imports)
)]
mod agent;
pub mod auto_rate;
pub mod backend;
#[cfg(target_os = "linux")]
mod call;
pub mod doctor;
pub mod dry_run;
#[cfg(target_os = "linux")]
mod edge_gateway;
#[cfg(target_os = "linux")]
mod emulation;
pub mod facts;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, unused_imports))]
pub mod host_agent;
#[cfg(target_os = "linux")]
pub mod host_report;
mod link_counts;
mod link_window;
#[cfg(target_os = "linux")]
mod measure;
pub mod measurements;
mod pace;
pub mod recording;
pub mod replay;
pub mod run;
pub mod sensitivity;
#[cfg(target_os = "linux")]
pub mod shell;
#[cfg(target_os = "linux")]
mod stall_meter;
#[cfg(target_os = "linux")]
pub mod testbed;
#[cfg(target_os = "linux")]
pub mod worker;

/// Why a build without the feature `gateway` rejects, and the remedy.
pub const NO_GATEWAY: &str = "this build has no gateway; build it with the feature `gateway`";

/// Whether this build has a gateway.
const HAS_GATEWAY: bool = cfg!(feature = "gateway");

/// Why this system does not support a request to its agent.
#[cfg(any(test, not(target_os = "linux")))]
fn needs_linux(request: &str) -> String {
    format!(
        "{request} needs Linux, and this host runs {}",
        os::machine::system()
    )
}

/// The error of a run that was stopped by a signal.
fn interrupted() -> anyhow::Error {
    anyhow::anyhow!("stopped on request")
}
