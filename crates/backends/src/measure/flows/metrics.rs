//! Metrics of flows from the observations of both agents.

use std::collections::BTreeMap;

use meter::streaming_recorder::SHARES;
use os::fragments::Fragments;
use plan::{evidence, metric, setting::Flows};
use units::{Span, Time};

use super::FlowsObservation;
use crate::agent::{Arrived, Departed};
use crate::measure::passes::connection;
use crate::measurements::Measurements;
use crate::measurements::flows::{
    Carried, Crossing, DelayStats, FlowStats, ProgramStats, RoundTrips, Schedule, Spread, groups,
};
use crate::measurements::over_time::{FlowOverTime, Quantiles};
use meter::time_series::TimeSeries;

/// Both ends of one flow.
type Ends<'a> = (&'a Departed, &'a Arrived);

impl Measurements {
    /// Records the metrics of `flows`.
    pub(in crate::measure) fn take_flows(&mut self, flows: &Flows, seeing: &FlowsObservation<'_>) {
        let ends: Vec<Ends<'_>> = seeing.sent.iter().zip(seeing.received).collect();
        let stats: Vec<FlowStats> = ends.iter().map(stats).collect();
        self.put_flows(flows, &stats, Spread::Averaged);
        self.support(&ends);
        self.take_flows_over_time(flows, &ends);
    }

    /// Records the CPU time per message. The kernel handles a packet in an
    /// intermediate node mostly in the context of the sending process.
    pub(in crate::measure) fn take_work(&mut self, seeing: &FlowsObservation<'_>) {
        // Each flow of a process reports the CPU time of all its flows.
        let sender = seeing.sent.iter().map(|flow| flow.cpu).max();
        let receiver = seeing.received.iter().map(|flow| flow.cpu).max();
        let messages: u64 = seeing.received.iter().map(|flow| flow.messages).sum();
        let micros = |nanos: u64| count(nanos) / 1e3 / count(messages);
        let each = (messages > 0)
            .then(|| sender.zip(receiver))
            .flatten()
            .map(|(sender, receiver)| (micros(sender), micros(receiver)));
        self.put(
            &metric::CPU_MESSAGE,
            each.map(|(sender, receiver)| sender + receiver),
        );
        self.note(evidence::CPU_MESSAGE_SENDER_US, each.map(|each| each.0));
        self.note(evidence::CPU_MESSAGE_RECEIVER_US, each.map(|each| each.1));
    }

    /// Records the fragmentation counters of nodes between the two readings;
    /// nothing for nodes without any.
    pub(in crate::measure) fn take_fragments(
        &mut self,
        before: &[(String, Fragments)],
        after: &[(String, Fragments)],
    ) {
        let mut nodes = BTreeMap::new();
        for ((name, after), (_, before)) in after.iter().zip(before) {
            let counts = after.since(before);
            let any = |count| Some(count).filter(|count| *count > 0);
            let counted = evidence::Fragments {
                cut: any(counts.cut),
                made: any(counts.made),
                too_big: any(counts.too_big),
                taken: any(counts.taken),
                joined: any(counts.joined),
                given_up: any(counts.given_up),
            };
            if counted != evidence::Fragments::default() {
                nodes.insert(name.clone(), counted);
            }
        }
        if !nodes.is_empty() {
            self.note(evidence::FRAGMENTS, nodes);
        }
    }

    /// The flows over time and the distributions of their delays, equal flows together.
    fn take_flows_over_time(&mut self, flows: &Flows, ends: &[Ends<'_>]) {
        let sum = |parts: &mut dyn Iterator<Item = &TimeSeries>| {
            let mut sum = TimeSeries::default();
            parts.for_each(|part| sum.add(part));
            sum
        };
        let groups = flows.flows.iter().zip(groups(flows, ends));
        let groups = groups.map(|(flow, alike)| FlowOverTime {
            name: flow.name.clone(),
            arrivals: Some(sum(&mut alike.iter().map(|(_, came)| &came.over_time))),
            round_trips: Some(sum(&mut alike
                .iter()
                .map(|(sent, _)| &sent.round_trips_over_time))),
            delay_quantiles: mean_quantiles(
                { alike.iter() }.map(|(_, came)| (came.messages, came.summary.delay_quantiles)),
            ),
            rtt_quantiles: mean_quantiles(
                { alike.iter() }.map(|(sent, _)| (sent.echoes, sent.round_trip_quantiles)),
            ),
        });
        let groups: Vec<FlowOverTime> = groups.collect();
        self.note_over_time(&groups, None);
    }

    fn support(&mut self, ends: &[Ends<'_>]) {
        let sum = |of: fn(&Ends<'_>) -> u64| ends.iter().map(of).sum::<u64>();
        self.note(evidence::MESSAGES_OFFERED, sum(|(sent, _)| sent.offered));
        self.note(evidence::MESSAGES_SENT, sum(|(sent, _)| sent.messages));
        self.note(evidence::MESSAGES_REJECTED, sum(|(sent, _)| sent.rejected));
        self.note(evidence::MESSAGES_UNSENT, sum(|(sent, _)| sent.unsent));
        self.note(evidence::MESSAGES_RECEIVED, sum(|(_, came)| came.messages));
        self.note(
            evidence::SOCKET_OVERFLOWED,
            sum(|(_, came)| came.overflowed),
        );
        self.note(evidence::UNSTAMPED_READS, sum(|(_, came)| came.unstamped));
        self.note(evidence::MERGED_READS, sum(|(_, came)| came.merged));
        let stamped = sum(|(sent, _)| sent.departures.len() as u64);
        self.note(evidence::DEPARTURES_STAMPED, stamped);
        let latest = |which: usize| {
            let late = ends.iter().filter_map(|(sent, _)| sent.timing_error);
            let most = late.map(|late| late[which]).max();
            most.map(|nanos| count(nanos) / 1e3)
        };
        self.note(evidence::SENDER_LATE_US, latest(0));
        self.note(evidence::SENDER_LATE_US_P99, latest(1));
        self.note(evidence::SENDER_LATE_US_MAX, latest(2));
        if let Some((sent, _)) = ends.first() {
            self.note(evidence::SEND_BUFFER, sent.send_buffer);
            self.note(evidence::RECEIVE_BUFFER, sent.receive_buffer);
        }
        if let Some(tcp) = ends.iter().find_map(|(sent, _)| sent.tcp.as_ref()) {
            self.note(evidence::CONGESTION, tcp.congestion.clone());
            self.note(evidence::SEGMENT_SIZE, tcp.segment_size);
        }
    }
}

/// The statistics of one flow.
fn stats((sent, came): &Ends<'_>) -> FlowStats {
    let megabits = |(bytes, nanos)| count(bytes) * 8.0 / count(nanos) * 1e3;
    FlowStats {
        sent: sent.messages,
        bytes: sent.bytes,
        lost: sent.tcp.is_none().then_some(came.summary.lost),
        schedule: sent.timing_error.map(|[_, late, _]| Schedule {
            offered: sent.offered,
            lasted: Span::from_nanos(sent.lasted),
            timing_error_p99: Span::from_nanos(late),
        }),
        carried: came.counted.map(|counted| Carried::Rate(megabits(counted))),
        first_due: sent.first.map(Time::from_nanos),
        first_arrival: came.first.map(Time::from_nanos),
        delays: DelayStats::from(&came.summary),
        by_program: ProgramStats {
            messages: came.by_program.received,
            latency: came.by_program.delay_mean,
            jitter: came.by_program.jitter_ditg,
        },
        crossing: crossing(sent, came),
        round_trips: sent.round_trips.map(|[mean, p50, p95, p99]| RoundTrips {
            count: sent.echoes,
            took_ms: count(sent.echoes) * count(mean) / 1e6,
            p50: Some(Span::from_nanos(p50)),
            p95: Some(Span::from_nanos(p95)),
            p99: Some(Span::from_nanos(p99)),
        }),
        tcp: sent.tcp.as_ref().map(connection),
    }
}

/// The messages of a stream with stamped departures that arrived.
fn crossing(sent: &Departed, came: &Arrived) -> Crossing {
    let left: BTreeMap<u64, u64> = sent.departures.iter().copied().collect();
    let mut crossing = Crossing::default();
    for sample in &came.samples {
        let left = left.get(&sample.sequence);
        if let Some(took) = left.and_then(|left| sample.received.checked_sub(*left)) {
            crossing.messages += 1;
            crossing.nanos += took;
            crossing.bytes += u64::from(sample.bytes);
        }
    }
    crossing
}

const fn count(number: u64) -> f64 {
    number as f64
}

/// The mean of quantiles of several flows, weighted by their numbers of messages.
fn mean_quantiles(flows: impl Iterator<Item = (u64, Option<Quantiles>)>) -> Option<Quantiles> {
    let (mut sums, mut messages) = ([0.0; SHARES.len()], 0);
    for (count, quantiles) in flows {
        let Some(quantiles) = quantiles.filter(|_| count > 0) else {
            continue;
        };
        messages += count;
        for (sum, quantile) in sums.iter_mut().zip(quantiles) {
            *sum += quantile * count as f64;
        }
    }
    (messages > 0).then(|| sums.map(|sum| sum / messages as f64))
}

#[cfg(test)]
mod tests;
