//! Aggregates the records of all flows of a packet log.

mod slice;

use anyhow::{Result, bail};
use meter::ditg::{DitgLosses, DitgRecorder};
use meter::streaming_recorder::{Arrival, DelayRecorder, FlowSummary, StreamingFlowRecorder};
use wire::log::{Record, Role};

use super::known::{Known, KnownFlow, instant};
use super::merger::Waiting;
use super::request::{Definitions, MOST_ROWS, Request};
use super::row::{Departures, Row, RowStats, Scope, seconds};
use slice::SliceAggregator;

/// Accumulates statistics while records are read.
pub(super) struct LogAggregator {
    known: Known,
    definitions: Definitions,
    by_flow: bool,
    /// The length of an interval in nanoseconds.
    interval: Option<u64>,
    /// The flows by their index in `known`.
    flows: Vec<FlowAggregator>,
    /// Number and index of the flow of the previous record.
    latest: Option<(u32, usize)>,
    /// All flows mixed, in the order of time.
    ditg: DitgRecorder,
    /// The first arrival of the log in nanoseconds, if intervals are requested.
    first: Option<u64>,
    /// The interval of the latest arrival, counted from the first arrival.
    current: u64,
    slice: SliceAggregator,
    slices: Vec<Row>,
}

/// The accumulated state of one flow.
#[derive(Default)]
struct FlowAggregator {
    recorder: Option<StreamingFlowRecorder>,
    ditg: DitgRecorder,
    losses: DitgLosses,
    slice: SliceAggregator,
}

impl LogAggregator {
    pub(super) fn new(request: &Request, known: Known) -> Self {
        Self {
            known,
            definitions: request.definitions,
            by_flow: request.by_flow,
            interval: request.interval.map(|interval| interval.as_nanos().max(1)),
            flows: Vec::new(),
            latest: None,
            ditg: DitgRecorder::default(),
            first: None,
            current: 0,
            slice: SliceAggregator::default(),
            slices: Vec::new(),
        }
    }

    /// Adds the records of a block in their order.
    ///
    /// # Errors
    /// There are too many rows.
    pub(super) fn take(&mut self, records: &[Record]) -> Result<()> {
        let role = self.known.role();
        for record in records {
            if let Some(at) = instant(role, record) {
                self.record(record.flow, &Waiting::of(at, record))?;
            }
        }
        Ok(())
    }

    /// Adds a record of `flow`, in the order of time.
    ///
    /// # Errors
    /// There are too many rows.
    #[inline]
    pub(super) fn record(&mut self, flow: u32, record: &Waiting) -> Result<()> {
        // Usually the flow of the previous record.
        let place = match self.latest {
            Some((number, place)) if number == flow => place,
            _ => self.known.place(flow)?,
        };
        if self.flows.len() < self.known.count() {
            let count = self.known.count();
            self.flows.resize_with(count, FlowAggregator::default);
        }
        self.latest = Some((flow, place));
        let at = record.at;
        if let Some(interval) = self.interval {
            let first = *self.first.get_or_insert(at);
            let now = at.saturating_sub(first) / interval;
            if now > self.current {
                self.end_of_interval(interval)?;
                self.current = now;
            }
        }
        let role = self.known.role();
        let known = self.known.flow(place);
        let flow = &mut self.flows[place];
        let after = |instant: u64| instant.wrapping_sub(record.sent).cast_signed();
        let delay = match role {
            Role::Sender => None,
            Role::Receiver => (record.arrived && !record.is_untimed)
                .then(|| after(at).wrapping_sub(known.offset.when(at))),
            Role::RoundTrip => Some(after(at)),
        };
        let expected = known.sent.map(|sent| sent.packets);
        let recorder = flow
            .recorder
            .get_or_insert_with(|| StreamingFlowRecorder::new(expected));
        let place = recorder.record(Arrival {
            sequence: record.sequence,
            at,
            delay,
            size: record.size,
        });
        let ditg = self.definitions == Definitions::Ditg;
        if ditg {
            let delay = delay.unwrap_or_default();
            self.ditg.record(at, delay, record.size);
            flow.ditg.record(at, delay, record.size);
            flow.losses.record(record.sequence.saturating_add(1));
        }
        if self.interval.is_some() {
            self.slice.record(place, at, delay, record.size, ditg);
            if self.by_flow {
                flow.slice.record(place, at, delay, record.size, ditg);
            }
        }
        Ok(())
    }

    /// Completes the rows of the current interval.
    fn end_of_interval(&mut self, interval: u64) -> Result<()> {
        let definitions = self.definitions;
        let role = self.known.role();
        let start = self.current.saturating_mul(interval);
        let mut row = |scope: Scope, slice: &mut SliceAggregator| {
            if slice.packets > 0 {
                self.slices.push(Row {
                    log: String::new(),
                    scope,
                    start: Some(seconds(start)),
                    stats: std::mem::take(slice).stats(definitions, role, interval),
                    codec: None,
                });
            }
        };
        row(Scope::All, &mut self.slice);
        let places = if self.by_flow {
            self.known.places()
        } else {
            Vec::new()
        };
        for (number, place) in places {
            if let Some(flow) = self.flows.get_mut(place) {
                row(self.known.flow(place).scope(number), &mut flow.slice);
            }
        }
        if self.slices.len() > MOST_ROWS {
            bail!("--interval: more than {MOST_ROWS} rows; use a longer interval");
        }
        Ok(())
    }

    /// The rows of the whole log, then of intervals.
    pub(super) fn rows(mut self, name: &str) -> Result<Vec<Row>> {
        if let Some(interval) = self.interval {
            self.end_of_interval(interval)?;
        }
        // Flows of which there is no record.
        let count = self.known.count();
        self.flows.resize_with(count, FlowAggregator::default);
        let role = self.known.role();
        let mut rows = vec![Row {
            log: name.into(),
            scope: Scope::All,
            start: None,
            stats: self.all(role),
            codec: None,
        }];
        let mut each = self.known.places().into_iter().map(|(number, place)| {
            let known = self.known.flow(place);
            Row {
                log: name.into(),
                scope: known.scope(number),
                start: None,
                stats: self.flows[place].stats(known, self.definitions, role),
                codec: None,
            }
        });
        if self.known.count() == 1 {
            // With a single flow, its row replaces the row of all flows.
            rows = each.collect();
        } else if self.by_flow {
            rows.extend(each.by_ref());
        }
        rows.extend(self.slices.into_iter().map(|row| Row {
            log: name.into(),
            ..row
        }));
        Ok(rows)
    }

    /// The statistics of all flows together.
    fn all(&self, role: Role) -> RowStats {
        let mut delays = DelayRecorder::default();
        let mut total: Option<FlowSummary> = None;
        let mut span: Option<(u64, u64)> = None;
        // The first packet's bytes of the flow that began first.
        let mut first_bytes = 0;
        let mut bound = None;
        let mut losses = DitgLosses::default();
        for (_, place) in self.known.places() {
            let (known, flow) = (self.known.flow(place), &self.flows[place]);
            let (summary, recorder) = flow.recorded(known, role);
            delays.add(recorder.delays());
            losses.add(&flow.losses);
            bound = bound.max(known.offset.bound);
            if let Some((first, last)) = recorder.span() {
                let (start, end) = span.unwrap_or((first, last));
                if span.is_none() || first < start {
                    first_bytes = recorder.first_bytes();
                }
                span = Some((start.min(first), end.max(last)));
            }
            match &mut total {
                None => total = Some(summary),
                Some(total) => {
                    total.received += summary.received;
                    total.bytes = total.bytes.saturating_add(summary.bytes);
                    total.unstamped += summary.unstamped;
                    total.order.add(&summary.order);
                }
            }
        }
        let mut total = total.unwrap_or_else(|| StreamingFlowRecorder::new(None).summary(None));
        total.seconds = span.map_or(0.0, |(first, last)| seconds(last - first));
        // Flows may differ in duration, so the sum of their rates may exceed
        // the rate of any link.
        let timed = total.bytes.saturating_sub(first_bytes);
        total.goodput = (total.seconds > 0.0).then(|| timed as f64 * 8.0 / total.seconds);
        total.delay = delays.summary();
        by_definitions(self.definitions, role, total, bound, (&self.ditg, losses))
    }
}

impl FlowAggregator {
    fn recorded(&self, known: &KnownFlow, role: Role) -> (FlowSummary, StreamingFlowRecorder) {
        let expected = known.sent.map(|sent| sent.packets);
        let asked = (known.asked > 0).then_some(known.asked);
        let recorder = self
            .recorder
            .clone()
            .unwrap_or_else(|| StreamingFlowRecorder::new(expected));
        let mut summary = recorder.summary(expected.max(asked));
        if role == Role::Sender {
            // The log cannot state this.
            summary.unstamped = 0;
        }
        (summary, recorder)
    }

    fn stats(&self, known: &KnownFlow, definitions: Definitions, role: Role) -> RowStats {
        let (summary, _) = self.recorded(known, role);
        let ditg = (&self.ditg, self.losses);
        by_definitions(definitions, role, summary, known.offset.bound, ditg)
    }
}

/// The statistics to report for a log or one of its flows. A sender's log has
/// no arrivals.
fn by_definitions(
    definitions: Definitions,
    role: Role,
    summary: FlowSummary,
    bound: Option<u64>,
    (ditg, losses): (&DitgRecorder, DitgLosses),
) -> RowStats {
    match (definitions, role) {
        (Definitions::Standard, Role::Sender) => RowStats::Departures(Departures {
            sent: summary.order.expected,
            logged: summary.received,
            bytes: summary.bytes,
            seconds: summary.seconds,
            rate: summary.goodput,
        }),
        (Definitions::Standard, _) => RowStats::Standard(Box::new(summary), bound.map(seconds)),
        (Definitions::Ditg, Role::Sender) => RowStats::Ditg(ditg.stats().of_departures(), None),
        (Definitions::Ditg, _) => RowStats::Ditg(ditg.stats(), Some(losses)),
    }
}
