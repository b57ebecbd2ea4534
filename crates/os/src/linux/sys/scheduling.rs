//! Scheduling class of a thread [sched(7)].

use std::io;
use std::mem::size_of;

/// Gives the calling thread real-time priority over all ordinary ones (SCHED_FIFO with
/// the lowest priority). Threads and processes that it starts are ordinary.
pub(crate) fn run_first() -> io::Result<()> {
    set(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1)
}

/// Gives the calling thread real-time priority over the threads of [`run_first`].
#[cfg(test)]
pub(crate) fn run_above_meters() -> io::Result<()> {
    set(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 2)
}

/// Gives the calling thread the shortest slices of CPU time, 0.1 ms, so that it waits
/// less for ordinary threads with longer ones [LinuxDoc sched-eevdf].
pub(crate) fn run_in_short_slices() -> io::Result<()> {
    let size = size_of::<libc::sched_attr>();
    let attributes = libc::sched_attr {
        size: u32::try_from(size).unwrap_or(u32::MAX),
        sched_policy: libc::SCHED_OTHER as u32,
        sched_flags: 0,
        sched_nice: 0,
        sched_priority: 0,
        sched_runtime: 100_000,
        sched_deadline: 0,
        sched_period: 0,
    };
    // SAFETY: the kernel reads the attributes, which outlive the call.
    match unsafe { libc::syscall(libc::SYS_sched_setattr, 0, &raw const attributes, 0) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// Returns the calling thread to ordinary scheduling.
pub(crate) fn run_as_others() -> io::Result<()> {
    set(libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0)
}

fn set(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    // The kernel's `sched_param` is one number. musl's library rejects the call.
    // SAFETY: the kernel reads the number, which outlives the call.
    match unsafe { libc::syscall(libc::SYS_sched_setscheduler, 0, policy, &raw const priority) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
