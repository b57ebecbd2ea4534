//! What the handlers of signals set.

use std::sync::atomic::AtomicBool;

/// Whether the user has asked to stop.
pub(crate) static ASKED: AtomicBool = AtomicBool::new(false);
