//! Transfers.

use super::fact::{Fact, Row};

facts! {
    "B", "bytes sent before the counted ones"
    { PREROLL_BYTES: u64 = "preroll_bytes" }

    "B", "bytes of one write"
    { MESSAGE_BYTES: u64 = "message_bytes" }

    "B", "payload that `throughput` counts"
    { COUNTED_BYTES: u64 = "counted_bytes" }

    "Mbit/s", "goodput counted from the first arrival after the pre-roll, whatever the bucket held there"
    { GOODPUT_AFTER_PREROLL_MBIT: f64 = "goodput_after_preroll_mbit" }

    "%", "by how much goodput over emulated links may read too high because its first bytes left the emulator late: its latest departure over the time that was counted; in a disturbed pass over kernel links, because a token bucket filled meanwhile: its depth over the bytes that were counted"
    { GOODPUT_LATE_PERCENT: f64 = "goodput_late_percent" }

    "reads", "arrivals that carried no stamp of the kernel"
    { UNSTAMPED_READS: u64 = "unstamped_reads" }

    "messages", "arrived out of order; arrived before they were sent"
    { REORDERED: u64 = "reordered", NEGATIVE_DELAYS: u64 = "negative_delays" }

    "messages", "echoes that `rtt` is the mean of"
    { ECHOES: u64 = "echoes" }
}
