//! Derives the metrics of a trial from a simulation's outcome.

mod flows;

use std::collections::BTreeMap;

use link::PacketOutcome;
use plan::Setting;
use plan::evidence::{self, Domain, Edge, Fragments};
use plan::metric::{self, Metric};
use plan::setting::Traffic;
use sim::{DirectionOutcome, DomainOutcome, FlowOutcome, Outcome};
use units::{Framing, Rate, Time};

use super::scenario::{ECHO, TRANSFER};
use crate::measurements::Measurements;
use crate::measurements::flows::{self as flow_metrics, FlowStats, Spread};
use crate::pace::{Paced, pace};

/// The metrics of a trial whose sources were scheduled to stop at `stop`.
///
/// # Errors
/// Nothing arrived, or not all of a connection's transfer.
pub(super) fn of(setting: &Setting, outcome: &Outcome, stop: Time) -> Result<Measurements, String> {
    if outcome.flows.iter().all(|flow| flow.received == 0) {
        return Err("nothing arrived".to_owned());
    }
    let mut measurements = Measurements::default();
    match &setting.traffic {
        Traffic::Flows(flows) => {
            let stats: Vec<FlowStats> = outcome.flows.iter().map(flows::one).collect();
            measurements.put_flows(flows, &stats, Spread::Omitted);
        }
        Traffic::Transfer(_)
        | Traffic::Command(_)
        | Traffic::LatencyBreakdown(_)
        | Traffic::RequestResponse(_)
        | Traffic::Probe(_) => {
            let flow = |name: &str| outcome.flows.iter().find(|flow| flow.name == name);
            let transfer = flow(TRANSFER);
            if let Some(transfer) = transfer {
                if transfer.tcp.is_some() {
                    complete(setting, transfer, stop)?;
                }
                measurements.put_transfer(flows::transfer(transfer));
            }
            let mean = |flow: &FlowOutcome| Some(flow.delays.as_ref()?.mean * 1e3);
            let there = transfer.and_then(mean);
            let back = flow(ECHO).and_then(mean);
            measurements.put(
                &metric::RTT,
                there.zip(back).map(|(there, back)| there + back),
            );
        }
    }
    fine(&mut measurements);
    support(&mut measurements, setting, outcome, stop);
    Ok(measurements)
}

/// The start and end of the counted part of a transfer.
pub(super) fn counted(outcome: &Outcome) -> Option<(Time, Time)> {
    let mut flows = outcome.flows.iter();
    let transfer = flows.find(|flow| flow.name == TRANSFER)?;
    transfer.tcp.as_ref()?.counted
}

/// Fails a TCP transfer that did not complete; TCP itself never stops trying.
fn complete(setting: &Setting, flow: &FlowOutcome, stop: Time) -> Result<(), String> {
    let Some(transfer) = setting.traffic.transfer() else {
        return Ok(());
    };
    let messages = transfer.size.get().div_ceil(transfer.message.get());
    if flow.received == messages {
        return Ok(());
    }
    Err(format!(
        "{} of {messages} messages arrived in {} of simulated time",
        flow.received,
        stop.since(Time::ZERO).unwrap_or_default()
    ))
}

/// Times have picoseconds; their means are rounded to a nanosecond, far
/// finer than a real clock.
fn fine(measurements: &mut Measurements) {
    const NANOSECOND: f64 = 1e-6;
    let exact = [
        metric::RTT.name,
        metric::DELAY.name,
        metric::JITTER.name,
        metric::JITTER_DITG.name,
    ];
    let known = measurements.metrics.keys();
    let known = known.filter_map(|name| Metric::named(name));
    let known: Vec<&Metric> = known.filter(|one| exact.contains(&one.base())).collect();
    for metric in known {
        measurements.note(evidence::resolution(metric), NANOSECOND);
    }
}

/// Adds the evidence: lists in the order of flows (equal flows as one) and
/// links, because a run may hold a hundred thousand trials.
fn support(measurements: &mut Measurements, setting: &Setting, outcome: &Outcome, stop: Time) {
    let by_flow = |of: fn(&FlowOutcome) -> u64| {
        let groups = groups(setting, outcome).into_iter();
        let sums = groups.map(|group| group.iter().map(of).sum::<u64>());
        sums.collect::<Vec<_>>()
    };
    let links = &setting.network.links;
    let framed = links.iter().all(|link| link.framing == Framing::Ethernet);
    if setting.traffic.transfer().is_some() && framed {
        let limit = pace(setting, Paced::Emulator);
        measurements.note(evidence::LIMIT_MBIT, limit.map(Rate::megabits_per_second));
    }
    measurements.note(evidence::SENT, by_flow(|flow| flow.sent));
    measurements.note(evidence::RECEIVED, by_flow(|flow| flow.received));
    measurements.note(evidence::PACKETS, by_flow(|flow| flow.packets));
    let rejected = |flow: &FlowOutcome| flow.rejected;
    if outcome.flows.iter().map(rejected).sum::<u64>() > 0 {
        measurements.note(evidence::REJECTED, by_flow(rejected));
    }
    // A TCP transfer ends long before the scheduled stop of its sources.
    let lasts = |end: Time| end.since(Time::ZERO).unwrap_or_default().as_secs_f64();
    let scale = match &setting.traffic {
        Traffic::Transfer(transfer) if transfer.tcp.is_some() => {
            lasts(stop) / lasts(outcome.end.min(stop))
        }
        _ => 1.0,
    };
    let utilisation = by_direction(outcome, |direction| direction.utilisation * scale);
    measurements.note(evidence::UTILISATION, utilisation);
    let mean_queue = by_direction(outcome, |direction| direction.mean_queue * scale);
    measurements.note(evidence::MEAN_QUEUE, mean_queue);
    let dropped = |direction: &DirectionOutcome| direction.counters.of(PacketOutcome::Dropped);
    let lost = |direction: &DirectionOutcome| {
        direction.counters.of(PacketOutcome::Lost) + direction.counters.of(PacketOutcome::Damaged)
    };
    let directions = || outcome.links.iter().flat_map(|link| &link.directions);
    if directions().map(dropped).sum::<u64>() > 0 {
        measurements.note(evidence::DROPPED, by_direction(outcome, dropped));
    }
    if directions().map(lost).sum::<u64>() > 0 {
        measurements.note(evidence::LOST, by_direction(outcome, lost));
    }
    let in_buffers: u64 = outcome.nodes.iter().map(|node| node.dropped).sum();
    if in_buffers > 0 {
        measurements.note(evidence::BUFFER_DROPS, in_buffers);
    }
    let cutters = outcome.nodes.iter().filter_map(|node| {
        let counts = Fragments {
            cut: Some(node.cut),
            too_big: Some(node.answered),
            ..Fragments::default()
        };
        (node.cut + node.answered > 0).then(|| (node.name.clone(), counts))
    });
    let cutters: BTreeMap<String, Fragments> = cutters.collect();
    if !cutters.is_empty() {
        measurements.note(evidence::FRAGMENTS, cutters);
    }
    if let Some(domain) = &outcome.domain {
        measurements.note(evidence::DOMAIN, of_domain(domain));
    }
    measurements.note(evidence::EVENTS, outcome.events);
}

/// The counters of edges, and of packets of senders in each direction of each
/// link.
fn of_domain(domain: &DomainOutcome) -> Domain {
    let edges = domain.edges.iter().map(|edge| {
        let counts = Edge {
            aggregated: edge.aggregated,
            bare: edge.bare,
            bundles: edge.bundles,
            bundled: edge.bundled,
            unpacked: edge.unpacked,
            survivors: edge.survivors,
        };
        (edge.name.clone(), counts)
    });
    let links = domain.links.iter().map(|directions| {
        directions.map(|direction| {
            [
                direction.arrived,
                direction.dropped,
                direction.inner_dropped,
            ]
        })
    });
    Domain {
        edges: edges.collect(),
        links: links.collect(),
    }
}

/// The flows of the outcome, equal flows together.
fn groups<'a>(setting: &'a Setting, outcome: &'a Outcome) -> Vec<&'a [FlowOutcome]> {
    match &setting.traffic {
        Traffic::Flows(flows) => flow_metrics::groups(flows, &outcome.flows).collect(),
        Traffic::Transfer(_)
        | Traffic::Command(_)
        | Traffic::LatencyBreakdown(_)
        | Traffic::RequestResponse(_)
        | Traffic::Probe(_) => outcome.flows.chunks(1).collect(),
    }
}

/// A value for each direction of each link: forward and reverse.
fn by_direction<T>(outcome: &Outcome, of: impl Fn(&DirectionOutcome) -> T) -> Vec<[T; 2]> {
    let links = outcome.links.iter();
    links
        .map(|link| link.directions.each_ref().map(&of))
        .collect()
}
