//! The figures of flows: all together, each alone, and those that are alike as
//! one.

use std::collections::BTreeMap;

use live::testbed::Fragments;
use plan::metric::{OF_FLOWS, of_flow};
use plan::setting::{Flows, PathMtu};
use proto::Summary;
use serde_json::{Map, Value, json};

use super::Seeing;
use crate::agent::{Arrived, Departed};
use crate::figures::Figures;

/// Both ends of one flow.
type Ends<'a> = (&'a Departed, &'a Arrived);

impl Figures {
    /// Puts down what `flows` came to.
    pub(in crate::measure) fn take_flows(&mut self, flows: &Flows, seeing: &Seeing<'_>) {
        let ends: Vec<Ends<'_>> = seeing.sent.iter().zip(seeing.received).collect();
        for (metric, value) in of(&ends) {
            self.put(metric, value);
        }
        for (place, group) in flows.flows.iter().enumerate() {
            let alike: Vec<Ends<'_>> = (seeing.asked.iter().zip(&ends))
                .filter(|((of, _), _)| *of == place)
                .map(|(_, ends)| *ends)
                .collect();
            let fairness = (alike.len() > 1).then(|| ("fairness", fairness(&alike)));
            let figures = of(&alike).into_iter().chain(fairness);
            for (metric, value) in figures.filter(|(metric, _)| OF_FLOWS.contains(metric)) {
                self.put(&of_flow(metric, &group.name), value);
            }
        }
        if flows
            .flows
            .iter()
            .any(|flow| flow.path_mtu != PathMtu::Machine)
        {
            self.put("first_delivery", first_delivery(&ends));
        }
        self.support(&ends);
    }

    /// Puts down what processors did for a message. What a node in between does
    /// with a packet, the kernel mostly does in the context of whoever sent it.
    pub(in crate::measure) fn take_work(&mut self, seeing: &Seeing<'_>) {
        // Each flow of a process tells the account of all.
        let sender = seeing.sent.iter().map(|flow| flow.cpu).max();
        let receiver = seeing.received.iter().map(|flow| flow.cpu).max();
        let messages: u64 = seeing.received.iter().map(|flow| flow.messages).sum();
        let micros = |nanos: u64| count(nanos) / 1e3 / count(messages);
        let each = (messages > 0)
            .then(|| sender.zip(receiver))
            .flatten()
            .map(|(sender, receiver)| (micros(sender), micros(receiver)));
        self.put(
            "cpu_message",
            each.map(|(sender, receiver)| sender + receiver),
        );
        self.note("cpu_message_sender_us", json!(each.map(|each| each.0)));
        self.note("cpu_message_receiver_us", json!(each.map(|each| each.1)));
    }

    /// Puts down what nodes did with packets that did not fit between the two
    /// looks; nothing of nodes that did nothing.
    pub(in crate::measure) fn take_fragments(
        &mut self,
        before: &[(String, Fragments)],
        after: &[(String, Fragments)],
    ) {
        let mut nodes = Map::new();
        for ((name, after), (_, before)) in after.iter().zip(before) {
            let counts = after.since(before);
            let named = [
                ("cut", counts.cut),
                ("made", counts.made),
                ("too_big", counts.too_big),
                ("taken", counts.taken),
                ("joined", counts.joined),
                ("given_up", counts.given_up),
            ];
            let told = named.into_iter().filter(|(_, count)| *count > 0);
            let told: Map<String, Value> = told
                .map(|(name, count)| (name.to_owned(), json!(count)))
                .collect();
            if !told.is_empty() {
                nodes.insert(name.clone(), Value::Object(told));
            }
        }
        if !nodes.is_empty() {
            self.note("fragments", Value::Object(nodes));
        }
    }

    fn support(&mut self, ends: &[Ends<'_>]) {
        let sum = |of: fn(&Ends<'_>) -> u64| json!(ends.iter().map(of).sum::<u64>());
        self.note("messages_offered", sum(|(sent, _)| sent.offered));
        self.note("messages_sent", sum(|(sent, _)| sent.messages));
        self.note("messages_refused", sum(|(sent, _)| sent.refused));
        self.note("messages_unsent", sum(|(sent, _)| sent.unsent));
        self.note("messages_received", sum(|(_, came)| came.messages));
        self.note("socket_overflowed", sum(|(_, came)| came.overflowed));
        self.note("unstamped_reads", sum(|(_, came)| came.unstamped));
        self.note("merged_reads", sum(|(_, came)| came.merged));
        let stamped = sum(|(sent, _)| sent.departures.len() as u64);
        self.note("departures_stamped", stamped);
        let latest = |which: usize| {
            let late = ends.iter().filter_map(|(sent, _)| sent.lateness);
            let most = late.map(|late| late[which]).max();
            json!(most.map(|nanos| count(nanos) / 1e3))
        };
        self.note("sender_late_us", latest(0));
        self.note("sender_late_us_p99", latest(1));
        self.note("sender_late_us_max", latest(2));
        if let Some((sent, _)) = ends.first() {
            self.note("send_buffer", json!(sent.send_buffer));
            self.note("receive_buffer", json!(sent.receive_buffer));
        }
        if let Some(tcp) = ends.iter().find_map(|(sent, _)| sent.tcp.as_ref()) {
            self.note("congestion", json!(tcp.congestion));
            self.note("segment_size", json!(tcp.segment_size));
        }
    }
}

/// What flows came to together; of delays the mean over all messages.
fn of(ends: &[Ends<'_>]) -> Vec<(&'static str, Option<f64>)> {
    let mean = |of: fn(&Arrived) -> &Summary, figure: fn(&Summary) -> Option<f64>| {
        let (mut weight, mut sum) = (0.0, 0.0);
        for (_, came) in ends {
            let summary = of(came);
            if let Some(value) = figure(summary) {
                weight += count(summary.received);
                sum += value * count(summary.received);
            }
        }
        (weight > 0.0).then(|| sum / weight * 1e3)
    };
    let stamped = |figure| mean(|came| &came.summary, figure);
    let program = |figure| mean(|came| &came.by_program, figure);
    let datagrams = || ends.iter().filter(|(sent, _)| sent.tcp.is_none());
    let connections = || ends.iter().filter_map(|(sent, _)| sent.tcp.as_ref());
    let sent = datagrams().map(|(sent, _)| sent.messages).sum();
    let lost = datagrams().map(|(_, came)| came.summary.lost).sum::<u64>();
    let again = connections().map(|tcp| tcp.retransmitted).sum();
    let crossing = crossing(ends);
    // Bits of a message over the milliseconds it takes are kbit/s.
    let restated = crossing.map(|(millis, octets)| octets * 8.0 / millis / 1e3);
    let [rtt, median, p95, p99] = round_trips(ends);
    vec![
        ("rtt", rtt),
        ("rtt_p50", median),
        ("rtt_p95", p95),
        ("rtt_p99", p99),
        ("throughput", rate_received(ends)),
        ("offered_rate", rate_sent(ends, |sent| sent.offered)),
        ("sent_rate", rate_sent(ends, |sent| sent.messages)),
        ("delay", stamped(|one| one.delay_mean)),
        ("delay_p99", stamped(|one| one.delay_p99)),
        ("jitter", stamped(|one| one.jitter_mean_deviation)),
        ("ipdv_p95", stamped(|one| one.ipdv_p95)),
        ("latency", crossing.map(|(millis, _)| millis)),
        ("paper_throughput", restated),
        ("latency_ditg", program(|one| one.delay_mean)),
        ("jitter_ditg", program(|one| one.jitter_ditg)),
        (
            "loss",
            (sent > 0).then(|| 100.0 * count(lost) / count(sent)),
        ),
        (
            "retransmissions",
            connections().next().map(|_| count(again)),
        ),
        ("lateness_p99", lateness(ends)),
    ]
}

/// From the first octets of messages on their way to the interface to their
/// last octets at the receiver, in milliseconds, and their octets: means over
/// messages of streams whose departure was stamped.
fn crossing(ends: &[Ends<'_>]) -> Option<(f64, f64)> {
    let (mut messages, mut nanos, mut octets) = (0_u64, 0.0, 0.0);
    for (sent, came) in ends {
        let left: BTreeMap<u64, u64> = sent.departures.iter().copied().collect();
        for sample in &came.samples {
            let Some(left) = left.get(&sample.sequence) else {
                continue;
            };
            if let Some(took) = sample.received.checked_sub(*left) {
                messages += 1;
                nanos += count(took);
                octets += f64::from(sample.octets);
            }
        }
    }
    (messages > 0).then(|| (nanos / count(messages) / 1e6, octets / count(messages)))
}

/// From the instant of a flow's first message, lost or not, to the first that
/// arrived, in milliseconds; of the flow where it is longest.
fn first_delivery(ends: &[Ends<'_>]) -> Option<f64> {
    let spans = ends
        .iter()
        .filter_map(|(sent, came)| Some(came.first?.saturating_sub(sent.first?)));
    spans.max().map(|nanos| count(nanos) / 1e6)
}

/// Of flows there and back: the mean round trip over all messages that were
/// back; the median, the 95th and the 99th percentile of the flow where each
/// is longest.
fn round_trips(ends: &[Ends<'_>]) -> [Option<f64>; 4] {
    let all = || {
        ends.iter()
            .filter_map(|(sent, _)| Some((sent.echoes, sent.round_trips?)))
    };
    let echoes: u64 = all().map(|(echoes, _)| echoes).sum();
    let sum: f64 = all()
        .map(|(echoes, [mean, ..])| count(echoes) * count(mean))
        .sum();
    let mean = (echoes > 0).then(|| sum / count(echoes) / 1e6);
    let longest = |place: usize| all().map(|(_, trips)| trips[place]).max();
    let millis = |nanos: Option<u64>| nanos.map(|nanos| count(nanos) / 1e6);
    [
        mean,
        millis(longest(1)),
        millis(longest(2)),
        millis(longest(3)),
    ]
}

/// What arrived between stamps, flows added up, in Mbit/s.
fn rate_received(ends: &[Ends<'_>]) -> Option<f64> {
    let rates = ends.iter().filter_map(|(_, came)| came.counted);
    let rates: Vec<f64> = rates
        .map(|(octets, nanos)| megabits(octets, nanos))
        .collect();
    (!rates.is_empty()).then(|| rates.iter().sum())
}

/// So many messages of the mean size over the time in which the flow sent, in
/// Mbit/s; messages that had no instant offer no rate.
fn rate_sent(ends: &[Ends<'_>], messages: fn(&Departed) -> u64) -> Option<f64> {
    let rates = ends.iter().filter_map(|(sent, _)| {
        sent.lateness?;
        let mean = count(sent.octets) / count(sent.messages);
        let bits = count(messages(sent)) * mean * 8.0;
        (sent.lasted > 0 && sent.messages > 0).then(|| bits / count(sent.lasted) * 1e3)
    });
    let rates: Vec<f64> = rates.collect();
    (!rates.is_empty()).then(|| rates.iter().sum())
}

fn lateness(ends: &[Ends<'_>]) -> Option<f64> {
    let late = ends.iter().filter_map(|(sent, _)| sent.lateness);
    late.map(|[_, late, _]| late)
        .max()
        .map(|nanos| count(nanos) / 1e6)
}

/// Jain's index of the throughputs, where a flow that got nothing counts as
/// one [Jain1984].
fn fairness(ends: &[Ends<'_>]) -> Option<f64> {
    let rates = ends.iter().map(|(_, came)| came.counted);
    let rates = rates.map(|counted| counted.map_or(0.0, |(octets, nanos)| megabits(octets, nanos)));
    let rates: Vec<f64> = rates.collect();
    let sum: f64 = rates.iter().sum();
    let squares: f64 = rates.iter().map(|rate| rate * rate).sum();
    (squares > 0.0).then(|| sum * sum / (count(rates.len() as u64) * squares))
}

fn megabits(octets: u64, nanos: u64) -> f64 {
    count(octets) * 8.0 / count(nanos) * 1e3
}

#[expect(
    clippy::cast_precision_loss,
    reason = "counts far below 2^53 become figures"
)]
const fn count(number: u64) -> f64 {
    number as f64
}

#[cfg(test)]
mod tests;
