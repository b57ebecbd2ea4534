//! Transfers.

use super::fact::{Fact, Row};

facts! {
    "B", "bytes sent before the counted ones"
    { WARMUP_BYTES: u64 = "warmup_bytes" }

    "B", "bytes of one write"
    { MESSAGE_BYTES: u64 = "message_bytes" }

    "B", "payload that `throughput` counts"
    { COUNTED_BYTES: u64 = "counted_bytes" }

    "Mbit/s", "goodput from the first arrival after the warm-up"
    { GOODPUT_AFTER_WARMUP_MBIT: f64 = "goodput_after_warmup_mbit" }

    "%", "possible overestimate of goodput: over emulated links the latest departure divided by the counted time; in a disturbed pass over kernel links the bucket's depth divided by the counted bytes"
    { GOODPUT_LATE_PERCENT: f64 = "goodput_late_percent" }

    "reads", "arrivals without a stamp of the kernel"
    { UNSTAMPED_READS: u64 = "unstamped_reads" }

    "messages", "arrived out of order; arrived before they were sent"
    { REORDERED: u64 = "reordered", NEGATIVE_DELAYS: u64 = "negative_delays" }

    "messages", "number of echoes for `rtt`"
    { ECHOES: u64 = "echoes" }
}
