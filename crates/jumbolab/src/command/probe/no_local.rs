//! `jumbolab probe --self`, which needs Linux.

use anyhow::{Result, bail};

use crate::args::Probe;
use crate::command::needs_linux;
use crate::exit::Ending;

/// Rejects it.
pub(super) fn check(_: &Probe) -> Result<Ending> {
    bail!("{}", needs_linux("--self"))
}
