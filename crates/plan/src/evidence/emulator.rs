//! The emulator and its links.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Row};

facts! {
    "", "between hosts: names of the emulated links"
    { EMULATED_LINK: String = "emulated_link" }

    "frames", "frames that left emulated links, were dropped by their queues, were lost at random, or exceeded their `link_mtu`; without cross traffic"
    {
        EMULATOR_DEPARTURES: u64 = "emulator_departures",
        EMULATOR_QUEUE_DROPS: u64 = "emulator_queue_drops",
        EMULATOR_LOST: u64 = "emulator_lost",
        EMULATOR_TOO_BIG: u64 = "emulator_too_big",
    }

    "us", "timing error of frames of emulated links: median, p99, maximum"
    {
        EMULATOR_LATE_US: f64 = "emulator_late_us",
        EMULATOR_LATE_US_P99: f64 = "emulator_late_us_p99",
        EMULATOR_LATE_US_MAX: f64 = "emulator_late_us_max",
    }

    "s", "CPU time of the emulator"
    { EMULATOR_CPU_SECONDS: f64 = "emulator_cpu_seconds" }

    "", "scheduling of the emulator: `ordinary` (docs/guides/emulator.md)"
    { EMULATOR_SCHEDULING: String = "emulator_scheduling" }

    "", "outcome of cross traffic by link and direction, see below"
    { CROSS: Vec<CrossTraffic> = "cross" }

    "", "the trial's recordings, as paths below the results folder"
    { RECORDINGS: Vec<PathBuf> = "recordings" }
}

/// The outcome of cross traffic on one direction of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CrossTraffic {
    pub link: String,
    pub direction: CrossDirection,
    /// Mbit/s of wire that it asked for.
    pub offered_mbit: f64,
    /// Mbit/s of wire that were neither dropped nor lost.
    pub carried_mbit: f64,
    pub packets: u64,
    /// Those that the queue dropped; in the simulator `lost` has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub dropped: Option<u64>,
    pub lost: u64,
}

/// The direction of cross traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CrossDirection {
    /// That of the measured traffic.
    Forward,
    /// The other one.
    Reverse,
}
