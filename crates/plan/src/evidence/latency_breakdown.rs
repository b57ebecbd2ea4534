//! Latency breakdowns.

use meter::latency_breakdown::PARTS;

use super::fact::{Fact, Row};

facts! {
    "us", "`kind = \"latency-breakdown\"`: the median of each part, a list in the order of the metrics, `unexplained` last"
    { PARTS_MEDIAN_US: [f64; PARTS] = "parts_median_us" }

    "us", "likewise: what readers that do not sleep find between the last packet's arrival and its being there, at the receiver and at the sender"
    { SOFTIRQ_US: [Option<f64>; 2] = "softirq_us" }

    "us", "likewise: mean of round trips without stamps of departures: what `rtt` is more is the instrument"
    { RTT_PLAIN_US: f64 = "rtt_plain_us" }

    "us", "likewise: how long the rates of emulated links ask for one message"
    { TRANSMISSION_US: f64 = "transmission_us" }

    "messages", "likewise: that did not come back within a second; that lack a stamp of the kernel"
    { MESSAGES_LOST: usize = "messages_lost", TRIPS_UNSTAMPED: usize = "trips_unstamped" }
}
