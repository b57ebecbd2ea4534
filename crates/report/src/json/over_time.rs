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

/// The unit of delays in evidence, in seconds.
const MILLISECOND: f64 = 1e-3;

/// The unit of goodput in evidence, in bit/s.
const MEGABIT: f64 = 1e6;

/// A quantity of a line: its key, and the unit of its evidence in that of the key.
type Column = (&'static str, Quantity, f64);

/// The quantities of a line, by the evidence that has them.
const OF_FLOWS: [Column; 5] = [
    ("goodput_bps", Quantity::Goodput, MEGABIT),
    ("rtt_s", Quantity::RoundTrip, MILLISECOND),
    ("rtt_max_s", Quantity::LongestRoundTrip, MILLISECOND),
    ("delay_s", Quantity::Delay, MILLISECOND),
    ("delay_max_s", Quantity::LongestDelay, MILLISECOND),
];
const OF_LINKS: [Column; 3] = [
    ("queue", Quantity::Queue, 1.0),
    ("average", Quantity::Average, 1.0),
    ("drop_percent", Quantity::Drops, 1.0),
];

/// A flow or a link over time, with the field order of the format.
#[derive(Serialize)]
struct OverTime<'a> {
    /// `flow_series` or `link_series`.
    kind: &'a str,
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
    kind: &'static str,
    /// `delay` or `rtt`.
    of: &'a str,
    flow: &'a str,
    factors: &'a Factors,
    n: usize,
    share: [f64; SHARES.len()],
    time_s: Means,
}

impl Means {
    /// The means in units of `scale`.
    fn of(means: impl Iterator<Item = Option<Mean>> + Clone, scale: f64) -> Self {
        let interval = |mean: Mean| {
            let Interval { low, high } = mean.ci95?;
            Some(Interval {
                low: low * scale,
                high: high * scale,
            })
        };
        Self {
            mean: means.clone().map(|mean| Some(mean?.mean * scale)).collect(),
            ci95: means.map(|mean| mean.and_then(interval)).collect(),
        }
    }
}

/// The objects without line ends, in the plan's order.
pub(super) fn lines(found: &Findings<'_>) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, cell) in found.plan.cells.iter().enumerate() {
        let details = found.details(number);
        lines.extend(over_time("flow_series", &OF_FLOWS, &cell.factors, details));
        lines.extend(over_time("link_series", &OF_LINKS, &cell.factors, details));
        for (word, times) in [("delay", Times::Delay), ("rtt", Times::RoundTrip)] {
            for (flow, means) in details.quantiles(times) {
                lines.push(json_line(&Distribution {
                    kind: "distribution",
                    of: word,
                    flow,
                    factors: &cell.factors,
                    n: means[0].n,
                    share: SHARES,
                    time_s: Means::of(means.iter().copied().map(Some), MILLISECOND),
                }));
            }
        }
    }
    lines
}

fn over_time(
    kind: &str,
    quantities: &[Column],
    factors: &Factors,
    details: &Details,
) -> Vec<String> {
    let line = |name: &str| {
        let of = |&(key, quantity, scale): &Column| {
            let series = details.series(quantity, name, Resolution::Full)?;
            Some((key, series, scale))
        };
        let series: Vec<(&str, &TimeSeries, f64)> = quantities.iter().filter_map(of).collect();
        let (_, first, _) = series.first()?;
        let trials = first.means.iter().flatten().map(|mean| mean.n).max();
        Some(json_line(&OverTime {
            kind,
            name,
            factors,
            n: trials.unwrap_or(0),
            interval_s: first.interval,
            quantities: { series.iter() }
                .map(|(key, series, scale)| (*key, Means::of(series.means.iter().copied(), *scale)))
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
            (&flow["kind"], &flow["name"]),
            (&"flow_series".into(), &"a".into())
        );
        assert_eq!(flow["interval_s"], 0.5);
        let n = flow["n"].as_u64().unwrap();
        assert_eq!(flow["goodput_bps"]["mean"][1], 4e6);
        assert!(n < 2 || flow["goodput_bps"]["ci95"][0].is_array(), "{flow}");
        assert_eq!(flow["rtt_s"]["mean"], json!([null, 0.004]));
        assert_eq!(lines[1]["kind"], "link_series");
        assert_eq!(lines[1]["queue"]["mean"], json!([1.0, 2.0]));
        assert_eq!(lines[2]["of"], "rtt");
        assert_eq!(lines[2]["share"][9], 0.999);
        assert_eq!(lines[2]["time_s"]["mean"][9], 0.01);
    }
}
