//! Time series of many trials: of links' queues, and of flows.

use plan::UNKNOWN;
use plan::evidence::{FlowSeries, LinkSeries};

use crate::statistics::{Mean, mean};

/// A quantity that changes during a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Quantity {
    /// Waiting packets.
    Queue,
    /// The queue average of a discipline.
    Average,
    /// The share of dropped packets in per cent.
    Drops,
    /// Payload in Mbit/s.
    Goodput,
    /// The mean round trip in milliseconds.
    RoundTrip,
    /// The longest round trip in milliseconds.
    LongestRoundTrip,
    /// The mean one-way delay in milliseconds.
    Delay,
    /// The longest one-way delay in milliseconds.
    LongestDelay,
}

/// The object that a time series describes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Subject {
    Links,
    Flows,
}

/// The evidence of a link or of a flow.
#[derive(Clone, Copy)]
pub(super) enum SeriesSource<'a> {
    Link(&'a LinkSeries),
    Flow(&'a FlowSeries),
}

/// How fine a time series is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolution {
    /// Every interval that trials have.
    Full,
    /// At most 1000 intervals: more are indistinguishable in a plot and enlarge a page.
    Plot,
    /// At most 250 intervals, for small plots of many lines.
    Panel,
}

/// Means over trials, by interval.
#[derive(Clone)]
pub struct TimeSeries {
    /// The length of an interval in seconds; the last one may be shorter.
    pub interval: f64,
    /// `None`: no trial has a value.
    pub means: Vec<Option<Mean>>,
}

/// A time series in each resolution.
pub(super) struct Resolved {
    full: TimeSeries,
    /// `None`: as [`Self::full`].
    plot: Option<TimeSeries>,
    /// `None`: as [`Self::full`].
    panel: Option<TimeSeries>,
}

/// The values of one trial, by interval.
#[derive(Clone)]
pub(super) struct TrialSeries {
    interval: f64,
    /// NaN: unknown.
    values: Vec<f64>,
}

impl Quantity {
    /// All of them.
    pub(super) const ALL: [Self; 8] = [
        Self::Queue,
        Self::Average,
        Self::Drops,
        Self::Goodput,
        Self::RoundTrip,
        Self::LongestRoundTrip,
        Self::Delay,
        Self::LongestDelay,
    ];

    /// Whose quantity it is.
    pub(super) const fn subject(self) -> Subject {
        match self {
            Self::Queue | Self::Average | Self::Drops => Subject::Links,
            Self::Goodput
            | Self::RoundTrip
            | Self::LongestRoundTrip
            | Self::Delay
            | Self::LongestDelay => Subject::Flows,
        }
    }
}

impl Resolution {
    /// The most intervals.
    const fn most(self) -> usize {
        match self {
            Self::Full => usize::MAX,
            Self::Plot => 1000,
            Self::Panel => 250,
        }
    }
}

impl TimeSeries {
    /// The starts of the intervals, and the end of the last one.
    pub fn instants(&self) -> Vec<f64> {
        let bounds = (0..=self.means.len()).map(|number| number as f64);
        // To a microsecond: 0.3 is 3 times 0.1.
        let rounded = |instant: f64| (instant * 1e6).round() / 1e6;
        bounds
            .map(|number| rounded(number * self.interval))
            .collect()
    }

    /// The means of `values` by interval of a length in seconds; `None` where `resolution`
    /// has room for all intervals, because they are then those of [`Resolution::Full`].
    fn of(interval: f64, values: &[Vec<f64>], resolution: Resolution) -> Option<Self> {
        // Merges neighbours if there are too many to distinguish.
        let together = values.len().div_ceil(resolution.most());
        let is_full = resolution == Resolution::Full;
        if together <= 1 && !is_full {
            return None;
        }
        let chunks = values.chunks(together.max(1));
        let means = chunks.map(|chunk| match chunk {
            [values] => mean(values),
            _ => mean(&chunk.concat()),
        });
        Some(Self {
            interval: interval * together.max(1) as f64,
            means: means.collect(),
        })
    }
}

impl Resolved {
    /// The means over `trials`; `None` without a value.
    pub(super) fn of(trials: Vec<TrialSeries>) -> Option<Self> {
        let intervals = trials.iter().map(|trial| trial.interval);
        let interval = intervals.reduce(f64::max)?;
        // The trials' values by interval.
        let mut values: Vec<Vec<f64>> = Vec::new();
        for trial in trials {
            let trial = trial.coarsened(interval);
            values.resize_with(values.len().max(trial.len()), Vec::new);
            for (all, value) in values.iter_mut().zip(trial) {
                if !value.is_nan() {
                    all.push(value);
                }
            }
        }
        let of = |resolution| TimeSeries::of(interval, &values, resolution);
        let full = of(Resolution::Full).filter(|full| !full.means.is_empty())?;
        Some(Self {
            full,
            plot: of(Resolution::Plot),
            panel: of(Resolution::Panel),
        })
    }

    pub(super) fn at(&self, resolution: Resolution) -> &TimeSeries {
        let coarser = match resolution {
            Resolution::Full => None,
            Resolution::Plot => self.plot.as_ref(),
            Resolution::Panel => self.panel.as_ref(),
        };
        coarser.unwrap_or(&self.full)
    }
}

impl TrialSeries {
    /// `None` if the trial does not have the quantity.
    pub(super) fn of(kept: SeriesSource<'_>, quantity: Quantity) -> Option<Self> {
        let interval = match kept {
            SeriesSource::Link(link) => link.interval_s,
            SeriesSource::Flow(flow) => flow.interval_s,
        };
        let values = match kept {
            SeriesSource::Link(link) => of_link(link, quantity),
            SeriesSource::Flow(flow) => of_flow(flow, quantity),
        };
        let values = values.filter(|_| interval > 0.0)?;
        Some(Self { interval, values })
    }

    /// The sum with another flow of the same trial, whose intervals are the same.
    pub(super) fn plus(mut self, other: &Self) -> Self {
        let length = self.values.len().max(other.values.len());
        self.values.resize(length, f64::NAN);
        for (sum, &value) in self.values.iter_mut().zip(&other.values) {
            *sum = match (sum.is_nan(), value.is_nan()) {
                (false, false) => *sum + value,
                (false, true) => *sum,
                (true, _) => value,
            };
        }
        self
    }

    /// The values by intervals of length `interval`, a multiple of its own.
    fn coarsened(self, interval: f64) -> Vec<f64> {
        let ratio = (interval / self.interval).round();
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "at least one, and a huge one saturates"
        )]
        let together = (ratio as usize).max(1);
        if together == 1 {
            return self.values;
        }
        let chunks = self.values.chunks(together);
        chunks
            .map(|chunk| {
                let known: Vec<f64> = chunk
                    .iter()
                    .copied()
                    .filter(|value| !value.is_nan())
                    .collect();
                // NaN if none is known.
                known.iter().sum::<f64>() / known.len() as f64
            })
            .collect()
    }
}

fn of_link(link: &LinkSeries, quantity: Quantity) -> Option<Vec<f64>> {
    match quantity {
        Quantity::Queue => numbers(&link.queue),
        Quantity::Average => numbers(&link.average),
        Quantity::Drops => {
            let rate = |(drops, arrivals): (f64, f64)| match arrivals > 0.0 {
                true => 100.0 * drops / arrivals,
                false => f64::NAN,
            };
            let pairs = numbers(&link.drops)?.into_iter();
            Some(pairs.zip(numbers(&link.arrivals)?).map(rate).collect())
        }
        _ => None,
    }
}

fn of_flow(flow: &FlowSeries, quantity: Quantity) -> Option<Vec<f64>> {
    match quantity {
        Quantity::Goodput => goodput(flow),
        Quantity::RoundTrip => numbers(&flow.rtt_ms),
        Quantity::LongestRoundTrip => numbers(&flow.rtt_max_ms),
        Quantity::Delay => numbers(&flow.delay_ms),
        Quantity::LongestDelay => numbers(&flow.delay_max_ms),
        _ => None,
    }
}

/// The payload in Mbit/s.
fn goodput(flow: &FlowSeries) -> Option<Vec<f64>> {
    let mut bytes = numbers(&flow.bytes)?;
    let last = flow.last_s.filter(|last| *last > 0.0);
    if let Some((end, whole)) = bytes.split_last_mut() {
        let rate = |bytes: f64, length| bytes * 8.0 / length / 1e6;
        whole
            .iter_mut()
            .for_each(|value| *value = rate(*value, flow.interval_s));
        *end = rate(*end, last.unwrap_or(flow.interval_s));
    }
    Some(bytes)
}

/// The numbers of a text; NaN: unknown.
fn numbers(text: &Option<String>) -> Option<Vec<f64>> {
    let number = |word: &str| match word {
        UNKNOWN => f64::NAN,
        word => word.parse().unwrap_or(f64::NAN),
    };
    let words = text.as_ref()?.split_ascii_whitespace();
    Some(words.map(number).collect())
}
