//! Ctrl-C, heard by a thread, for systems other than Linux: there a process with two threads
//! cannot enter a sandbox.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::error::{Error, Result};

/// The exit code of a command that was stopped: that of shells for SIGINT.
const STOPPED: i32 = 130;

/// Makes the first Ctrl-C set `flag`, and the second one end the process.
///
/// # Errors
/// If the system rejects, or something listens already.
pub(super) fn listen(flag: &'static AtomicBool) -> Result<()> {
    let mark = || {
        // Who repeats it does not want to wait.
        if flag.swap(true, Ordering::Relaxed) {
            process::exit(STOPPED);
        }
    };
    ctrlc::set_handler(mark).map_err(|why| Error::new("listening for Ctrl-C", why.to_string()))
}

#[cfg(test)]
mod tests {
    use nix::sys::signal::{Signal, raise};
    use units::Span;

    use super::*;
    use crate::clock;

    #[test]
    fn ctrl_c_sets_the_flag_and_ends_nothing() {
        static FLAG: AtomicBool = AtomicBool::new(false);
        listen(&FLAG).unwrap();
        assert!(!FLAG.load(Ordering::Relaxed));
        raise(Signal::SIGINT).unwrap();
        let end = clock::monotonic() + Span::from_secs(60);
        while !FLAG.load(Ordering::Relaxed) {
            assert!(clock::monotonic() < end);
            clock::sleep(Span::from_millis(1));
        }
    }
}
