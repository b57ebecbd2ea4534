//! The program as a worker of itself, inside the sandbox.

use std::io;

use anyhow::{Result, bail};
pub use live::worker::role;

use crate::doctor::attempt;
use crate::{agent, emulation};

/// Does what the role asks, until the parent is gone.
///
/// # Errors
/// When there is no such role, or the parent cannot be understood.
pub fn run(role: &str) -> Result<()> {
    match role {
        live::worker::INIT_PROCESS => {
            live::worker::init_process();
            Ok(())
        }
        emulation::ROLE => emulation::serve(),
        agent::ROLE => agent::serve(io::stdin().lock(), io::stdout().lock()),
        attempt::ROLE => attempt::serve(io::stdout().lock()),
        role => bail!("there is no worker `{role}`"),
    }
}
