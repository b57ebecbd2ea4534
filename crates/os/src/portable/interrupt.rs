//! Polling for Ctrl-C and other requests to stop: a run ends between two steps, and keeps its
//! measurements.

#[cfg(any(test, not(target_os = "linux")))]
mod console;
pub(crate) mod flag;

use std::sync::atomic::Ordering;

#[cfg(target_os = "linux")]
pub use crate::linux::signals::listen;
use flag::ASKED;

/// Makes the first Ctrl-C set a flag instead of ending the process. The second one ends it.
///
/// # Errors
/// If the system rejects, which does not happen in practice.
#[cfg(not(target_os = "linux"))]
pub fn listen() -> crate::Result<()> {
    console::listen(&ASKED)
}

/// Whether the user has asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}
