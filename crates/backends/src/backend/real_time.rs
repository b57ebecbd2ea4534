//! Backends whose trials take as long as their traffic, one at a time.

use anyhow::Result;
use os::clock::Epoch;
use plan::{RoleFacts, Setting};
use units::{Seed, Span};

use crate::agent::Failure;
use crate::measurements::Measurements;
use crate::recording::ArtifactDir;

/// A backend that is ready for trials in real time.
pub(crate) trait RealTime {
    /// Lets passes wait until the machines are idle, for at most `time` altogether.
    fn may_wait(&mut self, time: Span);

    /// The time left for such waits.
    fn waits_left(&self) -> Span;

    /// Runs one trial; its files go to `artifacts`.
    ///
    /// # Errors
    /// [`Failure`] states whether the next trial can run.
    fn measure(
        &mut self,
        setting: &Setting,
        seed: Seed,
        epoch: Epoch,
        artifacts: ArtifactDir<'_>,
    ) -> Result<Measurements, Failure>;

    /// The facts of the machines that the user named.
    fn hosts(&self) -> Vec<RoleFacts> {
        Vec::new()
    }

    /// The positions of the cells that cannot be measured between them, each with the reason.
    fn left_out(&self) -> &[(usize, String)] {
        &[]
    }

    /// Puts back what was changed on them. Returns a sentence for each setting that is not as
    /// before, and for what an earlier run had left.
    ///
    /// # Errors
    /// A machine is lost; it puts everything back by itself.
    fn restore(&mut self) -> Result<Vec<String>> {
        Ok(Vec::new())
    }
}
