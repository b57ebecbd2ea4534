//! The requests that an agent answers on Linux alone, on other systems: it rejects them.

use os::request::{self, Job};

use super::requests::Agent;
use crate::needs_linux;

/// The requests that need Linux.
pub(crate) const ABSENT: [&str; 9] = [
    "AnswerProbes",
    "CloseFarEnd",
    "Connect",
    "Carry",
    "Disconnect",
    "Investigate",
    "OpenFarEnd",
    "OpenProber",
    "SendProbes",
];

/// Nothing that such a request has begun.
#[derive(Default)]
pub(crate) struct OnLinux(());

/// Rejects a request that needs Linux.
pub(crate) fn requests_of_linux(name: &str, _: &str) -> Option<os::Result<Job<Agent>>> {
    let is_absent = ABSENT.contains(&name);
    is_absent.then(|| Ok(request::replied(Err(needs_linux(name)))))
}
