//! JSON lines of time series and distributions: one object for each cell and flow or
//! link.

use std::collections::BTreeMap;

use analysis::Findings;
use analysis::details::{Details, Quantity, Resolution, TimeSeries, Times};
use analysis::statistics::{Interval, Mean};
use document::json_line;
use meter::streaming_recorder::SHARES;
use plan::Factors;
use serde::Serialize;

/// The quantities of a line, by the evidence that has them.
const OF_FLOWS: [(&str, Quantity); 5] = [
    ("goodput_mbit", Quantity::Goodput),
    ("rtt_ms", Quantity::RoundTrip),
    ("rtt_max_ms", Quantity::LongestRoundTrip),
    ("delay_ms", Quantity::Delay),
    ("delay_max_ms", Quantity::LongestDelay),
];
const OF_LINKS: [(&str, Quantity); 3] = [
    ("queue", Quantity::Queue),
    ("average", Quantity::Average),
    ("drop_percent", Quantity::Drops),
];

/// A flow or a link over time, with the field order of the format.
#[derive(Serialize)]
struct OverTime<'a> {
    /// `flow` or `link`.
    over_time: &'a str,
    /// Null, so that readers who select lines by metric skip this one.
    metric: Option<&'a str>,
    name: &'a str,
    factors: &'a Factors,
    n: usize,
    interval_s: f64,
    #[serde(flatten)]
    quantities: BTreeMap<&'a str, Means>,
}

/// Means over trials.
#[derive(Serialize)]
struct Means {
    mean: Vec<Option<f64>>,
    ci95: Vec<Option<Interval>>,
}

/// The distribution of the delays of a flow.
#[derive(Serialize)]
struct Distribution<'a> {
    /// `delay` or `rtt`.
    distribution: &'a str,
    metric: Option<&'a str>,
    flow: &'a str,
    factors: &'a Factors,
    n: usize,
    share: [f64; SHARES.len()],
    #[serde(flatten)]
    ms: Means,
}

impl Means {
    fn of(means: impl Iterator<Item = Option<Mean>> + Clone) -> Self {
        Self {
            mean: means.clone().map(|mean| Some(mean?.mean)).collect(),
            ci95: means.map(|mean| mean?.ci95).collect(),
        }
    }
}

/// The objects without line ends, in the plan's order.
pub(super) fn lines(found: &Findings<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, cell) in found.plan.cells.iter().enumerate() {
        let details = found.details(number);
        lines.extend(over_time("flow", &OF_FLOWS, &cell.factors, details));
        lines.extend(over_time("link", &OF_LINKS, &cell.factors, details));
        for (word, times) in [("delay", Times::Delay), ("rtt", Times::RoundTrip)] {
            for (flow, means) in details.quantiles(times) {
                lines.push(json_line(&Distribution {
                    distribution: word,
                    metric: None,
                    flow,
                    factors: &cell.factors,
                    n: means[0].n,
                    share: SHARES,
                    ms: Means::of(means.iter().copied().map(Some)),
                }));
            }
        }
    }
    lines
}

fn over_time(
    what: &str,
    quantities: &[(&'static str, Quantity)],
    factors: &Factors,
    details: &Details,
) -> Vec<String> {
    let line = |name: &str| {
        let of = |&(key, quantity): &(&'static str, Quantity)| {
            Some((key, details.series(quantity, name, Resolution::Full)?))
        };
        let series: Vec<(&str, &TimeSeries)> = quantities.iter().filter_map(of).collect();
        let (_, first) = series.first()?;
        let trials = first.means.iter().flatten().map(|mean| mean.n).max();
        Some(json_line(&OverTime {
            over_time: what,
            metric: None,
            name,
            factors,
            n: trials.unwrap_or(0),
            interval_s: first.interval,
            quantities: { series.iter() }
                .map(|(key, series)| (*key, Means::of(series.means.iter().copied())))
                .collect(),
        }))
    };
    details.names(quantities[0].1).filter_map(line).collect()
}

#[cfg(test)]
mod tests {
    use plan::synthetic::{facts, set_evidence, study};
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn flows_links_and_distributions_have_a_line_for_each_cell() {
        let (plan, mut trials) = study();
        let bytes = ["125000 250000", "375000 250000"].iter().cycle();
        for (trial, bytes) in trials.iter_mut().zip(bytes) {
            let flow = json!({ "interval_s": 0.5, "bytes": bytes, "rtt_ms": "- 4" });
            let link = json!({ "interval_s": 0.5, "queue": "1 2" });
            let quantiles = json!({ "a": "1 2 3 4 5 6 7 8 9 10" });
            for (key, value) in [
                ("flow_series", json!({ "a": flow })),
                ("series", json!({ "wire": link })),
                ("rtt_quantiles", quantiles),
            ] {
                set_evidence(trial, key, value);
            }
        }
        let facts = facts();
        let found = Findings::of(&plan, &trials, &facts);
        let lines = lines(&found);
        let lines: Vec<Value> = { lines.iter() }
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        let measured = found
            .by_cell
            .iter()
            .filter(|trials| trials.iter().any(|trial| trial.failure.is_none()));
        assert_eq!(lines.len(), 3 * measured.count());
        let flow = &lines[0];
        assert_eq!(
            (&flow["over_time"], &flow["name"]),
            (&"flow".into(), &"a".into())
        );
        assert_eq!(
            (&flow["metric"], &flow["interval_s"]),
            (&Value::Null, &0.5.into())
        );
        let n = flow["n"].as_u64().unwrap();
        assert_eq!(flow["goodput_mbit"]["mean"][1], 4.0);
        assert!(
            n < 2 || flow["goodput_mbit"]["ci95"][0].is_array(),
            "{flow}"
        );
        assert_eq!(flow["rtt_ms"]["mean"], json!([null, 4.0]));
        assert_eq!(lines[1]["over_time"], "link");
        assert_eq!(lines[1]["queue"]["mean"], json!([1.0, 2.0]));
        assert_eq!(lines[2]["distribution"], "rtt");
        assert_eq!(lines[2]["share"][9], 0.999);
        assert_eq!(lines[2]["mean"][9], 10.0);
    }
}
