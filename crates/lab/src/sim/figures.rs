//! From what a simulation came to, to the figures of a trial.

use proto::link::Fate;
use serde_json::{Value, json};
use sim::{FlowOutcome, Outcome};
use units::Rate;

use super::scenario::{ECHO, TRANSFER};
use crate::experiment::{Setting, Traffic};
use crate::metric::{OF_FLOWS, of_flow};
use crate::trial::Figures;

/// The figures of a trial.
///
/// # Errors
/// Where nothing arrived.
pub(super) fn of(setting: &Setting, outcome: &Outcome) -> Result<Figures, String> {
    if outcome.flows.iter().all(|flow| flow.received == 0) {
        return Err("nothing arrived".to_owned());
    }
    let mut figures = Figures::default();
    match setting.traffic {
        Traffic::Flows(_) => {
            for flow in &outcome.flows {
                let told = single(flow).into_iter();
                for (metric, value) in told.filter(|(metric, _)| OF_FLOWS.contains(metric)) {
                    figures.put(&of_flow(metric, &flow.name), value);
                }
            }
            for (metric, value) in together(&outcome.flows) {
                figures.put(metric, value);
            }
        }
        Traffic::Transfer(_) | Traffic::Command(_) => {
            let flow = |name: &str| outcome.flows.iter().find(|flow| flow.name == name);
            let transfer = flow(TRANSFER);
            for (metric, value) in transfer.map(single).unwrap_or_default() {
                figures.put(metric, value);
            }
            let mean = |flow: &FlowOutcome| Some(flow.delays.as_ref()?.mean * 1e3);
            let there = transfer.and_then(mean);
            let back = flow(ECHO).and_then(mean);
            figures.put("rtt", there.zip(back).map(|(there, back)| there + back));
        }
    }
    fine(&mut figures);
    support(&mut figures, outcome);
    Ok(figures)
}

/// What one flow came to, by the names and in the units of the catalogue.
fn single(flow: &FlowOutcome) -> Vec<(&'static str, Option<f64>)> {
    let millis = |seconds: Option<f64>| seconds.map(|seconds| seconds * 1e3);
    let delays = flow.delays.as_ref();
    let summary = flow.summary.as_ref();
    vec![
        ("throughput", flow.goodput.map(Rate::megabits_per_second)),
        ("delay", millis(delays.map(|delays| delays.mean))),
        ("delay_p99", millis(delays.map(|delays| delays.p99))),
        (
            "jitter",
            millis(summary.and_then(|summary| summary.jitter_mean_deviation)),
        ),
        (
            "jitter_ditg",
            millis(summary.and_then(|summary| summary.jitter_ditg)),
        ),
        (
            "ipdv_p95",
            millis(summary.and_then(|summary| summary.ipdv_p95)),
        ),
        ("loss", percent(flow.lost, flow.sent)),
    ]
}

/// What all flows came to together: delays and losses over their messages.
fn together(flows: &[FlowOutcome]) -> [(&'static str, Option<f64>); 3] {
    let arrived = |flow: &&FlowOutcome| flow.delays.is_some();
    let (mut received, mut delay) = (0, 0.0);
    for flow in flows.iter().filter(arrived) {
        let mean = flow.delays.as_ref().map_or(0.0, |delays| delays.mean);
        received += flow.received;
        delay += mean * count(flow.received);
    }
    let rates: Vec<f64> = flows
        .iter()
        .filter_map(|flow| flow.goodput.map(Rate::megabits_per_second))
        .collect();
    let lost = flows.iter().map(|flow| flow.lost).sum();
    let sent = flows.iter().map(|flow| flow.sent).sum();
    [
        (
            "throughput",
            (!rates.is_empty()).then(|| rates.iter().sum()),
        ),
        (
            "delay",
            (received > 0).then(|| delay / count(received) * 1e3),
        ),
        ("loss", percent(lost, sent)),
    ]
}

/// Instants are counted in picoseconds; a mean of them is told to a nanosecond,
/// far finer than a clock would.
fn fine(figures: &mut Figures) {
    const NANOSECOND: f64 = 1e-6;
    let exact = ["rtt", "delay", "jitter", "jitter_ditg"];
    let names: Vec<String> = figures
        .metrics
        .keys()
        .filter(|name| {
            let base = name.split('/').next().unwrap_or_default();
            exact.contains(&base)
        })
        .cloned()
        .collect();
    for name in names {
        figures.note(&format!("resolution_{name}"), json!(NANOSECOND));
    }
}

/// What supports the figures.
fn support(figures: &mut Figures, outcome: &Outcome) {
    let by_flow = |of: fn(&FlowOutcome) -> u64| -> Value {
        let each = outcome.flows.iter();
        each.map(|flow| (flow.name.clone(), json!(of(flow))))
            .collect::<serde_json::Map<_, _>>()
            .into()
    };
    figures.note("sent", by_flow(|flow| flow.sent));
    figures.note("received", by_flow(|flow| flow.received));
    figures.note("packets", by_flow(|flow| flow.packets));
    let refused = outcome.flows.iter().map(|flow| flow.refused).sum::<u64>();
    if refused > 0 {
        figures.note("refused", by_flow(|flow| flow.refused));
    }
    let links = outcome.links.iter().map(|link| {
        let ways = link.ways.map(|way| {
            json!({
                "utilisation": way.utilisation,
                "mean_queue": way.mean_queue,
                "dropped": way.counters.of(Fate::Dropped),
                "lost": way.counters.of(Fate::Lost) + way.counters.of(Fate::Damaged),
            })
        });
        (link.name.clone(), json!(ways))
    });
    figures.note("links", links.collect::<serde_json::Map<_, _>>().into());
    let dropped = outcome.nodes.iter().filter(|node| node.dropped > 0);
    let dropped: serde_json::Map<_, _> = dropped
        .map(|node| (node.name.clone(), json!(node.dropped)))
        .collect();
    if !dropped.is_empty() {
        figures.note("buffer_drops", dropped.into());
    }
    figures.note("events", json!(outcome.events));
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * count(part) / count(whole))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn count(number: u64) -> f64 {
    number as f64
}
