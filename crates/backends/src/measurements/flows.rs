//! Metrics of flows. A backend fills [`FlowStats`]; [`metrics`] derives the
//! metrics in the units of the catalogue, for all backends.

mod stats;

use plan::metric::{self, Metric};
use plan::setting::{Flows, PathMtu};
use units::Span;

use super::Measurements;
pub(crate) use stats::{
    Carried, ConnectionStats, Crossing, DelayStats, FlowStats, ProgramStats, RoundTrips, Schedule,
};

/// The treatment of percentiles and jitter of several flows. They do not follow
/// from those of each flow, and no backend keeps all delays.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Spread {
    /// The mean over the flows, weighted by messages: between kernels.
    #[cfg(target_os = "linux")]
    Averaged,
    /// Only for single flows.
    Omitted,
}

/// The scope of a list of flows.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scope {
    /// One flow.
    One,
    /// Equal flows, if not exactly one.
    Alike(Spread),
    /// All flows of the trial.
    All(Spread),
}

impl Measurements {
    /// Records the metrics of the flows of a trial: of all flows, and of each
    /// flow of `setting` with its copies. `flows` has an entry for each flow,
    /// in the order of `setting`.
    pub(crate) fn put_flows(&mut self, setting: &Flows, flows: &[FlowStats], spread: Spread) {
        for (metric, value) in metrics(flows, Scope::All(spread)) {
            self.put(metric, value);
        }
        for (group, alike) in setting.flows.iter().zip(groups(setting, flows)) {
            let scope = match alike {
                [_] => Scope::One,
                _ => Scope::Alike(spread),
            };
            for (metric, value) in metrics(alike, scope) {
                if metric.of_flows && value.is_some() {
                    self.put(metric::of_flow(metric, &group.name), value);
                }
            }
        }
        let fitted = |flow: &plan::setting::Flow| flow.path_mtu != PathMtu::Machine;
        if setting.flows.iter().any(fitted) {
            self.put(&metric::FIRST_DELIVERY, first_delivery(flows));
        }
    }

    /// Records the metrics of a transfer, which is one flow.
    pub(crate) fn put_transfer(&mut self, transfer: FlowStats) {
        for (metric, value) in metrics(&[transfer], Scope::One) {
            self.put(metric, value);
        }
    }
}

/// Groups the entries of `all`, one per flow of a trial, by the flows of
/// `setting`: equal flows together.
pub(crate) fn groups<'a, T>(setting: &'a Flows, all: &'a [T]) -> impl Iterator<Item = &'a [T]> {
    let mut rest = all;
    setting.flows.iter().map(move |flow| {
        let (group, others) = rest.split_at((flow.count as usize).min(rest.len()));
        rest = others;
        group
    })
}

/// All metrics of flows. Means of several flows are over all of their messages.
fn metrics(flows: &[FlowStats], scope: Scope) -> Vec<(&'static Metric, Option<f64>)> {
    let alone = match (scope, flows) {
        (Scope::One, [flow]) => Some(flow),
        _ => None,
    };
    let mean = |of: fn(&FlowStats) -> (u64, Option<f64>)| match alone {
        // The exact value; weighting would round it.
        Some(flow) => of(flow).1.map(|seconds| seconds * 1e3),
        None => mean(flows.iter().map(of)).map(|seconds| seconds * 1e3),
    };
    let spread = |of| match scope {
        Scope::Alike(Spread::Omitted) | Scope::All(Spread::Omitted) => None,
        _ => mean(of),
    };
    let longest = |of: fn(&FlowStats) -> Option<Span>| {
        let longest = flows.iter().filter_map(of).max();
        longest.map(Span::as_millis_f64)
    };
    let connection = |of: fn(&ConnectionStats) -> Option<u64>| {
        let counts: Vec<u64> = connections(flows).filter_map(of).collect();
        (!counts.is_empty()).then(|| count(counts.iter().sum()))
    };
    let crossing = crossing(flows);
    let tcp = alone.and_then(|flow| flow.tcp.as_ref());
    vec![
        (&metric::RTT, round_trip(flows)),
        (
            &metric::RTT_P50,
            longest(|flow| flow.round_trips.as_ref()?.p50),
        ),
        (
            &metric::RTT_P95,
            longest(|flow| flow.round_trips.as_ref()?.p95),
        ),
        (
            &metric::RTT_P99,
            longest(|flow| flow.round_trips.as_ref()?.p99),
        ),
        (&metric::THROUGHPUT, throughput(flows)),
        (
            &metric::OFFERED_RATE,
            rate_sent(flows, |_, plan| plan.offered),
        ),
        (&metric::SENT_RATE, rate_sent(flows, |flow, _| flow.sent)),
        (
            &metric::DELAY,
            mean(|flow| (flow.delays.messages, flow.delays.mean)),
        ),
        (
            &metric::DELAY_P99,
            spread(|flow| (flow.delays.messages, flow.delays.p99)),
        ),
        (
            &metric::JITTER,
            spread(|flow| (flow.delays.messages, flow.delays.jitter)),
        ),
        (
            &metric::IPDV_P95,
            spread(|flow| (flow.delays.messages, flow.delays.ipdv_p95)),
        ),
        (&metric::LATENCY, crossing.map(|(millis, _)| millis)),
        // Bits of a message divided by milliseconds are kbit/s.
        (
            &metric::PAPER_THROUGHPUT,
            crossing.map(|(millis, bytes)| bytes * 8.0 / millis / 1e3),
        ),
        (
            &metric::LATENCY_DITG,
            mean(|flow| (flow.by_program.messages, flow.by_program.latency)),
        ),
        (
            &metric::JITTER_DITG,
            spread(|flow| (flow.by_program.messages, flow.by_program.jitter)),
        ),
        (&metric::LOSS, loss(flows)),
        (
            &metric::RETRANSMISSIONS,
            connection(|tcp| Some(tcp.retransmitted)),
        ),
        (&metric::TIMEOUTS, connection(|tcp| tcp.timeouts)),
        (
            &metric::RTT_TCP,
            tcp.and_then(|tcp| tcp.smoothed_rtt)
                .map(Span::as_millis_f64),
        ),
        (
            &metric::SEGMENTS,
            tcp.and_then(|tcp| tcp.segments).map(count),
        ),
        (
            &metric::TIMING_ERROR_P99,
            longest(|flow| Some(flow.schedule.as_ref()?.timing_error_p99)),
        ),
        (
            &metric::FAIRNESS,
            matches!(scope, Scope::Alike(_))
                .then(|| fairness(flows))
                .flatten(),
        ),
    ]
}

fn connections(flows: &[FlowStats]) -> impl Iterator<Item = &ConnectionStats> {
    flows.iter().filter_map(|flow| flow.tcp.as_ref())
}

/// The overall mean of means over different numbers of messages.
fn mean(means: impl Iterator<Item = (u64, Option<f64>)>) -> Option<f64> {
    let (mut weight, mut sum) = (0.0, 0.0);
    for (messages, mean) in means {
        if let Some(mean) = mean {
            weight += count(messages);
            sum += mean * count(messages);
        }
    }
    (weight > 0.0).then(|| sum / weight)
}

/// The mean over all measured round trips, in milliseconds.
fn round_trip(flows: &[FlowStats]) -> Option<f64> {
    let trips = || flows.iter().filter_map(|flow| flow.round_trips.as_ref());
    let measured: u64 = trips().map(|trips| trips.count).sum();
    let took: f64 = trips().map(|trips| trips.took_ms).sum();
    (measured > 0).then(|| took / count(measured))
}

/// The total throughput of flows in Mbit/s: the sum of the rates of flows, plus
/// the bytes of all connections over the time in which there was one. Few
/// segments in a short time therefore do not yield a high rate.
fn throughput(flows: &[FlowStats]) -> Option<f64> {
    let carried = || flows.iter().filter_map(|flow| flow.carried.as_ref());
    let rates = carried().filter_map(|carried| match carried {
        Carried::Rate(megabits) => Some(*megabits),
        Carried::Connection { .. } => None,
    });
    let connections = || {
        carried().filter_map(|carried| match carried {
            Carried::Rate(_) => None,
            Carried::Connection {
                bytes,
                began,
                ended,
            } => Some((bytes, *began, *ended)),
        })
    };
    let bytes = connections().map(|(bytes, ..)| bytes).sum();
    let began = connections().map(|(_, began, _)| began).min();
    let ended = connections().map(|(.., ended)| ended).max();
    let lasted = began
        .zip(ended)
        .and_then(|(began, ended)| ended.since(began));
    let lasted = lasted.filter(|lasted| *lasted > Span::ZERO);
    let connected = lasted.map(|lasted| count(bytes) * 8.0 / lasted.as_secs_f64() / 1e6);
    let all: Vec<f64> = rates.chain(connected).collect();
    (!all.is_empty()).then(|| all.iter().sum())
}

/// The rate of messages of mean size over the sending time in Mbit/s, summed
/// over flows; unscheduled messages offer no rate.
fn rate_sent(flows: &[FlowStats], messages: fn(&FlowStats, &Schedule) -> u64) -> Option<f64> {
    let rates = flows.iter().filter_map(|flow| {
        let schedule = flow.schedule.as_ref()?;
        let mean = count(flow.bytes) / count(flow.sent);
        let bits = count(messages(flow, schedule)) * mean * 8.0;
        let lasted = schedule.lasted.as_nanos();
        (lasted > 0 && flow.sent > 0).then(|| bits / count(lasted) * 1e3)
    });
    let rates: Vec<f64> = rates.collect();
    (!rates.is_empty()).then(|| rates.iter().sum())
}

/// The mean time of messages from interface to receiver in milliseconds, and
/// their mean size in bytes [Supriyanto2017].
fn crossing(flows: &[FlowStats]) -> Option<(f64, f64)> {
    let sum = |of: fn(&Crossing) -> u64| flows.iter().map(|flow| of(&flow.crossing)).sum::<u64>();
    let messages = sum(|crossing| crossing.messages);
    let nanos = count(sum(|crossing| crossing.nanos));
    let bytes = count(sum(|crossing| crossing.bytes));
    (messages > 0).then(|| (nanos / count(messages) / 1e6, bytes / count(messages)))
}

/// The share of sent messages that never arrived, in per cent [RFC7680 s4.1].
fn loss(flows: &[FlowStats]) -> Option<f64> {
    let known = || {
        flows
            .iter()
            .filter_map(|flow| Some((flow.sent, flow.lost?)))
    };
    let sent: u64 = known().map(|(sent, _)| sent).sum();
    let lost = known().map(|(_, lost)| lost).sum();
    (sent > 0).then(|| 100.0 * count(lost) / count(sent))
}

/// Jain's index of the throughputs; a flow without any arrivals counts
/// [Jain1984].
fn fairness(flows: &[FlowStats]) -> Option<f64> {
    let rates = flows
        .iter()
        .map(|flow| throughput(std::slice::from_ref(flow)).unwrap_or(0.0));
    let rates: Vec<f64> = rates.collect();
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| sum * sum / (count(rates.len() as u64) * squares))
}

/// The time from the scheduled first message of a flow to its first arrival, in
/// milliseconds; the largest of the flows.
fn first_delivery(flows: &[FlowStats]) -> Option<f64> {
    let spans = flows.iter().filter_map(|flow| {
        let (due, arrival) = (flow.first_due?, flow.first_arrival?);
        Some(arrival.since(due).unwrap_or_default())
    });
    spans.max().map(Span::as_millis_f64)
}

const fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
