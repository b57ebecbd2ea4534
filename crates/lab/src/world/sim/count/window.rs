//! What is counted of a link while a window is open.

use plan::metric::of_window;
use plan::setting as spec;
use queue::Spec;
use units::Span;

use crate::measurements::Measurements;

const PER_SECOND: f64 = 1e12;
const PER_MILLISECOND: f64 = 1e9;

/// A part of the trial. Instants and times are picoseconds.
pub(super) struct Window {
    name: String,
    from: u64,
    to: u64,
    arrivals: u64,
    drops: u64,
    /// How long the link takes for the packets that began.
    busy: u64,
    /// What waited, times how long.
    waited: i128,
    more: Option<GatherMetrics>,
}

/// The additional metrics where packets may be gathered.
pub(super) struct GatherMetrics {
    /// How long the trial is.
    duration: u64,
    /// The average from which on the queue's law drops all, or nearly.
    upper: Option<f64>,
    /// Packets of senders that came, and of these the dropped ones.
    inner: [u64; 2],
    /// Packets of senders in the frames that began.
    begun: u64,
    /// What the link carries in a second, in octets.
    octets: Option<f64>,
    /// How long the link takes for what began from the trial's beginning on.
    carried: u64,
    /// How long the packets waited that began, and how many these were.
    delays: (u128, u64),
    /// How long packets of data took from end to end that came out of the link
    /// and arrived, and how many these were.
    one_way_delays: (u128, u64),
    /// The averages that arrivals found, added up, and how many these were.
    averages: (f64, u64),
    /// The first and the last arrival that found one at the upper bound or above.
    above: Option<(u64, u64)>,
}

impl GatherMetrics {
    /// In front of `link`, in a trial that lasts `duration`.
    pub(super) fn new(link: &spec::Link, duration: Span) -> Self {
        Self {
            duration: duration.as_picos(),
            upper: match link.queue() {
                Spec::Red(red) => Some(red.curve.max),
                Spec::Mred(mred) => Some(mred.curve.max),
                _ => None,
            },
            inner: [0; 2],
            begun: 0,
            octets: link.rate.map(|rate| rate.megabits_per_second() * 1e6 / 8.0),
            carried: 0,
            delays: (0, 0),
            one_way_delays: (0, 0),
            averages: (0.0, 0),
            above: None,
        }
    }
}

impl Window {
    pub(super) fn new(window: &spec::Window, more: Option<GatherMetrics>) -> Self {
        Self {
            name: window.name.clone(),
            from: window.from.as_picos(),
            to: window.to.as_picos(),
            arrivals: 0,
            drops: 0,
            busy: 0,
            waited: 0,
            more,
        }
    }

    /// A frame comes in which `live` packets of senders are, and finds this
    /// average.
    pub(super) fn came(&mut self, at: u64, live: u32, average: Option<f64>) {
        self.step(at, 1);
        if !self.has(at) {
            return;
        }
        self.arrivals += 1;
        let Some(more) = &mut self.more else { return };
        more.inner[0] += u64::from(live);
        let Some(average) = average else { return };
        more.averages.0 += average;
        more.averages.1 += 1;
        if more.upper.is_some_and(|upper| average >= upper) {
            let first = more.above.map_or(at, |(first, _)| first);
            more.above = Some((first, at));
        }
    }

    /// A frame with `live` packets of senders that waited so long begins, which
    /// takes the link `busy`.
    pub(super) fn began(&mut self, at: u64, live: u32, busy: u64, waited: u64) {
        self.step(at, -1);
        let is_inside = self.has(at);
        self.busy += if is_inside { busy } else { 0 };
        let Some(more) = &mut self.more else { return };
        more.carried += if at < self.to { busy } else { 0 };
        if is_inside {
            more.delays.0 += u128::from(waited);
            more.delays.1 += 1;
            more.begun += u64::from(live);
        }
    }

    /// A frame is dropped with `live` packets in it.
    pub(super) fn dropped(&mut self, at: u64, live: u32) {
        self.step(at, -1);
        self.drops += u64::from(self.has(at));
        self.inner_dropped(at, live);
    }

    /// `live` packets are dropped, whatever becomes of their frame.
    pub(super) fn inner_dropped(&mut self, at: u64, live: u32) {
        let is_inside = self.has(at);
        if let Some(more) = self.more.as_mut().filter(|_| is_inside) {
            more.inner[1] += u64::from(live);
        }
    }

    /// A packet of data that came out of the link has arrived, so long after it
    /// was sent.
    pub(super) fn delivered(&mut self, at: u64, delay: u64) {
        let is_inside = self.has(at);
        if let Some(more) = self.more.as_mut().filter(|_| is_inside) {
            more.one_way_delays.0 += u128::from(delay);
            more.one_way_delays.1 += 1;
        }
    }

    const fn has(&self, at: u64) -> bool {
        self.from <= at && at < self.to
    }

    /// So many more wait from `at` on.
    fn step(&mut self, at: u64, by: i128) {
        let rest = self.to.saturating_sub(at.max(self.from));
        self.waited += by * i128::from(rest);
    }

    pub(super) fn put(&self, measurements: &mut Measurements) {
        let length = (self.to - self.from) as f64;
        let mut metrics = vec![
            ("drop_percent", percent(self.drops, self.arrivals)),
            (
                "utilisation_percent",
                Some(100.0 * self.busy as f64 / length),
            ),
            ("mean_queue", Some(self.waited as f64 / length)),
        ];
        if let Some(more) = &self.more {
            let [came, dropped] = more.inner;
            let mean = |(all, packets): (u128, u64)| {
                (packets > 0).then(|| all as f64 / packets as f64 / PER_MILLISECOND)
            };
            let (averages, looks) = more.averages;
            let since = |at: u64| (at - self.from) as f64 / PER_SECOND;
            metrics.extend([
                ("inner_drop_percent", percent(dropped, came)),
                (
                    "packets_per_frame",
                    (self.arrivals > 0).then(|| came as f64 / self.arrivals as f64),
                ),
                (
                    "frame_rate",
                    Some(self.arrivals as f64 / length * PER_SECOND),
                ),
                ("packet_rate", Some(came as f64 / length * PER_SECOND)),
                (
                    "wire_octets",
                    more.octets
                        .filter(|_| more.begun > 0)
                        .map(|octets| octets * self.busy as f64 / PER_SECOND / more.begun as f64),
                ),
                (
                    "carried_percent",
                    Some(100.0 * more.carried as f64 / more.duration as f64),
                ),
                ("queue_delay", mean(more.delays)),
                ("one_way_delay", mean(more.one_way_delays)),
                (
                    "average_queue",
                    (looks > 0).then(|| averages / looks as f64),
                ),
                ("crossing", more.above.map(|(first, _)| since(first))),
                ("settling", more.above.map(|(_, last)| since(last))),
            ]);
        }
        for (metric, value) in metrics {
            measurements.put(&of_window(metric, &self.name), value);
        }
    }
}

fn percent(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| 100.0 * part as f64 / whole as f64)
}
