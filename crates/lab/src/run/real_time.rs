//! Worlds whose trials take as long as their traffic, one at a time.

use live::clock::Epoch;
use plan::Setting;
use units::{Seed, Span};

use crate::measurements::Measurements;
use crate::recording::ArtifactDir;
use crate::world::hosts::Hosts;
use crate::world::netns::{Failure, Netns};

/// A world that is ready for trials in real time.
pub(super) trait RealTime {
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

impl RealTime for Netns {
    fn may_wait(&mut self, time: Span) {
        Self::may_wait(self, time);
    }

    fn waits_left(&self) -> Span {
        Self::waits_left(self)
    }

    fn measure(
        &mut self,
        setting: &Setting,
        seed: Seed,
        epoch: Epoch,
        artifacts: ArtifactDir<'_>,
    ) -> Result<Measurements, Failure> {
        self.measure_and_record(setting, seed, epoch, artifacts)
    }
}

impl RealTime for Hosts {
    fn may_wait(&mut self, time: Span) {
        Self::may_wait(self, time);
    }

    fn waits_left(&self) -> Span {
        Self::waits_left(self)
    }

    fn measure(
        &mut self,
        setting: &Setting,
        seed: Seed,
        epoch: Epoch,
        artifacts: ArtifactDir<'_>,
    ) -> Result<Measurements, Failure> {
        Self::measure(self, setting, seed, epoch, artifacts)
    }
}
