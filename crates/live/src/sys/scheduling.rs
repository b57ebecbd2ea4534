//! How the kernel's scheduler treats a thread [sched(7)].

use std::io;

/// Lets the calling thread run before all ordinary ones whenever it can
/// (SCHED_FIFO, the lowest priority there). Threads and processes that it
/// starts are ordinary.
pub(crate) fn run_first() -> io::Result<()> {
    set(libc::SCHED_FIFO | libc::SCHED_RESET_ON_FORK, 1)
}

/// Makes the calling thread an ordinary one.
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
