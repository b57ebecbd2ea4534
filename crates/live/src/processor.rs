//! The processor that a thread runs on.

use nix::sched::{CpuSet, sched_getaffinity, sched_getcpu, sched_setaffinity};
use nix::unistd::Pid;

use crate::error::{During, Result};

/// Keeps the calling thread on one processor for as long as it lives.
///
/// What one processor sends over loopback arrives in the order in which it was
/// sent; what a thread sends from one and then from another does not, where the
/// first is busy.
pub(crate) struct Pinned {
    before: CpuSet,
}

impl Pinned {
    /// On the processor where the thread is.
    pub(crate) fn here() -> Result<Self> {
        let operation = || "staying on one processor";
        let before = sched_getaffinity(CALLER).during(operation)?;
        let mut here = CpuSet::new();
        here.set(sched_getcpu().during(operation)?)
            .during(operation)?;
        sched_setaffinity(CALLER, &here).during(operation)?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // These were allowed before.
        let _ = sched_setaffinity(CALLER, &self.before);
    }
}

/// The calling thread, as the kernel's calls name it.
const CALLER: Pid = Pid::from_raw(0);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_stays_on_one_processor_and_has_all_of_them_back() {
        let before = sched_getaffinity(CALLER).unwrap();
        let pinned = Pinned::here().unwrap();
        let now = sched_getaffinity(CALLER).unwrap();
        let count = |set: &CpuSet| {
            (0..CpuSet::count())
                .filter(|&one| set.is_set(one) == Ok(true))
                .count()
        };
        assert_eq!(count(&now), 1);
        assert_eq!(now.is_set(sched_getcpu().unwrap()), Ok(true));
        drop(pinned);
        assert_eq!(sched_getaffinity(CALLER).unwrap(), before);
    }
}
