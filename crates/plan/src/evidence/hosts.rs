//! Meters of hosts.

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Row};

facts! {
    "", "backend `hosts`, by machine over all passes: `role`, `seconds`, `cpu_seconds` (not idle), `joules` (null: not metered), `clock_slew_us`, and `nics`: `interface`, `received` and `sent`, each with `packets`, `bytes`, `dropped`, `errors` and `pauses` (pause frames; null: not counted)"
    { HOSTS: Vec<HostUse> = "hosts" }

    "packets", "sums over all machines"
    {
        NIC_DROPPED: u64 = "nic_dropped",
        NIC_ERRORS: u64 = "nic_errors",
        NIC_PAUSES: u64 = "nic_pauses",
    }

    "", "whether the router's interfaces received or sent at least the payload"
    { ROUTER_CARRIED: bool = "router_carried" }
}

/// The readings of a machine's meters over a trial.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HostUse {
    pub role: String,
    pub seconds: f64,
    /// CPU time that was not idle.
    pub cpu_seconds: f64,
    /// `None`: not metered.
    pub joules: Option<f64>,
    pub clock_slew_us: f64,
    pub nics: Vec<NicUse>,
}

/// The counters of an interface over a trial.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicUse {
    pub interface: String,
    pub received: NicCounts,
    pub sent: NicCounts,
}

/// The counters of one direction of an interface.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NicCounts {
    pub packets: u64,
    pub bytes: u64,
    pub dropped: u64,
    pub errors: u64,
    /// Pause frames; `None`: the driver does not count them.
    pub pauses: Option<u64>,
}
