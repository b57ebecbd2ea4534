//! `jumbolab probe --watch`, which needs Linux.

use anyhow::{Result, ensure};
use probe::driver::{Investigated, Task};
use probe::machine::Verdict;

use crate::args::Probe;
use crate::command::needs_linux;

/// The paths that are watched, of which there are none.
pub(super) enum Watch {}

impl Watch {
    /// Watches nothing.
    ///
    /// # Errors
    /// It is asked for.
    pub(super) fn of(args: &Probe) -> Result<Option<Self>> {
        ensure!(args.watch.is_none(), "{}", needs_linux("--watch"));
        Ok(None)
    }

    /// Watches a path that was investigated.
    pub(super) const fn add(&mut self, _: &Task, _: Investigated) {
        match *self {}
    }

    /// Watches until the user stops the program.
    pub(super) fn run(self, _: impl Fn(&Task) -> Task) -> Result<Vec<Verdict>> {
        match self {}
    }
}
