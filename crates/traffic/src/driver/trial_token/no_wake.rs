//! Wakes a thread that waits for sockets, on systems whose waits are for sockets alone: it
//! looks at its flag now and then.

use std::io;

use units::{Span, Time};

use os::clock;
use os::socket::SocketRef;

/// The interval of looks.
const LOOK: Span = Span::from_millis(20);

/// Nothing that ends a wait.
pub(super) struct Wake(());

impl Wake {
    pub(super) const fn new() -> io::Result<Self> {
        Ok(Self(()))
    }

    /// The thread ends at its next look.
    pub(super) const fn wake(&self) {}

    /// What the thread waits for, besides its own sockets: nothing.
    pub(super) const fn socket(&self) -> Option<SocketRef<'_>> {
        None
    }

    /// When the thread looks at its flag in any case.
    pub(super) fn look(&self) -> Option<Time> {
        Some(clock::monotonic() + LOOK)
    }

    /// Waits for `span`.
    pub(super) fn rest(&self, span: Span) {
        clock::sleep(span);
    }
}
