//! `jumbolab probe --mesh`, which needs Linux.

use std::path::Path;

use anyhow::{Result, bail};
use probe::driver::Effort;
use units::Bytes;

use crate::args::Probe;
use crate::command::needs_linux;
use crate::exit::Ending;

/// Rejects it.
pub(super) fn run(_: &Probe, _: &Path, _: Option<Bytes>, _: Effort) -> Result<Ending> {
    bail!("{}", needs_linux("--mesh"))
}
