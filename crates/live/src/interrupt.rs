//! Ctrl-C and its kin, polled instead of ending the process at once: a run ends between two
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

/// Leaves Ctrl-C and Ctrl-\\ to a child in the foreground: this process ignores
/// both from now on.
///
/// # Errors
/// Where the kernel refuses, which it does not.
pub fn leave_to_child() -> Result<()> {
    for signal in [Signal::SIGINT, Signal::SIGQUIT] {
        ignore(signal).during(|| format!("leaving {signal} to a child"))?;
    }
    Ok(())
}

/// Has children vanish when they end, with nobody waiting for them.
pub(crate) fn forget_children() {
    // Where it fails their entries stay until the namespace goes: no harm.
    let _ = ignore(Signal::SIGCHLD);
}

/// Whether someone has asked to stop.
pub fn asked() -> bool {
    ASKED.load(Ordering::Relaxed)
}

fn ignore(signal: Signal) -> nix::Result<()> {
    let action = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    #[expect(unsafe_code, reason = "a disposition may be a handler; this is none")]
    // SAFETY: no handler is installed.
    unsafe { sigaction(signal, &action) }.map(drop)
}

extern "C" fn mark(_: libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}
