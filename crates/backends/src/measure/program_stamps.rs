//! The resolution of metrics where a program stamps arrivals, because its system does not.
//!
//! The program reads its clock behind the read of a message, so each stamp is late: by a wake-up,
//! or by more on a busy machine. The hosts measure this over loopback. Metrics made of times of
//! single arrivals are known no better. A rate is the time between two of them, so over seconds
//! it hardly changes.

use plan::evidence;
use plan::metric::{self, Metric};
use units::Span;

use super::flows::FlowsObservation;
use super::passes::{Passes, ratio};
use crate::measurements::Measurements;

/// The metrics of times at which single messages of a transfer arrive.
const OF_TRANSFER: [&Metric; 4] = [
    &metric::DELAY,
    &metric::JITTER,
    &metric::JITTER_DITG,
    &metric::IPDV_P95,
];

/// The same of flows. Times as D-ITG defines them are those of the program on every system.
const OF_FLOWS: [&Metric; 6] = [
    &metric::DELAY,
    &metric::DELAY_P99,
    &metric::LATENCY,
    &metric::JITTER,
    &metric::IPDV_P95,
    &metric::FIRST_DELIVERY,
];

/// The metrics of times at which echoes of flows return.
const OF_ECHOES: [&Metric; 4] = [
    &metric::RTT,
    &metric::RTT_P50,
    &metric::RTT_P95,
    &metric::RTT_P99,
];

impl Measurements {
    /// Adds how late the receiver of a transfer stamped arrivals, if its program did.
    pub(super) fn take_stamps_of_transfer(&mut self, passes: &Passes) {
        let of_both = [&passes.rated.1, &passes.one_way.1];
        let late = of_both.map(|received| received.stamps.map(|stamps| stamps.late));
        let Some(late) = late.into_iter().flatten().max() else {
            return;
        };
        self.note(evidence::STAMP_LATE_US, micros(late));
        self.resolve_times(&OF_TRANSFER, late);
        if let Some(goodput) = &passes.rated.1.goodput {
            self.resolve_rates(&metric::THROUGHPUT, late, goodput.span);
        }
        let metered = passes.metered.as_ref().map(|((_, received), _)| received);
        if let Some(goodput) = metered.and_then(|received| received.goodput.as_ref()) {
            self.resolve_rates(&metric::THROUGHPUT_LONG, late, goodput.span);
        }
    }

    /// Adds how late both ends of flows stamped arrivals, if their programs did.
    pub(super) fn take_stamps_of_flows(&mut self, seeing: &FlowsObservation<'_>) {
        let latest = |late: &mut dyn Iterator<Item = Option<u64>>| late.flatten().max();
        let received = latest(&mut seeing.received.iter().map(|came| came.stamps_late));
        if let Some(late) = received.map(Span::from_nanos) {
            self.note(evidence::STAMP_LATE_US, micros(late));
            self.resolve_times(&OF_FLOWS, late);
            // The flow with the shortest time is known worst.
            let counted = seeing.received.iter().filter_map(|came| came.counted);
            if let Some(shortest) = counted.map(|(_, nanos)| nanos).min() {
                self.resolve_rates(&metric::THROUGHPUT, late, Span::from_nanos(shortest));
            }
            self.resolve_rate_of_latency(late);
        }
        let echoed = seeing.sent.iter().filter(|flow| flow.echoes > 0);
        let echoed = latest(&mut echoed.map(|flow| flow.stamps_late));
        if let Some(late) = echoed.map(Span::from_nanos) {
            self.note(evidence::ECHO_STAMP_LATE_US, micros(late));
            self.resolve_times(&OF_ECHOES, late);
        }
    }

    /// Gives metrics of times, also those of single flows, this resolution or a coarser one.
    fn resolve_times(&mut self, metrics: &[&Metric], late: Span) {
        let of_times = |base: &str| metrics.iter().any(|metric| metric.name == base);
        for (metric, _) in self.of_bases(of_times) {
            self.coarsen(metric, late.as_millis_f64());
        }
    }

    /// Gives rates over `lasted`, or longer, the resolution that late stamps leave, if it is
    /// coarser than that of the metric.
    fn resolve_rates(&mut self, metric: &Metric, late: Span, lasted: Span) {
        let share = ratio(late, lasted.max(Span::from_nanos(1)));
        for (metric, value) in self.of_bases(|base| base == metric.name) {
            self.coarsen_share(metric, value, share);
        }
    }

    /// The same for the bits of a message divided by its latency.
    fn resolve_rate_of_latency(&mut self, late: Span) {
        for (metric, value) in self.of_bases(|base| base == metric::PAPER_THROUGHPUT.name) {
            let flow = metric.name.split_once('/').map(|(_, flow)| flow);
            let latency = flow.map_or(&metric::LATENCY, |flow| {
                metric::of_flow(&metric::LATENCY, flow)
            });
            if let Some(latency) = self.value(latency).filter(|latency| *latency > 0.0) {
                self.coarsen_share(metric, value, late.as_millis_f64() / latency);
            }
        }
    }

    /// The metrics of the trial, with their values, whose names without that of a flow are
    /// wanted.
    fn of_bases(&self, wanted: impl Fn(&str) -> bool) -> Vec<(&'static Metric, f64)> {
        let metrics = self.metrics.iter();
        let metrics = metrics.filter_map(|(name, value)| Some((Metric::named(name)?, *value)));
        metrics
            .filter(|(metric, _)| wanted(metric.base()))
            .collect()
    }

    fn coarsen_share(&mut self, metric: &Metric, value: f64, share: f64) {
        if share > meter::TOLERANCE {
            self.coarsen(metric, value.abs() * share);
        }
    }

    fn coarsen(&mut self, metric: &Metric, resolution: f64) {
        let fact = evidence::resolution(metric);
        let known = self.evidence.get(fact).unwrap_or(0.0);
        self.note(fact, known.max(resolution));
    }
}

fn micros(span: Span) -> f64 {
    span.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests;
