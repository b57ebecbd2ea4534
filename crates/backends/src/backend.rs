//! The backends that this program implements.

mod checks;
#[cfg(target_os = "linux")]
pub mod hosts;
pub mod model;
#[cfg(target_os = "linux")]
pub mod netns;
#[cfg(target_os = "linux")]
pub(crate) mod real_time;
pub mod sim;

use anyhow::{Error, Result, anyhow};
use experiment::{Check, Experiment};
use plan::{Backend, Plan};

/// Whether this build is for Linux.
const IS_LINUX: bool = cfg!(target_os = "linux");

/// Checks that this build runs `backend`: those between kernels need Linux.
///
/// # Errors
/// It does not: one line with the backends that it runs.
pub fn require(backend: Backend) -> Result<()> {
    match runs(backend, IS_LINUX) {
        true => Ok(()),
        false => Err(absent(backend)),
    }
}

/// The error that a build without Linux does not run `backend`.
pub(crate) fn absent(backend: Backend) -> Error {
    let others = Backend::ALL.iter().filter(|other| runs(**other, false));
    let others: Vec<String> = others.map(ToString::to_string).collect();
    anyhow!(
        "--on {backend}: this backend needs Linux; choose one of {}",
        others.join(", ")
    )
}

/// The backends that need Linux.
#[cfg(any(test, not(target_os = "linux")))]
pub(crate) fn on_linux_alone() -> Vec<String> {
    let backends = Backend::ALL
        .iter()
        .filter(|backend| !runs(**backend, false));
    backends.map(ToString::to_string).collect()
}

fn runs(backend: Backend, is_linux: bool) -> bool {
    is_linux || !backend.profile().depends_on_machine
}

/// Resolves the experiment for `backend`; the backend's engine can run every cell.
///
/// # Errors
/// As [`Experiment::plan`], or closed forms predict none of the cells.
pub fn plan(experiment: Experiment, backend: Backend) -> Result<Plan> {
    let mut plan = experiment.plan(backend, check(backend))?;
    match backend {
        Backend::Netns | Backend::Hosts | Backend::Sim => {}
        Backend::Model => model::leave_out(&mut plan)?,
    }
    Ok(plan)
}

fn check(backend: Backend) -> Check {
    match backend {
        Backend::Netns => checks::netns::check,
        Backend::Hosts => checks::hosts::check,
        Backend::Sim => sim::check,
        Backend::Model => |_| Ok(()),
    }
}

#[cfg(test)]
mod tests;
