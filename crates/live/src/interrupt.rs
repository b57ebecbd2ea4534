//! Ctrl-C and its kin, asked for instead of striking: a run ends between two
//! steps, with everything measured kept.

use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use crate::error::{During, Result};

static ASKED: AtomicBool = AtomicBool::new(false);

/// Lets SIGINT, SIGTERM and SIGHUP set a mark instead of ending the process.
/// A second one ends it as usual.
///
/// # Errors
/// Where the kernel refuses, which it does not.
pub fn listen() -> Result<()> {
    // SA_RESETHAND: whoever asks twice does not want to wait.
    let action = SigAction::new(
        SigHandler::Handler(mark),
        SaFlags::SA_RESETHAND,
        SigSet::empty(),
    );
    for signal in [Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP] {
        #[expect(unsafe_code, reason = "a handler is installed")]
        // SAFETY: the handler stores an atomic and does nothing else.
        unsafe { sigaction(signal, &action) }.during(|| format!("listening for {signal}"))?;
    }
    Ok(())
}

/// Whether someone has asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

extern "C" fn mark(_: libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}
