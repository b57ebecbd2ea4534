//! The sections of a report. Each file describes one and returns `None` if a
//! run has no content for it.

pub(crate) mod answer;
pub(crate) mod auto_rate;
pub(crate) mod citation;
pub(crate) mod claims;
pub(crate) mod crosstab;
pub(crate) mod delays;
pub(crate) mod head;
pub(crate) mod headline;
pub(crate) mod latency_breakdown;
pub(crate) mod metrics;
pub(crate) mod other_metrics;
pub(crate) mod outliers;
pub(crate) mod paired;
pub(crate) mod prober_accuracy;
pub(crate) mod quality_check;
pub(crate) mod reading;
pub(crate) mod redrawn;
pub(crate) mod rows;
pub(crate) mod sizes;
pub(crate) mod study;
pub(crate) mod summary;
pub(crate) mod test_bed;
pub(crate) mod time_series;
pub(crate) mod verdicts;
