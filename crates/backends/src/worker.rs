//! The entry points of this program as its own worker.

use std::io;

use anyhow::{Result, bail};
pub use os::worker::role;

use crate::auto_rate::calibration;
use crate::doctor::attempt;
use crate::host_agent::dial;
use crate::{agent, edge_gateway, emulation, stall_meter};
use probe::driver::mesh;

/// Runs the worker for `role` until the parent exits.
///
/// # Errors
/// The role is unknown, or the parent sent invalid input.
pub fn run(role: &str) -> Result<()> {
    match role {
        os::worker::INIT_PROCESS => {
            os::worker::init_process();
            Ok(())
        }
        edge_gateway::ROLE => edge_gateway::serve(),
        emulation::ROLE => emulation::serve(),
        dial::ROLE => dial::serve(os::worker::arguments()),
        agent::ROLE => agent::serve(io::stdin().lock()),
        stall_meter::ROLE => stall_meter::serve(io::stdin().lock()),
        os::host_changes::ROLE => Ok(os::host_changes::serve()?),
        mesh::ROLE => mesh::serve(),
        calibration::ROLE => calibration::serve(io::stdin().lock(), io::stdout().lock()),
        attempt::ROLE => attempt::serve(io::stdout().lock()),
        role => bail!("unknown worker role `{role}`"),
    }
}
