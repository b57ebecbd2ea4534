//! Metrics of single flows: `delay/NAME` is the metric `delay` of flow NAME.

use super::{METRICS, Metric, Shown, order};

/// The separator between metric and flow.
const BETWEEN: char = '/';

/// The longest flow name, in characters.
const LONGEST: usize = 32;

/// The `metric` of the catalogue for a single flow.
pub fn of_flow(metric: &Metric, flow: &str) -> &'static Metric {
    made(metric, flow, &named_for(metric, flow))
}

/// The name of `metric` for a single flow.
pub(super) fn named_for(metric: &Metric, flow: &str) -> String {
    format!("{}{BETWEEN}{flow}", metric.name)
}

/// The single-flow metric called `name`, if `name` is valid.
pub(super) fn named(name: &str) -> Option<&'static Metric> {
    let (base, flow) = split(name)?;
    let base = METRICS.iter().find(|metric| metric.name == base)?;
    let plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
    let flow_is_one = (1..=LONGEST).contains(&flow.len()) && flow.chars().all(plain);
    if !base.of_flows || !flow_is_one {
        return None;
    }
    Some(made(base, flow, name))
}

fn made(base: &Metric, flow: &str, name: &str) -> &'static Metric {
    order::intern(name, || Metric {
        name: name.to_owned().leak(),
        unit: base.unit,
        title: format!("{}, {flow}", base.title).leak(),
        definition: format!("for flow {flow} only: {}", base.definition).leak(),
        better: base.better,
        shown: Shown::Compact,
        resolution: base.resolution,
        of_flows: false,
        signed: base.signed,
    })
}

/// The name without that of its flow, if it has one.
pub(super) fn base(name: &str) -> &str {
    split(name).map_or(name, |(base, _)| base)
}

/// Splits a name into metric and flow.
pub(super) fn split(name: &str) -> Option<(&str, &str)> {
    name.split_once(BETWEEN)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_metric_of_a_flow_is_that_of_the_catalogue_under_another_name() {
        let delay = Metric::named("delay/small").unwrap();
        assert_eq!((delay.name, delay.unit), ("delay/small", "ms"));
        assert!(std::ptr::eq(delay, Metric::named("delay/small").unwrap()));
        for wrong in [
            "delay/",
            "/small",
            "rtt_tcp/small",
            "speed/small",
            "delay/a/b",
            "delay/a b",
        ] {
            assert_eq!(Metric::named(wrong), None, "{wrong}");
        }
    }
}
