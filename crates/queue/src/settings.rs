//! The interface of every discipline's settings.

use alloc::boxed::Box;

use units::{Rate, Seed};

use crate::{BadSpec, Discipline, Limit, Packet};

/// Settings that make a queue.
pub(crate) trait Settings {
    /// How much may wait.
    fn limit(&self) -> Limit;

    /// The same, to be changed.
    fn limit_mut(&mut self) -> &mut Limit;

    /// The queue, empty, in front of a link of `rate` (`None`: bits take no
    /// time); whatever chance decides follows from `seed`.
    ///
    /// # Errors
    /// Where there cannot be such a queue, or not without a rate.
    fn build<P: Packet + 'static>(
        &self,
        rate: Option<Rate>,
        seed: Seed,
    ) -> Result<Box<dyn Discipline<P>>, BadSpec>;
}
