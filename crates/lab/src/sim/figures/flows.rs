//! The figures of flows: all together, each alone, and those that are alike as
//! one.

use sim::{FlowOutcome, Outcome, TcpOutcome};
use units::{Rate, Span};

use super::{count, percent, single};
use crate::figures::Figures;
use plan::metric::{OF_FLOWS, of_flow};
use plan::setting::{Flows, PathMtu};

/// Puts down what `flows` came to.
pub(super) fn put(flows: &Flows, outcome: &Outcome, figures: &mut Figures) {
    for (flow, group) in flows.flows.iter().zip(groups(flows, outcome)) {
        let alone = match group {
            [flow] if flow.tcp.is_some() => vec![("throughput", throughput(group))],
            [flow] => single(flow),
            _ => vec![("fairness", fairness(group))],
        };
        let pooled = match group {
            // All of a single flow but what only connections have.
            [_] => pooled_connections(group).to_vec(),
            _ => pooled(group),
        };
        let told = alone.into_iter().chain(pooled);
        for (metric, value) in told.filter(|(metric, _)| OF_FLOWS.contains(metric)) {
            figures.put(&of_flow(metric, &flow.name), value);
        }
    }
    for (metric, value) in pooled(&outcome.flows) {
        figures.put(metric, value);
    }
    if flows
        .flows
        .iter()
        .any(|flow| flow.path_mtu != PathMtu::Machine)
    {
        figures.put("first_delivery", first_delivery(&outcome.flows));
    }
}

/// From the instant of a flow's first datagram, lost or not, to the first that
/// arrived, in milliseconds; of the flow where it is longest.
fn first_delivery(flows: &[FlowOutcome]) -> Option<f64> {
    let spans = flows
        .iter()
        .filter_map(|flow| flow.first_arrival?.since(flow.first_due?));
    spans.max().map(Span::as_millis_f64)
}

/// The outcomes of each flow of `flows` and of those like it.
pub(super) fn groups<'a>(
    flows: &'a Flows,
    outcome: &'a Outcome,
) -> impl Iterator<Item = &'a [FlowOutcome]> {
    let mut rest = &outcome.flows[..];
    flows.flows.iter().map(move |flow| {
        let (group, others) = rest.split_at((flow.count as usize).min(rest.len()));
        rest = others;
        group
    })
}

/// What flows came to together: delays and losses over the messages of
/// datagrams.
fn pooled(flows: &[FlowOutcome]) -> Vec<(&'static str, Option<f64>)> {
    let (mut received, mut delay) = (0, 0.0);
    for flow in flows {
        let Some(delays) = &flow.delays else { continue };
        received += flow.received;
        delay += delays.mean * count(flow.received);
    }
    let datagrams = || flows.iter().filter(|flow| flow.tcp.is_none());
    let lost = datagrams().map(|flow| flow.lost).sum();
    let sent = datagrams().map(|flow| flow.sent).sum();
    let figures = [
        ("throughput", throughput(flows)),
        (
            "delay",
            (received > 0).then(|| delay / count(received) * 1e3),
        ),
        ("loss", percent(lost, sent)),
    ];
    figures
        .into_iter()
        .chain(pooled_connections(flows))
        .collect()
}

/// What only connections have: the mean of the round trips that their senders
/// measured, and how often they sent again and timed out.
fn pooled_connections(flows: &[FlowOutcome]) -> [(&'static str, Option<f64>); 3] {
    let connections: Vec<&TcpOutcome> = flows.iter().filter_map(|flow| flow.tcp.as_ref()).collect();
    let sum = |of: fn(&TcpOutcome) -> u64| {
        let all = connections.iter().map(|tcp| of(tcp)).sum();
        (!connections.is_empty()).then(|| count(all))
    };
    let trips = sum(|tcp| tcp.sender.round_trips).filter(|trips| *trips > 0.0);
    let took = connections
        .iter()
        .map(|tcp| tcp.sender.round_trips_took)
        .map(Span::as_millis_f64);
    [
        ("rtt", trips.map(|trips| took.sum::<f64>() / trips)),
        ("retransmissions", sum(|tcp| tcp.sender.retransmissions)),
        ("timeouts", sum(|tcp| tcp.sender.timeouts)),
    ]
}

/// Jain's index of the throughputs, where a flow that got nothing counts as
/// one [Jain1984].
fn fairness(flows: &[FlowOutcome]) -> Option<f64> {
    let rates: Vec<f64> = flows
        .iter()
        .map(|flow| throughput(std::slice::from_ref(flow)).unwrap_or(0.0))
        .collect();
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    let all: f64 = rates.iter().map(|_| 1.0).sum();
    (squares > 0.0).then(|| sum * sum / (all * squares))
}

/// The throughput of flows together, in Mbit/s: the sum of the goodputs of
/// datagrams, and the octets of all connections over the time in which there
/// was one, so that few segments in a short time are no high rate.
fn throughput(flows: &[FlowOutcome]) -> Option<f64> {
    let rates = flows
        .iter()
        .filter(|flow| flow.tcp.is_none())
        .filter_map(|flow| flow.goodput.map(Rate::megabits_per_second));
    let connections = || flows.iter().filter_map(|flow| flow.tcp.as_ref());
    let octets = connections().map(|tcp| tcp.octets).sum();
    let began = connections().map(|tcp| tcp.began).min();
    let ended = connections().map(|tcp| tcp.ended).max();
    let lasted = began
        .zip(ended)
        .and_then(|(began, ended)| ended.since(began));
    let lasted = lasted.filter(|lasted| *lasted > Span::ZERO);
    let connected = lasted.map(|lasted| count(octets) * 8.0 / lasted.as_secs_f64() / 1e6);
    let all: Vec<f64> = rates.chain(connected).collect();
    (!all.is_empty()).then(|| all.iter().sum())
}
