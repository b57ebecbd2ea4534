//! Links and flows over time.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::fact::{Fact, Row};

facts! {
    "", "simulated, by link: its queue over time, see below"
    { SERIES: BTreeMap<String, LinkSeries> = "series" }

    "", "by flow (equal flows as one), or `transfer`: goodput, delays and round trips over time, see below; simulated only if a link has a `series`"
    { FLOW_SERIES: BTreeMap<String, FlowSeries> = "flow_series" }

    "ms", "as `flow_series`: texts of ten quantiles of one-way delays and round trips (simulated connections: TCP's samples), to three digits: 0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99 and 0.999. Between kernels those of equal flows are means weighted by messages"
    {
        DELAY_QUANTILES: BTreeMap<String, String> = "delay_quantiles",
        RTT_QUANTILES: BTreeMap<String, String> = "rtt_quantiles",
    }
}

/// The queue of a link by interval: texts of numbers, one for each interval.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LinkSeries {
    /// The length of an interval in seconds.
    pub interval_s: f64,
    /// Waiting packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arrivals: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drops: Option<String>,
    /// The queue average of the discipline, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub average: Option<String>,
}

/// A flow by interval: texts of numbers, one for each interval; a text without any number
/// is left out.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FlowSeries {
    /// The length of an interval in seconds.
    pub interval_s: f64,
    /// That of the last one, if it is shorter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_s: Option<f64>,
    /// Payload that arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_max_ms: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_ms: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rtt_max_ms: Option<String>,
}
