//! Scheduling class of a thread [sched(7)].

use std::io;

/// Gives the calling thread real-time priority over all ordinary ones (SCHED_FIFO with
/// the lowest priority). Threads and processes that it starts are ordinary.
pub(crate) fn run_first() -> io::Result<()> {
    set(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1)
}

/// Returns the calling thread to ordinary scheduling.
pub(crate) fn run_as_others() -> io::Result<()> {
    set(libc::SCHED_OTHER | libc::SCHED_RESET_ON_FORK, 0)
}

fn set(policy: libc::c_int, priority: libc::c_int) -> io::Result<()> {
    let parameter = libc::sched_param {
        sched_priority: priority,
    };
    // SAFETY: the kernel reads the parameter, which outlives the call.
    match unsafe { libc::sched_setscheduler(0, policy, &raw const parameter) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
