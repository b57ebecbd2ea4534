//! Collects the facts of a run: this program and this machine.

#[cfg_attr(not(target_os = "linux"), path = "facts/no_linux.rs")]
mod machine;

use anyhow::Result;
use os::own_executable;
use plan::{Backend, RunFacts};

pub(crate) use machine::of_named_host;

/// The meters that systems other than Linux lack.
#[cfg(any(test, not(target_os = "linux")))]
pub(crate) const NOT_METERED: &str =
    "soft interrupts, steal, runnable threads, stalls of processors, drops of queues, fragments";
#[cfg(target_os = "linux")]
pub(crate) use machine::{of_interface, of_machine};

/// The facts of a run in `backend`, aggregated before the sandbox is entered, so
/// that they describe the user's own process. Simulated results do not depend
/// on the machine, so its facts are not aggregated for the simulator; machines that the
/// user names are described by their agents.
///
/// # Errors
/// The program cannot read its own file or the clock.
pub fn here(backend: Backend) -> Result<RunFacts> {
    #[cfg(target_os = "linux")]
    let host = match backend.profile() {
        profile if profile.depends_on_machine && profile.builds_network => Some(of_machine()?),
        _ => None,
    };
    #[cfg(not(target_os = "linux"))]
    let host = None;
    Ok(RunFacts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        binary: binary()?,
        backend,
        host,
        auto_rate: None,
        hosts: Vec::new(),
        left_out: Vec::new(),
        resumed: Vec::new(),
    })
}

/// An identifier that differs between builds of the program.
///
/// # Errors
/// The program cannot read its own file.
pub fn binary() -> Result<String> {
    Ok(own_executable::hash()?)
}
