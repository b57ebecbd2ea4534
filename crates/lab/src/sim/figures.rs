//! From what a simulation came to, to the figures of a trial.

use proto::link::Fate;
use serde_json::{Value, json};
use sim::{FlowOutcome, Outcome, WayOutcome};
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

/// What supports the figures: lists in the order of flows and links, because a
/// run may hold a hundred thousand trials.
fn support(figures: &mut Figures, outcome: &Outcome) {
    let by_flow =
        |of: fn(&FlowOutcome) -> u64| json!(outcome.flows.iter().map(of).collect::<Vec<_>>());
    figures.note("sent", by_flow(|flow| flow.sent));
    figures.note("received", by_flow(|flow| flow.received));
    figures.note("packets", by_flow(|flow| flow.packets));
    let refused = |flow: &FlowOutcome| flow.refused;
    if outcome.flows.iter().map(refused).sum::<u64>() > 0 {
        figures.note("refused", by_flow(refused));
    }
    figures.note("utilisation", by_way(outcome, |way| json!(way.utilisation)));
    figures.note("mean_queue", by_way(outcome, |way| json!(way.mean_queue)));
    let dropped = |way: &WayOutcome| way.counters.of(Fate::Dropped);
    let lost = |way: &WayOutcome| way.counters.of(Fate::Lost) + way.counters.of(Fate::Damaged);
    let ways = || outcome.links.iter().flat_map(|link| &link.ways);
    if ways().map(dropped).sum::<u64>() > 0 {
        figures.note("dropped", by_way(outcome, |way| json!(dropped(way))));
    }
    if ways().map(lost).sum::<u64>() > 0 {
        figures.note("lost", by_way(outcome, |way| json!(lost(way))));
    }
    let in_buffers: u64 = outcome.nodes.iter().map(|node| node.dropped).sum();
    if in_buffers > 0 {
        figures.note("buffer_drops", json!(in_buffers));
    }
    figures.note("events", json!(outcome.events));
}

/// A value of each direction of each link: there and back.
fn by_way(outcome: &Outcome, of: impl Fn(&WayOutcome) -> Value) -> Value {
    let links = outcome.links.iter();
    links
        .map(|link| Value::from(link.ways.iter().map(&of).collect::<Vec<_>>()))
        .collect::<Vec<_>>()
        .into()
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * count(part) / count(whole))
}

#[expect(clippy::cast_precision_loss, reason = "counts are far below 2^53")]
fn count(number: u64) -> f64 {
    number as f64
}
