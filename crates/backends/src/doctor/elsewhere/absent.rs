//! Features that only Linux has, from the lists by which other parts reject them.

use os::socket::{CHOOSES_CONGESTION_CONTROL, LIMITS_SEGMENTS, STAMPS_ARRIVALS};

use super::super::check::Check;
use crate::facts::NOT_METERED;
use crate::{backend, host_agent};

/// A row for each part of the program, but for its commands: they are a table of the caller.
pub(super) fn checks() -> Vec<Check> {
    let rows = [
        (
            "backends",
            backend::on_linux_alone(),
            "netns needs network namespaces; the controller of hosts runs on Linux, and measures this host by `jumbolab agent`",
        ),
        (
            "probe",
            probe::text::on_linux_alone(),
            "they need raw sockets, or errors of the path that sockets keep",
        ),
        (
            "traffic",
            traffic(),
            "the program asks no socket of this system for them, and stamps arrivals itself",
        ),
        (
            "meters",
            vec![NOT_METERED.to_owned()],
            "this system does not state them to programs",
        ),
        (
            "agent requests",
            host_agent::absent().map(str::to_owned).collect(),
            "the program answers them by parts of Linux; runs leave out what depends on them",
        ),
    ];
    let rows = rows.into_iter().filter(|(_, what, _)| !what.is_empty());
    rows.map(|(name, what, why)| {
        Check::absent(name, format!("Only on Linux: {}", what.join(", ")), why)
    })
    .collect()
}

fn traffic() -> Vec<String> {
    let parts = [
        ("stamps of the kernel for arrivals", STAMPS_ARRIVALS),
        (
            "a choice of the congestion control",
            CHOOSES_CONGESTION_CONTROL,
        ),
        ("a limit of TCP's segments", LIMITS_SEGMENTS),
    ];
    let absent = parts.into_iter().filter(|(_, is_there)| !is_there);
    absent.map(|(what, _)| what.to_owned()).collect()
}
