//! Counters of links over windows of a trial.
//!
//! Sums do not depend on the order in which a link reports its queue's events:
//! an arrival adds the rest of the window after its time, and a departure
//! subtracts it.

mod flows;

use std::collections::BTreeMap;

use link::QueueState;
use plan::setting::Traffic;
use plan::{Setting, evidence, setting as spec};
use queue::Reason;
use sim::{Location, Loss, Seen, Segment, Tracer};
use tcp::{Counts, State};
use units::{Span, Time};

use crate::link_counts::{AggregatorMetrics, Attributed, Losses, Series, Window};
use crate::link_window::LinkEvents;
use crate::measurements::Measurements;
use flows::FlowCounters;

/// The counters of the links that a setting selects.
pub(super) struct Counter {
    /// By link number of the scenario; `None`: no counters.
    links: Vec<Option<LinkCounters>>,
    /// The links that count losses, and those that mark packets. Each delivery and each
    /// action of a sender goes through one of them.
    with_losses: Vec<usize>,
    with_marks: Vec<usize>,
    /// The flows over time, if a link has a time series.
    flows: Option<FlowCounters>,
    /// Whether there may be bundles.
    aggregates: bool,
}

/// The counters in the direction from a link's first end to its second.
struct LinkCounters {
    name: String,
    /// The mark of packets that have left the link, where delays are counted.
    mark: u64,
    windows: Vec<Window>,
    series: Option<Series>,
    /// The window over the counted part of a transfer, with its events.
    transfer: Option<(String, LinkEvents)>,
    losses: Option<Losses>,
}

impl Counter {
    /// The counters that `setting` selects; `None` if it selects none.
    pub(super) fn of(setting: &Setting) -> Option<Self> {
        let (duration, flows) = match &setting.traffic {
            Traffic::Flows(flows) => (flows.duration, flows.flows.as_slice()),
            Traffic::Transfer(_)
            | Traffic::Command(_)
            | Traffic::LatencyBreakdown(_)
            | Traffic::RequestResponse(_)
            | Traffic::Probe(_) => (Span::ZERO, [].as_slice()),
        };
        let graph = setting.network.as_graph();
        let aggregates = setting.network.domain.is_some();
        // One bit for each link, of which there are as many as may be counted.
        let mut marks = 1;
        let mut mark = |counted: &spec::Counted| {
            let has_delays = aggregates && !counted.windows.is_empty();
            let mark = if has_delays { marks } else { 0 };
            marks <<= u32::from(has_delays);
            mark
        };
        let mut counters_of = |wire: &spec::Wiring| {
            let link = &setting.network.links[wire.link];
            let counted = &link.counted;
            let window = |window| {
                let more = aggregates.then(|| AggregatorMetrics::new(link, duration));
                Window::new(window, more)
            };
            counted.is_any().then(|| LinkCounters {
                name: wire.name.clone(),
                mark: mark(counted),
                windows: counted.windows.iter().map(window).collect(),
                series: counted
                    .series
                    .map(|interval| Series::new(interval, duration)),
                transfer: counted
                    .transfer
                    .clone()
                    .map(|window| (window, LinkEvents::default())),
                losses: counted.losses.map(|losses| Losses::new(losses, flows)),
            })
        };
        let links: Vec<Option<LinkCounters>> = graph.wires.iter().map(&mut counters_of).collect();
        let intervals = setting.network.links.iter();
        let interval = intervals.filter_map(|link| link.counted.series).min();
        let flows = match &setting.traffic {
            Traffic::Flows(flows) => {
                interval.map(|interval| FlowCounters::new(setting, flows, interval))
            }
            Traffic::Transfer(_)
            | Traffic::Command(_)
            | Traffic::LatencyBreakdown(_)
            | Traffic::RequestResponse(_)
            | Traffic::Probe(_) => None,
        };
        let is_any = links.iter().any(Option::is_some);
        is_any.then(|| Self::new(links, flows, aggregates))
    }

    fn new(
        links: Vec<Option<LinkCounters>>,
        flows: Option<FlowCounters>,
        aggregates: bool,
    ) -> Self {
        let those = |has: fn(&LinkCounters) -> bool| {
            let numbered = links.iter().enumerate();
            let those = numbered.filter(|(_, counters)| counters.as_ref().is_some_and(has));
            those.map(|(link, _)| link).collect()
        };
        Self {
            with_losses: those(|counters| counters.losses.is_some()),
            with_marks: those(|counters| counters.mark != 0),
            links,
            flows,
            aggregates,
        }
    }

    /// Adds the counts to `measurements`; `transfer` is the counted part of a
    /// transfer.
    pub(super) fn finish(self, measurements: &mut Measurements, transfer: Option<(Time, Time)>) {
        let mut series = BTreeMap::new();
        for counters in self.links.into_iter().flatten() {
            for window in &counters.windows {
                window.put(measurements);
            }
            if let Some((name, events)) = &counters.transfer
                && let Some(window) = transfer.and_then(|(from, to)| events.window(from, to))
            {
                measurements.take_window(name, &window);
            }
            if let Some(losses) = counters.losses {
                losses.put(measurements);
            }
            if let Some(of_link) = counters.series {
                series.insert(counters.name, of_link.finish());
            }
        }
        if !series.is_empty() {
            measurements.note(evidence::SERIES, series);
        }
        if let Some(flows) = self.flows {
            flows.put(measurements);
        }
    }

    fn counters(&mut self, (link, direction): (usize, usize)) -> Option<&mut LinkCounters> {
        match direction {
            0 => self.links.get_mut(link)?.as_mut(),
            _ => None,
        }
    }
}

impl Tracer for Counter {
    fn wants(&self, (link, direction): (usize, usize)) -> bool {
        direction == 0 && self.links.get(link).is_some_and(Option::is_some)
    }

    fn mark(&self, (link, direction): (usize, usize)) -> u64 {
        let counters = self.links.get(link).and_then(Option::as_ref);
        counters
            .filter(|_| direction == 0)
            .map_or(0, |counters| counters.mark)
    }

    fn wants_deliveries(&self) -> bool {
        self.flows.is_some() || !self.with_marks.is_empty()
    }

    fn opens(&self, (link, direction): (usize, usize)) -> bool {
        let counters = self.links.get(link).and_then(Option::as_ref);
        let losses = counters.and_then(|counters| counters.losses.as_ref());
        direction == 0 && self.aggregates && losses.is_some()
    }

    fn queued(&mut self, at: Time, link: (usize, usize), packet: Seen, state: QueueState) {
        let Some(counters) = self.counters(link) else {
            return;
        };
        if let Some((_, events)) = &mut counters.transfer {
            events.on_arrival(at);
        }
        let at = at.as_picos();
        if let Some(losses) = counters.losses.as_mut().filter(|_| !packet.is_bundle) {
            losses.came(at, attributed(&packet));
        }
        for window in &mut counters.windows {
            window.came(at, packet.live, state.average);
        }
        if let Some(series) = &mut counters.series {
            series.queued(at, state.average);
        }
    }

    fn queued_inside(&mut self, at: Time, link: (usize, usize), packet: Seen) {
        let counters = self.counters(link);
        if let Some(losses) = counters.and_then(|counters| counters.losses.as_mut()) {
            losses.came(at.as_picos(), attributed(&packet));
        }
    }

    fn sent(&mut self, begins: Time, ends: Time, link: (usize, usize), packet: Seen, waited: Span) {
        let Some(counters) = self.counters(link) else {
            return;
        };
        let busy = ends.since(begins).unwrap_or_default();
        if let Some((_, events)) = &mut counters.transfer {
            events.begin(begins, busy);
        }
        let busy = busy.as_picos();
        let at = begins.as_picos();
        for window in &mut counters.windows {
            window.began(at, packet.live, busy, waited.as_picos());
        }
        if let Some(series) = &mut counters.series {
            series.gone(at);
        }
    }

    fn lost(&mut self, at: Time, location: Location, packet: Seen, why: Loss) {
        // Packets lost by impairments were sent.
        let (Location::Direction(link, direction), Loss::Queue(_)) = (location, why) else {
            return;
        };
        let Some(counters) = self.counters((link, direction)) else {
            return;
        };
        if let Some((_, events)) = &mut counters.transfer {
            events.drop(at);
        }
        let at = at.as_picos();
        if let Some(losses) = counters.losses.as_mut().filter(|_| !packet.is_bundle) {
            losses.dropped(at, attributed(&packet));
        }
        for window in &mut counters.windows {
            window.dropped(at, packet.live);
        }
        if let Some(series) = &mut counters.series {
            series.gone(at);
            series.dropped(at);
        }
    }

    fn lost_inside(&mut self, at: Time, link: (usize, usize), packet: Seen) {
        let counters = self.counters(link);
        if let Some(losses) = counters.and_then(|counters| counters.losses.as_mut()) {
            losses.dropped(at.as_picos(), attributed(&packet));
        }
    }

    fn inner_dropped(&mut self, at: Time, link: (usize, usize), packet: Seen, _: Reason) {
        let Some(counters) = self.counters(link) else {
            return;
        };
        if let Some(losses) = &mut counters.losses {
            losses.dropped(at.as_picos(), attributed(&packet));
        }
        for window in &mut counters.windows {
            window.inner_dropped(at.as_picos(), packet.live);
        }
    }

    fn delivered(&mut self, at: Time, _: usize, packet: Seen) {
        if let Some(flows) = &mut self.flows {
            flows.delivered(at, &packet);
        }
        let delay = at.since(packet.sent).unwrap_or_default();
        for &link in &self.with_marks {
            if let Some(counters) = &mut self.links[link]
                && counters.mark & packet.marks != 0
            {
                for window in &mut counters.windows {
                    window.delivered(at.as_picos(), delay.as_picos());
                }
            }
        }
    }

    fn acted(&mut self, at: Time, flow: usize, _: State, counts: Counts) {
        if let Some(flows) = &mut self.flows {
            flows.acted(at, flow, counts);
        }
        for &link in &self.with_losses {
            if let Some(LinkCounters {
                losses: Some(losses),
                ..
            }) = &mut self.links[link]
            {
                losses.acted(flow, counts.timeouts);
            }
        }
    }
}

/// The flow of a packet; segments are sent again as they were.
fn attributed(packet: &Seen) -> Attributed {
    let is_data = matches!(packet.segment, Some(Segment::Data(data)) if data.payload > 0);
    Attributed {
        flow: packet.flow,
        data: is_data.then_some((packet.sequence, 1)),
    }
}

#[cfg(test)]
mod tests;
