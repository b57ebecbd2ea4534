//! Worlds whose trials take as long as their traffic, one at a time.

use os::clock::Epoch;
use plan::Setting;
use units::{Seed, Span};

use crate::agent::Failure;
use crate::measurements::Measurements;
use crate::recording::ArtifactDir;

/// A world that is ready for trials in real time.
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
}
