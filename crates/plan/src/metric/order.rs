//! The order of metrics in reports, and metrics named after flows and windows.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use super::flow::{named_for, split};
use super::window::{self, OF_WINDOWS};
use super::{METRICS, Metric, OF_LATENCY_BREAKDOWN};
use crate::{Metrics, Trial};

/// The metrics that `trials` measured: the catalogue's metrics in its order,
/// each followed by its single-flow metrics; then those of latency breakdowns;
/// then those of windows, by name.
pub fn measured(trials: &[Trial]) -> Vec<&'static Metric> {
    let mut names = BTreeSet::new();
    let mut before: Option<&Metrics> = None;
    for metrics in trials.iter().map(|trial| &trial.metrics) {
        if before.is_none_or(|before| !before.has_names_of(metrics)) {
            names.extend(metrics.keys());
        }
        before = Some(metrics);
    }
    let mut found = Vec::new();
    for metric in METRICS {
        if names.contains(metric.name) {
            found.push(metric);
        }
        let first = named_for(metric, "");
        let flows = names.range(first.as_str()..);
        let flows =
            flows.take_while(|name| split(name).is_some_and(|(base, _)| base == metric.name));
        found.extend(flows.filter_map(|name| Metric::named(name)));
    }
    let of_parts = OF_LATENCY_BREAKDOWN.iter();
    found.extend(of_parts.filter(|metric| names.contains(metric.name)));
    for base in OF_WINDOWS {
        let of_base = names.iter().filter(|name| window::base(name) == Some(base));
        found.extend(of_base.filter_map(|name| Metric::named(name)));
    }
    found
}

/// The position of a metric, or of the metric it is derived from, in reports.
pub fn position(metric: &Metric) -> usize {
    let of_catalogue = split(metric.name).map_or(metric.name, |(base, _)| base);
    let in_order = METRICS.iter().chain(&OF_LATENCY_BREAKDOWN);
    let in_catalogue = { in_order }.position(|other| other.name == of_catalogue);
    in_catalogue.unwrap_or_else(|| {
        let base = window::base(metric.name);
        let of_windows = OF_WINDOWS.iter().position(|other| Some(other) == base);
        METRICS.len() + OF_LATENCY_BREAKDOWN.len() + of_windows.unwrap_or(OF_WINDOWS.len())
    })
}

/// The metric called `name`, created on first use and never freed. A run has
/// few flows and windows, and few metrics of each.
pub(super) fn intern(name: &str, make: impl FnOnce() -> Metric) -> &'static Metric {
    static MADE: Mutex<BTreeMap<String, &'static Metric>> = Mutex::new(BTreeMap::new());
    // The map is consistent even after a panic: each entry is inserted in one
    // step.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    made.entry(name.to_owned())
        .or_insert_with(|| Box::leak(Box::new(make())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::synthetic::{factors, trial};

    #[test]
    fn what_was_measured_is_listed_in_the_catalogues_order() {
        let metrics = [
            ("delay", 1.0),
            ("delay/small", 1.0),
            ("delay/big", 1.0),
            ("delay_p99/big", 1.0),
            ("throughput/big", 1.0),
            ("loss", 0.0),
            ("mean_queue_late", 1.0),
            ("drop_percent_late", 1.0),
            ("drop_percent_early", 1.0),
        ];
        let trials = [trial(factors(1500), 1, &metrics)];
        let names: Vec<&str> = measured(&trials).iter().map(|metric| metric.name).collect();
        assert_eq!(
            names,
            [
                "throughput/big",
                "delay",
                "delay/big",
                "delay/small",
                "delay_p99/big",
                "loss",
                "drop_percent_early",
                "drop_percent_late",
                "mean_queue_late"
            ]
        );
        let positions: Vec<usize> = measured(&trials).into_iter().map(position).collect();
        assert!(positions.is_sorted(), "{positions:?}");
    }
}
