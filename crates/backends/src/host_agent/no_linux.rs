//! The requests about a host that its agent answers on Linux alone, on other systems: it rejects
//! them, or its answer is that nothing is known.

use os::request::{self, Job};

use super::Host;
use crate::needs_linux;

/// The requests that need Linux.
pub(super) const ABSENT: [&str; 6] = [
    "AttendProgram",
    "BeginCapture",
    "CountListeners",
    "EndCapture",
    "FindProgram",
    "StartProgram",
];

/// The requests with nothing as their answer: these meters are absent, and trials go on.
pub(super) const UNKNOWN: [&str; 7] = [
    "BeginStalls",
    "CountDrops",
    "CountFragments",
    "DefaultCongestion",
    "EndProgram",
    "EndStalls",
    "TryCongestion",
];

/// Nothing that such a request has begun.
#[derive(Default)]
pub(crate) struct OnLinux(());

/// Answers a request that needs Linux.
pub(super) fn requests_of_linux(name: &str, _: &str) -> Option<os::Result<Job<Host>>> {
    let reply = match name {
        _ if ABSENT.contains(&name) => Err(needs_linux(name)),
        _ if UNKNOWN.contains(&name) => Ok(()),
        _ => return None,
    };
    Some(Ok(request::replied(reply)))
}
