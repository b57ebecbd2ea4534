//! Pinning of a thread to a processor.

use nix::sched::{CpuSet, sched_getaffinity, sched_setaffinity};
use nix::unistd::Pid;

use crate::error::{OperationContext, Result};

/// Pins the calling thread to one processor until it is dropped.
///
/// Packets sent over loopback from one processor arrive in order. Packets that a thread
/// sends from different processors may not, if the first one is busy.
pub struct Pinned {
    before: CpuSet,
}

impl Pinned {
    /// Pins the thread to the processor of this number.
    ///
    /// # Errors
    /// The machine has no such processor, or does not allow it to this thread.
    pub fn to(processor: u32) -> Result<Self> {
        let operation = || format!("running on processor {processor}");
        let number = usize::try_from(processor).unwrap_or(usize::MAX);
        let before = sched_getaffinity(CALLER).during(operation)?;
        let mut one = CpuSet::new();
        one.set(number).during(operation)?;
        sched_setaffinity(CALLER, &one).during(operation)?;
        Ok(Self { before })
    }
}

impl Drop for Pinned {
    fn drop(&mut self) {
        // These processors were allowed before.
        let _ = sched_setaffinity(CALLER, &self.before);
    }
}

/// The calling thread in the kernel's calls.
const CALLER: Pid = Pid::from_raw(0);

#[cfg(test)]
mod tests {
    use nix::sched::sched_getcpu;

    use super::*;

    #[test]
    fn a_thread_stays_on_one_processor_and_has_all_of_them_back() {
        let before = sched_getaffinity(CALLER).unwrap();
        let here = sched_getcpu().unwrap();
        let pinned = Pinned::to(here.try_into().unwrap()).unwrap();
        let now = sched_getaffinity(CALLER).unwrap();
        let count = |set: &CpuSet| {
            (0..CpuSet::count())
                .filter(|&one| set.is_set(one) == Ok(true))
                .count()
        };
        assert_eq!(count(&now), 1);
        assert_eq!(now.is_set(here), Ok(true));
        drop(pinned);
        assert_eq!(sched_getaffinity(CALLER).unwrap(), before);
    }
}
