//! Wakes a thread that waits for sockets.

use std::io;
use std::os::fd::AsFd as _;

use nix::sys::eventfd::EventFd;
use units::{Span, Time};

use os::clock;
use os::socket::{SocketRef, readable};

/// An event that ends a wait.
pub(super) struct Wake(EventFd);

impl Wake {
    pub(super) fn new() -> io::Result<Self> {
        Ok(Self(EventFd::new()?))
    }

    /// Ends the waits of the thread.
    pub(super) fn wake(&self) {
        // The thread looks at its flag when its poll ends; without the event it does so
        // at the next connection.
        let _ = self.0.write(1);
    }

    /// What the thread waits for, besides its own sockets.
    pub(super) fn socket(&self) -> Option<SocketRef<'_>> {
        Some(self.0.as_fd())
    }

    /// When the thread looks at its flag in any case.
    pub(super) const fn look(&self) -> Option<Time> {
        None
    }

    /// Waits for `span`, or until the thread is to end.
    pub(super) fn rest(&self, span: Span) {
        let until = clock::monotonic() + span;
        // Without it the thread goes on early.
        let _ = readable(&[self.0.as_fd()], Some(until));
    }
}
