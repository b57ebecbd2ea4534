//! The program as a worker of itself, inside the sandbox.

use std::env;
use std::io;

use anyhow::{Result, bail};

use crate::doctor::attempt;
use crate::{agent, emulation};

/// The role this process was started in, if it is a worker: every program
/// that runs plans asks this first.
pub fn role() -> Option<String> {
    let mut arguments = env::args().skip(1);
    (arguments.next()? == live::worker::ARGUMENT).then(|| arguments.next().unwrap_or_default())
}

/// Does what the role asks, until the parent is gone.
///
/// # Errors
/// When there is no such role, or the parent cannot be understood.
pub fn run(role: &str) -> Result<()> {
    match role {
        live::worker::ANCHOR => {
            live::worker::anchor();
            Ok(())
        }
        emulation::ROLE => emulation::serve(),
        agent::ROLE => agent::serve(io::stdin().lock(), io::stdout().lock()),
        attempt::ROLE => attempt::serve(io::stdout().lock()),
        role => bail!("there is no worker `{role}`"),
    }
}
