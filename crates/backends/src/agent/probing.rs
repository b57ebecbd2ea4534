//! Investigations of a path between two agents: the far end answers, and the sender
//! probes.

use probe::driver::{Investigated, Task};
use probe::machine::Settings;
use units::Span;

use super::{Agents, Failure};
use super::{Investigate, OpenProber};
use crate::call::{ask, hear};

/// Additional time for an investigation beyond its longest duration.
const MARGIN: Span = Span::from_secs(30);

impl Agents {
    /// Makes the sender investigate a path. `begin` is called just before its first probe.
    ///
    /// # Errors
    /// As [`Agents::transfer`], and those of `begin`.
    pub(crate) fn investigate(
        &mut self,
        task: &Task,
        begin: impl FnOnce() -> anyhow::Result<()>,
    ) -> Result<Investigated, Failure> {
        self.sender(&OpenProber(task.clone()))?;
        begin()?;
        ask(&mut self.sender, &Investigate())?;
        let longest = task.most_time.unwrap_or(Settings::MOST_TIME);
        let investigated = hear(&mut self.sender, "sender", longest + MARGIN)?;
        Failure::or_answer("sender", investigated)
    }
}
