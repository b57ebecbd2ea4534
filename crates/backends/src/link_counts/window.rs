//! Counters of a link while a window is open.

use plan::metric::{self, Metric};
use plan::setting as spec;
use queue::AverageQueue;
use units::Span;

use crate::measurements::Measurements;

const PER_SECOND: f64 = 1e12;
const PER_MILLISECOND: f64 = 1e9;

/// A part of the trial. Times and times are in picoseconds.
pub(crate) struct Window {
    name: String,
    from: u64,
    to: u64,
    arrivals: u64,
    drops: u64,
    /// The transmission time within the window.
    busy: u64,
    /// The integral of the queue length over time.
    waited: i128,
    averages: Averages,
    more: Option<AggregatorMetrics>,
}

/// The sums of the averages that arrivals found.
#[derive(Default)]
struct Averages {
    arrivals: u64,
    frames: f64,
    bytes: f64,
    of_max: f64,
}

/// The additional metrics of networks with a domain.
pub(crate) struct AggregatorMetrics {
    /// The length of the trial.
    duration: u64,
    /// Arrived packets of senders, and the dropped ones among them.
    inner: [u64; 2],
    /// Packets of senders in the started frames, and the transmission time of
    /// these frames.
    begun: (u64, u64),
    /// The link's capacity in bytes per second.
    bytes: Option<f64>,
    /// The transmission time from the beginning of the trial to the end of the
    /// window.
    carried: u64,
    /// The total waiting time of the started packets, and their number.
    delays: (u128, u64),
    /// The total end-to-end delay of delivered data packets that left the link,
    /// and their number.
    one_way_delays: (u128, u64),
    /// The first and the last arrival with an average at or above the upper
    /// threshold.
    above: Option<(u64, u64)>,
}

impl AggregatorMetrics {
    /// A window of `link` in a trial of length `duration`.
    pub(crate) fn new(link: &spec::Link, duration: Span) -> Self {
        Self {
            duration: duration.as_picos(),
            inner: [0; 2],
            begun: (0, 0),
            bytes: link.rate.map(|rate| rate.megabits_per_second() * 1e6 / 8.0),
            carried: 0,
            delays: (0, 0),
            one_way_delays: (0, 0),
            above: None,
        }
    }
}

impl Window {
    pub(crate) fn new(window: &spec::Window, more: Option<AggregatorMetrics>) -> Self {
        Self {
            name: window.name.clone(),
            from: window.from.as_picos(),
            to: window.to.as_picos(),
            arrivals: 0,
            drops: 0,
            busy: 0,
            waited: 0,
            averages: Averages::default(),
            more,
        }
    }

    /// Records the arrival of a frame with `live` packets of senders, and the
    /// average that it found.
    pub(crate) fn came(&mut self, at: u64, live: u32, average: Option<AverageQueue>) {
        self.step(at, 1);
        if !self.has(at) {
            return;
        }
        self.arrivals += 1;
        if let Some(average) = average {
            self.averages.add(average);
        }
        let Some(more) = &mut self.more else { return };
        more.inner[0] += u64::from(live);
        if average.is_some_and(|average| average.of_max >= 1.0) {
            let first = more.above.map_or(at, |(first, _)| first);
            more.above = Some((first, at));
        }
    }

    /// Records the start of a frame with `live` packets of senders after the
    /// waiting time `waited`, with transmission time `busy`.
    pub(crate) fn began(&mut self, at: u64, live: u32, busy: u64, waited: u64) {
        self.step(at, -1);
        let is_inside = self.has(at);
        // What of the transmission lies between a time and the window's end.
        let since = |from: u64| (at + busy).min(self.to).saturating_sub(at.max(from));
        self.busy += since(self.from);
        let Some(more) = &mut self.more else { return };
        more.carried += since(0);
        if is_inside {
            more.delays.0 += u128::from(waited);
            more.delays.1 += 1;
            more.begun.0 += u64::from(live);
            more.begun.1 += busy;
        }
    }

    /// Records a dropped frame with `live` packets.
    pub(crate) fn dropped(&mut self, at: u64, live: u32) {
        self.step(at, -1);
        self.drops += u64::from(self.has(at));
        self.inner_dropped(at, live);
    }

    /// Records `live` dropped packets, whether or not their frame continues.
    pub(crate) fn inner_dropped(&mut self, at: u64, live: u32) {
        let is_inside = self.has(at);
        if let Some(more) = self.more.as_mut().filter(|_| is_inside) {
            more.inner[1] += u64::from(live);
        }
    }

    /// Records the delivery of a data packet that left the link, with its
    /// end-to-end delay.
    pub(crate) fn delivered(&mut self, at: u64, delay: u64) {
        let is_inside = self.has(at);
        if let Some(more) = self.more.as_mut().filter(|_| is_inside) {
            more.one_way_delays.0 += u128::from(delay);
            more.one_way_delays.1 += 1;
        }
    }

    const fn has(&self, at: u64) -> bool {
        self.from <= at && at < self.to
    }

    /// Changes the queue length by `by` from `at` on.
    fn step(&mut self, at: u64, by: i128) {
        let rest = self.to.saturating_sub(at.max(self.from));
        self.waited += by * i128::from(rest);
    }

    pub(crate) fn put(&self, measurements: &mut Measurements) {
        let length = (self.to - self.from) as f64;
        let mut metrics: Vec<(&Metric, _)> = vec![
            (&metric::DROP_PERCENT, percent(self.drops, self.arrivals)),
            (
                &metric::UTILISATION_PERCENT,
                Some(100.0 * self.busy as f64 / length),
            ),
            (&metric::MEAN_QUEUE, Some(self.waited as f64 / length)),
            (
                &metric::AVERAGE_QUEUE,
                self.averages.mean(self.averages.frames),
            ),
            (
                &metric::AVERAGE_BYTES,
                self.averages.mean(self.averages.bytes),
            ),
            (
                &metric::MAX_TH_PERCENT,
                self.averages.mean(100.0 * self.averages.of_max),
            ),
        ];
        if let Some(more) = &self.more {
            let [came, dropped] = more.inner;
            let (begun, busy) = more.begun;
            let mean = |(all, packets): (u128, u64)| {
                (packets > 0).then(|| all as f64 / packets as f64 / PER_MILLISECOND)
            };
            let since = |at: u64| (at - self.from) as f64 / PER_SECOND;
            metrics.extend([
                (&metric::INNER_DROP_PERCENT, percent(dropped, came)),
                (
                    &metric::PACKETS_PER_FRAME,
                    (self.arrivals > 0).then(|| came as f64 / self.arrivals as f64),
                ),
                (
                    &metric::FRAME_RATE,
                    Some(self.arrivals as f64 / length * PER_SECOND),
                ),
                (
                    &metric::PACKET_RATE,
                    Some(came as f64 / length * PER_SECOND),
                ),
                (
                    &metric::WIRE_BYTES,
                    more.bytes
                        .filter(|_| begun > 0)
                        .map(|bytes| bytes * busy as f64 / PER_SECOND / begun as f64),
                ),
                (
                    &metric::CARRIED_PERCENT,
                    Some(100.0 * more.carried as f64 / more.duration as f64),
                ),
                (&metric::QUEUE_DELAY, mean(more.delays)),
                (&metric::ONE_WAY_DELAY, mean(more.one_way_delays)),
                (&metric::CROSSING, more.above.map(|(first, _)| since(first))),
                (&metric::SETTLING, more.above.map(|(_, last)| since(last))),
            ]);
        }
        for (metric, value) in metrics {
            measurements.put(metric::of_window(metric, &self.name), value);
        }
    }
}

impl Averages {
    fn add(&mut self, average: AverageQueue) {
        self.arrivals += 1;
        self.frames += average.frames;
        self.bytes += average.bytes;
        self.of_max += average.of_max;
    }

    fn mean(&self, sum: f64) -> Option<f64> {
        (self.arrivals > 0).then(|| sum / self.arrivals as f64)
    }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}
