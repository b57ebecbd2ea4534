//! Deadlines of loops that read from a peer.
//!
//! The peer decides what arrives and when, so no such loop may depend on a pause of the
//! peer to end. Each read from a peer's socket takes a [`Permit`], which only a
//! [`Deadline`] issues: those of `os`, and the sockets of tools, such as control
//! connections. `clippy.toml` forbids the calls of nix behind them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use units::{Span, Time};

use crate::{clock, interrupt};

/// The end of a loop that reads from a peer: a time, a stop by the loop's owner, or
/// a signal of the user, whichever is first.
#[derive(Clone, Debug)]
pub struct Deadline {
    at: Time,
    stop: Option<Arc<AtomicBool>>,
    /// Whether a signal of the user ends it.
    interruptible: bool,
}

/// The permission for one read.
#[derive(Debug)]
pub struct Permit(());

impl Permit {
    /// For a read from a worker of this program, or from this process: the coordinator ends
    /// a trial that hangs, and both ends with it.
    pub const fn of_worker() -> Self {
        Self(())
    }
}

/// The reason for which a loop ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ended {
    /// The time has come.
    Late,
    /// The owner of the loop stopped it.
    Stopped,
    /// The user stopped the program.
    Interrupted,
}

impl Deadline {
    /// A deadline at `at`, brought forward by `stop` and by the user's signals.
    pub fn new(at: Time, stop: &Arc<AtomicBool>) -> Self {
        Self {
            at,
            stop: Some(Arc::clone(stop)),
            interruptible: true,
        }
    }

    /// A deadline at `at`, brought forward by `stop` only: its owner sees the user's
    /// signals, and stops it in order.
    pub fn of_owner(at: Time, stop: &Arc<AtomicBool>) -> Self {
        Self {
            interruptible: false,
            ..Self::new(at, stop)
        }
    }

    /// A deadline `span` from now that no signal brings forward. For a second or so, in
    /// which data in flight arrive after a stop.
    pub fn fixed(span: Span) -> Self {
        Self::fixed_at(clock::monotonic() + span)
    }

    /// The same at the time `at`.
    pub fn fixed_at(at: Time) -> Self {
        Self {
            at,
            stop: None,
            interruptible: false,
        }
    }

    /// The same deadline, at most `span` from now.
    pub fn within(&self, span: Span) -> Self {
        Self {
            at: self.at.min(clock::monotonic() + span),
            stop: self.stop.clone(),
            interruptible: self.interruptible,
        }
    }

    /// Moves the time to `at`.
    pub fn move_to(&mut self, at: Time) {
        self.at = at;
    }

    /// Permits one read.
    ///
    /// # Errors
    /// The reason if the loop is to end.
    pub fn permit(&self) -> Result<Permit, Ended> {
        self.permit_at(clock::monotonic())
    }

    /// Permits one read at `now`, for a loop that has just read the clock. It must read the
    /// clock again before the next permit.
    ///
    /// # Errors
    /// The reason if the loop is to end.
    #[inline]
    pub fn permit_at(&self, now: Time) -> Result<Permit, Ended> {
        if self.interruptible && interrupt::asked() {
            return Err(Ended::Interrupted);
        }
        if self
            .stop
            .as_ref()
            .is_some_and(|stop| stop.load(Ordering::Relaxed))
        {
            return Err(Ended::Stopped);
        }
        if now >= self.at {
            return Err(Ended::Late);
        }
        Ok(Permit(()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_ends_at_its_instant_or_by_its_owner() {
        let stop = Arc::<AtomicBool>::default();
        let now = clock::monotonic();
        let later = Deadline::new(now + Span::from_secs(1_000), &stop);
        assert!(later.permit().is_ok());
        let end = now + Span::from_secs(1_000);
        assert_eq!(later.permit_at(end).err(), Some(Ended::Late));
        let mut moved = later.clone();
        moved.move_to(now);
        assert_eq!(moved.permit().err(), Some(Ended::Late));
        assert_eq!(later.within(Span::ZERO).permit().err(), Some(Ended::Late));
        let past = Deadline::new(now, &stop);
        assert_eq!(
            past.within(Span::from_secs(1)).permit().err(),
            Some(Ended::Late)
        );
        stop.store(true, Ordering::Relaxed);
        assert_eq!(later.permit().err(), Some(Ended::Stopped));
        assert!(Deadline::fixed(Span::from_secs(1_000)).permit().is_ok());
        assert_eq!(
            Deadline::fixed(Span::ZERO).permit().err(),
            Some(Ended::Late)
        );
    }
}
