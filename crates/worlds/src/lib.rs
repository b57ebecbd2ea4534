//! Runs plans in the worlds of this program.
//!
//! [`run`] runs the trials of a plan in its [`world`]. A trial between two
//! agents is a function of `measure`, which is independent of namespaces and
//! hosts. [`doctor`] checks the machine and [`dry_run`] summarises a run
//! beforehand. [`auto_rate`] chooses the rate of links that leave it to the machine, and
//! a [`testbed`] is the path of a trial in namespaces. [`recording`] and [`replay`] handle frames recorded on emulated links.

mod agent;
pub mod auto_rate;
mod call;
pub mod doctor;
pub mod dry_run;
mod edge_gateway;
mod emulation;
pub mod facts;
pub mod host_agent;
pub mod host_report;
mod link_counts;
mod link_window;
mod measure;
pub mod measurements;
pub mod recording;
pub mod replay;
pub mod robustness;
pub mod run;
pub mod shell;
mod stall_meter;
pub mod testbed;
pub mod worker;
pub mod world;

pub use edge_gateway::NO_GATEWAY;

/// The error of a run that was stopped by a signal.
fn interrupted() -> anyhow::Error {
    anyhow::anyhow!("stopped on request")
}
