//! Goodput of flows over time, and the distributions of their delays.

use std::collections::BTreeMap;

use meter::streaming_recorder::{Delays, OrderRecorder};
use meter::time_series::TimeSeries;
use plan::Setting;
use plan::setting::{Flow, Flows};
use sim::{Seen, Segment};
use tcp::Counts;
use units::{Bytes, Span, Time};

use crate::measurements::Measurements;
use crate::measurements::over_time::FlowOverTime;

/// Bytes of the UDP header [RFC768].
const UDP_HEADER: Bytes = Bytes::new(8);

/// The flows of a trial over time, equal flows together.
pub(super) struct FlowCounters {
    end: Time,
    /// The group of equal flows, by flow number of the scenario.
    group: Vec<usize>,
    groups: Vec<Group>,
    /// Round trips that a connection has measured so far, by flow number of the
    /// scenario: number and sum.
    measured: Vec<(u64, Span)>,
    /// The arrivals by flow, if links duplicate packets.
    seen: Option<BTreeMap<usize, OrderRecorder>>,
}

/// Equal flows.
struct Group {
    name: String,
    arrivals: TimeSeries,
    delays: Delays,
    round_trips: TimeSeries,
    round_trip_times: Delays,
}

impl FlowCounters {
    /// The counters of `flows` by intervals of length `interval`.
    pub(super) fn new(setting: &Setting, flows: &Flows, interval: Span) -> Self {
        let places = flows.flows.iter().enumerate();
        let places =
            places.flat_map(|(place, flow)| std::iter::repeat_n(place, flow.count as usize));
        let links = setting.network.links.iter();
        let repeats = { links }.any(|link| link.impairments.duplicate > 0.0);
        let series = TimeSeries::new(interval, usize::MAX);
        let group = |flow: &Flow| Group {
            name: flow.name.clone(),
            arrivals: series.clone(),
            delays: Delays::default(),
            round_trips: series.clone(),
            round_trip_times: Delays::default(),
        };
        let group_of: Vec<usize> = places.collect();
        Self {
            end: Time::ZERO + flows.duration,
            measured: vec![(0, Span::ZERO); group_of.len()],
            group: group_of,
            groups: flows.flows.iter().map(group).collect(),
            seen: repeats.then(BTreeMap::new),
        }
    }

    /// Records the arrival of a message, or of a segment with new data.
    pub(super) fn delivered(&mut self, at: Time, packet: &Seen) {
        if at >= self.end || packet.answer {
            return;
        }
        let Some(&group) = self.group.get(packet.flow) else {
            return;
        };
        let group = &mut self.groups[group];
        match packet.segment {
            Some(Segment::Data(data)) => {
                let payload = Bytes::new(data.payload.into());
                group.arrivals.carried(at, payload);
            }
            Some(Segment::Ack(_)) => {}
            None => {
                if let Some(seen) = &mut self.seen {
                    let seen = seen.entry(packet.flow);
                    let seen = seen.or_insert_with(|| OrderRecorder::new(None));
                    if !seen.record(packet.sequence).counts() {
                        return;
                    }
                }
                let delay = at.since(packet.sent).unwrap_or_default();
                group.arrivals.carried(at, packet.whole - UDP_HEADER);
                group.arrivals.took(at, delay);
                group.delays.record(delay.as_nanos());
            }
        }
    }

    /// Records an action of a connection's sender with its counts so far.
    pub(super) fn acted(&mut self, at: Time, flow: usize, counts: Counts) {
        if at >= self.end {
            return;
        }
        let Some(&group) = self.group.get(flow) else {
            return;
        };
        let (number, took) = &mut self.measured[flow];
        let more = counts.round_trips.saturating_sub(*number);
        let picos = { counts.round_trips_took.as_picos() }.saturating_sub(took.as_picos());
        (*number, *took) = (counts.round_trips, counts.round_trips_took);
        // An acknowledgement yields one round trip at most.
        if let Some(picos) = picos.checked_div(more) {
            let round_trip = Span::from_picos(picos);
            let group = &mut self.groups[group];
            group.round_trips.took(at, round_trip);
            group.round_trip_times.record(round_trip.as_nanos());
        }
    }

    /// Adds the evidence to `measurements`.
    pub(super) fn put(self, measurements: &mut Measurements) {
        let flows = self.groups.into_iter().map(|group| FlowOverTime {
            name: group.name,
            delay_quantiles: group.delays.quantiles(),
            rtt_quantiles: group.round_trip_times.quantiles(),
            arrivals: Some(group.arrivals),
            round_trips: Some(group.round_trips),
        });
        let flows: Vec<FlowOverTime> = flows.collect();
        let end = self.end.since(Time::ZERO);
        measurements.note_over_time(&flows, end);
    }
}

#[cfg(test)]
mod tests;
