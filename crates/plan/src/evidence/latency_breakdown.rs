//! Latency breakdowns.

use meter::latency_breakdown::PARTS;

use super::fact::{Fact, Row};

facts! {
    "us", "`kind = \"latency-breakdown\"`: the median of each part in the order of the metrics, `unexplained` last"
    { PARTS_MEDIAN_US: [f64; PARTS] = "parts_median_us" }

    "us", "likewise: time from the last packet's arrival until it can be read, by polling readers at receiver and sender"
    { SOFTIRQ_US: [Option<f64>; 2] = "softirq_us" }

    "us", "likewise: mean round trip without departure stamps; the difference from `rtt` is the cost of the instrument"
    { RTT_PLAIN_US: f64 = "rtt_plain_us" }

    "us", "likewise: time of one message at the rates of emulated links"
    { TRANSMISSION_US: f64 = "transmission_us" }

    "messages", "likewise: without an echo within a second; without a stamp of the kernel"
    { MESSAGES_LOST: usize = "messages_lost", TRIPS_UNSTAMPED: usize = "trips_unstamped" }
}
