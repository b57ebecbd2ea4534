//! Evidence of flows over time, and of the distributions of their delays, in one
//! format for all backends.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use meter::streaming_recorder::SHARES;
use meter::time_series::{Interval, TimeSeries};
use plan::UNKNOWN;
use plan::evidence::{self, Fact, FlowSeries};
use units::Span;

use super::Measurements;

/// Quantiles of delays or round trips in seconds, of the shares [`SHARES`].
pub(crate) type Quantiles = [f64; SHARES.len()];

/// The traffic of a flow over time, or the sum over several equal flows.
pub(crate) struct FlowOverTime {
    pub(crate) name: String,
    /// Bytes of payload and one-way delays, by time of arrival.
    pub(crate) arrivals: Option<TimeSeries>,
    /// Round trips, by the time at which they ended.
    pub(crate) round_trips: Option<TimeSeries>,
    /// Quantiles of one-way delays.
    pub(crate) delay_quantiles: Option<Quantiles>,
    /// Quantiles of round trips.
    pub(crate) rtt_quantiles: Option<Quantiles>,
}

impl Measurements {
    /// Adds the evidence `flow_series`, `delay_quantiles` and `rtt_quantiles`. Nothing was observed
    /// after `end`, if that is known.
    pub(crate) fn note_over_time(&mut self, flows: &[FlowOverTime], end: Option<Span>) {
        let mut series = BTreeMap::new();
        let intervals = Intervals::of(flows, end);
        for flow in flows {
            if let Some(of_flow) = intervals.as_ref().and_then(|all| all.of_flow(flow)) {
                series.insert(flow.name.clone(), of_flow);
            }
        }
        if !series.is_empty() {
            self.note(evidence::FLOW_SERIES, series);
        }
        self.note_quantiles(evidence::DELAY_QUANTILES, flows, |flow| {
            flow.delay_quantiles
        });
        self.note_quantiles(evidence::RTT_QUANTILES, flows, |flow| flow.rtt_quantiles);
    }

    fn note_quantiles(
        &mut self,
        fact: Fact<BTreeMap<String, String>>,
        flows: &[FlowOverTime],
        of: fn(&FlowOverTime) -> Option<Quantiles>,
    ) {
        let of_flow = |flow: &FlowOverTime| {
            let millis = of(flow)?.map(|seconds| Some(seconds * 1e3));
            Some((flow.name.clone(), numbers(millis.into_iter())))
        };
        let quantiles: BTreeMap<String, String> = flows.iter().filter_map(of_flow).collect();
        if !quantiles.is_empty() {
            self.note(fact, quantiles);
        }
    }
}

impl FlowOverTime {
    fn series(&self) -> impl Iterator<Item = &TimeSeries> {
        self.arrivals.iter().chain(&self.round_trips)
    }
}

/// The intervals that all flows of a trial have in common.
struct Intervals {
    length: Span,
    count: usize,
    /// The length of the last one, if it is shorter.
    last: Option<Span>,
}

impl Intervals {
    /// `None` without observations.
    fn of(flows: &[FlowOverTime], end: Option<Span>) -> Option<Self> {
        let all = || flows.iter().flat_map(FlowOverTime::series);
        let length = all().map(TimeSeries::interval).max()?;
        let observed = all().map(|series| coarsened(series, length).intervals().len());
        let (end, picos) = (end.unwrap_or_default().as_picos(), length.as_picos());
        let whole = usize::try_from(end.div_ceil(picos)).unwrap_or(0);
        let count = observed.max()?.max(whole);
        let rest = Span::from_picos(end % picos);
        Some(Self {
            length,
            count,
            last: (count == whole && rest > Span::ZERO).then_some(rest),
        })
    }

    /// The lists of numbers of a flow; a list without any value is left out.
    fn of_flow(&self, flow: &FlowOverTime) -> Option<FlowSeries> {
        let list = |series: &Option<TimeSeries>, of: fn(&Interval) -> Option<f64>| {
            let series = coarsened(series.as_ref()?, self.length);
            let none = Interval::default();
            let at = |place| series.intervals().get(place).unwrap_or(&none);
            let values: Vec<Option<f64>> = (0..self.count).map(|place| of(at(place))).collect();
            let has_value = values.iter().flatten().any(|value| *value > 0.0);
            has_value.then(|| numbers(values.into_iter()))
        };
        let (arrivals, round_trips) = (&flow.arrivals, &flow.round_trips);
        let of_flow = FlowSeries {
            bytes: list(arrivals, |one| Some(one.bytes as f64)),
            delay_ms: list(arrivals, Interval::mean_ms),
            delay_max_ms: list(arrivals, Interval::longest_ms),
            rtt_ms: list(round_trips, Interval::mean_ms),
            rtt_max_ms: list(round_trips, Interval::longest_ms),
            ..FlowSeries::default()
        };
        (of_flow != FlowSeries::default()).then(|| FlowSeries {
            interval_s: self.length.as_secs_f64(),
            last_s: self.last.map(Span::as_secs_f64),
            ..of_flow
        })
    }
}

/// The series with intervals of length `interval`.
fn coarsened(series: &TimeSeries, interval: Span) -> TimeSeries {
    let mut coarse = TimeSeries::new(interval, series.intervals().len());
    coarse.add(series);
    coarse
}

/// Numbers with five significant digits and spaces between; whole ones are exact. A
/// run may hold thousands of trials, all of which are in memory at its end.
fn numbers(values: impl Iterator<Item = Option<f64>>) -> String {
    let mut text = String::new();
    for value in values {
        if !text.is_empty() {
            text.push(' ');
        }
        // Writing to a `String` cannot fail.
        let _ = match value {
            None => write!(text, "{UNKNOWN}"),
            Some(value) if value.fract() == 0.0 => write!(text, "{value}"),
            Some(value) => write!(text, "{}", short(value)),
        };
    }
    text
}

fn short(value: f64) -> String {
    // Each factor of ten is a digit before the point.
    let before = (1..5).take_while(|digits| value.abs() >= 10_f64.powi(*digits));
    let leading = (1..9).take_while(|digits| value.abs() < 10_f64.powi(-*digits));
    let decimals = 4 - before.count() + leading.count();
    let text = format!("{value:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests;
