//! Metrics of single flows: `delay/NAME` is `delay` of the flow NAME alone.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, PoisonError};

use super::{METRICS, Metric};
use crate::trial::Trial;

/// What is told of each flow.
pub const OF_FLOWS: [&str; 5] = ["throughput", "delay", "delay_p99", "jitter", "loss"];

/// What stands between metric and flow.
const BETWEEN: char = '/';

/// The longest name of a flow.
const LONGEST: usize = 32;

/// The name of a metric of one flow alone.
pub fn of_flow(metric: &str, flow: &str) -> String {
    format!("{metric}{BETWEEN}{flow}")
}

/// The metrics that `trials` measured: those of the catalogue in its order,
/// each followed by those of single flows in the order of their names.
pub fn measured(trials: &[Trial]) -> Vec<&'static Metric> {
    let names: BTreeSet<&str> = trials
        .iter()
        .flat_map(|trial| trial.metrics.keys().map(String::as_str))
        .collect();
    let mut found = Vec::new();
    for metric in METRICS {
        if names.contains(metric.name) {
            found.push(metric);
        }
        let first = of_flow(metric.name, "");
        let flows = names.range(first.as_str()..);
        let flows =
            flows.take_while(|name| split(name).is_some_and(|(base, _)| base == metric.name));
        found.extend(flows.filter_map(|name| named(name)));
    }
    found
}

/// The metric of a flow that is called `name`, if it can be one.
///
/// It is made when it is first asked for and kept for good, as the catalogue
/// is; a run has some flows, and a few metrics of each.
pub(super) fn named(name: &str) -> Option<&'static Metric> {
    static MADE: Mutex<BTreeMap<String, &'static Metric>> = Mutex::new(BTreeMap::new());
    let (base, flow) = split(name)?;
    let base = METRICS.iter().find(|metric| metric.name == base)?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let flow_is_one = (1..=LONGEST).contains(&flow.len()) && flow.chars().all(plain);
    if !OF_FLOWS.contains(&base.name) || !flow_is_one {
        return None;
    }
    // A map that a panic left behind is still whole: entries are put in at once.
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let metric = made.entry(name.to_owned()).or_insert_with(|| {
        Box::leak(Box::new(Metric {
            name: name.to_owned().leak(),
            unit: base.unit,
            title: format!("{}, {flow}", base.title).leak(),
            definition: format!("of the flow {flow} alone: {}", base.definition).leak(),
            better: base.better,
            primary: false,
            table: None,
            resolution: base.resolution,
        }))
    });
    Some(metric)
}

/// Metric and flow.
fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(BETWEEN)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::synthetic::{factors, trial};

    #[test]
    fn a_metric_of_a_flow_is_that_of_the_catalogue_under_another_name() {
        let delay = Metric::named("delay/small").unwrap();
        assert_eq!((delay.name, delay.unit), ("delay/small", "ms"));
        assert!(std::ptr::eq(delay, Metric::named("delay/small").unwrap()));
        for wrong in [
            "delay/",
            "/small",
            "rtt/small",
            "speed/small",
            "delay/a/b",
            "delay/a b",
        ] {
            assert_eq!(Metric::named(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn what_was_measured_is_listed_in_the_catalogues_order() {
        let figures = [
            ("delay", 1.0),
            ("delay/small", 1.0),
            ("delay/big", 1.0),
            ("delay_p99/big", 1.0),
            ("throughput/big", 1.0),
            ("loss", 0.0),
        ];
        let trials = [trial(factors(1500), 1, &figures)];
        let names: Vec<&str> = measured(&trials).iter().map(|metric| metric.name).collect();
        assert_eq!(
            names,
            [
                "throughput/big",
                "delay",
                "delay/big",
                "delay/small",
                "delay_p99/big",
                "loss"
            ]
        );
    }
}
