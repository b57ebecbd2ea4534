//! The STAMP reflector beside a receiver, which needs Linux.

use std::env::consts::OS;
use std::net::SocketAddr;

use os::{Error, Result};

/// Whether a build has it.
pub(super) const IS_THERE: bool = false;

/// A reflector, of which this system has none.
pub(super) enum StampReflector {}

/// A running one.
pub(super) enum RunningReflector {}

impl RunningReflector {
    /// Starts a reflector.
    pub(super) fn start(reflector: StampReflector) -> Result<Self> {
        match reflector {}
    }
}

/// Ends a reflector.
pub(super) fn end(reflector: RunningReflector) -> Option<String> {
    match reflector {}
}

/// Rejects it.
pub(super) fn open(_: &[SocketAddr]) -> Result<StampReflector> {
    let problem = format!("it needs Linux, and this program is for {OS}; leave it out");
    Err(Error::new("reflecting", problem))
}

/// The line about the addresses.
pub(super) fn describe(reflector: &StampReflector) -> String {
    match *reflector {}
}
