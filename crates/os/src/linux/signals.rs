//! Signals to this process.

use std::sync::atomic::{AtomicBool, Ordering};

use nix::sys::prctl::set_pdeathsig;
use nix::sys::signal::{SaFlags, SigAction, SigHandler, SigSet, Signal, sigaction};

use crate::error::{OperationContext, Result};
use crate::portable::interrupt::flag::ASKED;

static RELOAD: AtomicBool = AtomicBool::new(false);

/// Makes SIGINT, SIGTERM and SIGHUP set a flag instead of ending the process. A second
/// signal ends it. A SIGHUP that is ignored stays ignored: `nohup` asks for that.
///
/// # Errors
/// If the kernel rejects, which does not happen in practice.
pub fn listen() -> Result<()> {
    listen_for(&[Signal::SIGINT, Signal::SIGTERM, Signal::SIGHUP])
}

/// The same for SIGINT and SIGTERM; SIGHUP asks to read the configuration again, any
/// number of times.
///
/// # Errors
/// If the kernel rejects, which does not happen in practice.
pub fn listen_as_daemon() -> Result<()> {
    listen_for(&[Signal::SIGINT, Signal::SIGTERM])?;
    let action = SigAction::new(
        SigHandler::Handler(mark_reload),
        SaFlags::empty(),
        SigSet::empty(),
    );
    #[expect(unsafe_code, reason = "a handler is installed")]
    // SAFETY: the handler stores an atomic and does nothing else.
    unsafe { sigaction(Signal::SIGHUP, &action) }.during(|| "listening for SIGHUP")?;
    Ok(())
}

/// Whether the user has asked to read the configuration again since the last call.
pub fn reload_asked() -> bool {
    RELOAD.swap(false, Ordering::Relaxed)
}

fn listen_for(signals: &[Signal]) -> Result<()> {
    // SA_RESETHAND: a user who repeats the signal does not want to wait.
    let action = SigAction::new(
        SigHandler::Handler(mark),
        SaFlags::SA_RESETHAND,
        SigSet::empty(),
    );
    for &signal in signals {
        #[expect(unsafe_code, reason = "a handler is installed")]
        // SAFETY: the handler stores an atomic and does nothing else.
        let set = |action| unsafe { sigaction(signal, action) };
        let before = set(&action).during(|| format!("listening for {signal}"))?;
        if signal == Signal::SIGHUP && matches!(before.handler(), SigHandler::SigIgn) {
            set(&before).during(|| format!("ignoring {signal}"))?;
        }
    }
    Ok(())
}

/// Asks this process to stop when the thread that started it ends, however that ends.
///
/// # Errors
/// If the kernel rejects, which does not happen in practice.
pub fn stop_with_parent() -> Result<()> {
    set_pdeathsig(Signal::SIGTERM).during(|| "watching the parent".to_owned())
}

/// Makes a write beyond the file size limit (`ulimit -f`) fail with an error
/// instead of ending the process. Programs that this process starts are not
/// affected.
///
/// # Errors
/// If the kernel rejects, which does not happen in practice.
pub fn report_file_size_limit() -> Result<()> {
    // A handler, because an ignored signal stays ignored in programs [signal(7)].
    let action = SigAction::new(
        SigHandler::Handler(pass),
        SaFlags::SA_RESTART,
        SigSet::empty(),
    );
    let signal = Signal::SIGXFSZ;
    #[expect(unsafe_code, reason = "a handler is installed")]
    // SAFETY: the handler does nothing.
    unsafe { sigaction(signal, &action) }.during(|| format!("listening for {signal}"))?;
    Ok(())
}

/// Leaves Ctrl-C and Ctrl-\\ to a child in the foreground: this process ignores both
/// from now on.
///
/// # Errors
/// If the kernel rejects, which does not happen in practice.
pub fn leave_to_child() -> Result<()> {
    for signal in [Signal::SIGINT, Signal::SIGQUIT] {
        ignore(signal).during(|| format!("leaving {signal} to a child"))?;
    }
    Ok(())
}

/// Makes children vanish when they end, without a wait for them.
pub(crate) fn forget_children() {
    // If this fails, their entries stay until the namespace ends, which is harmless.
    let _ = ignore(Signal::SIGCHLD);
}

fn ignore(signal: Signal) -> nix::Result<()> {
    let action = SigAction::new(SigHandler::SigIgn, SaFlags::empty(), SigSet::empty());
    #[expect(unsafe_code, reason = "a disposition may be a handler; this is none")]
    // SAFETY: no handler is installed.
    unsafe { sigaction(signal, &action) }.map(drop)
}

extern "C" fn pass(_: libc::c_int) {}

extern "C" fn mark_reload(_: libc::c_int) {
    RELOAD.store(true, Ordering::Relaxed);
}

extern "C" fn mark(_: libc::c_int) {
    ASKED.store(true, Ordering::Relaxed);
}
