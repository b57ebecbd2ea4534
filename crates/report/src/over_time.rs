//! Combines the time series of many trials: of links' queues, and of flows.

use std::collections::BTreeSet;

use analysis::statistics::{Mean, mean};
use plan::{Trial, UNKNOWN};
use serde_json::Value;

/// A quantity that changes during a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quantity {
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

/// Means over trials, by interval.
pub(crate) struct TimeSeries {
    /// The length of an interval in seconds; the last one may be shorter.
    pub(crate) interval: f64,
    /// `None`: no trial has a value.
    pub(crate) means: Vec<Option<Mean>>,
}

/// The values of one trial, by interval.
struct OfTrial {
    interval: f64,
    values: Vec<Option<f64>>,
}

impl Quantity {
    /// The evidence that has the quantity, by name of a link or a flow.
    const fn evidence(self) -> &'static str {
        match self {
            Self::Queue | Self::Average | Self::Drops => "series",
            Self::Goodput
            | Self::RoundTrip
            | Self::LongestRoundTrip
            | Self::Delay
            | Self::LongestDelay => "flow_series",
        }
    }

    /// The names of the links or flows of which trials may have the quantity.
    pub(crate) fn names<'a>(self, trials: impl Iterator<Item = &'a Trial>) -> BTreeSet<String> {
        let all = trials.filter_map(|trial| trial.evidence.object(self.evidence()));
        all.flat_map(|named| named.into_iter().map(|(name, _)| name))
            .collect()
    }
}

impl TimeSeries {
    /// The time series of a quantity of the link or flow `name` over `trials`, of at most
    /// `most` intervals; `None` if no trial has it.
    pub(crate) fn of<'a>(
        trials: impl Iterator<Item = &'a Trial>,
        name: &str,
        quantity: Quantity,
        most: usize,
    ) -> Option<Self> {
        let of_trial = |trial: &Trial| {
            let named = trial.evidence.get(quantity.evidence())?;
            OfTrial::of(named.get(name)?, quantity)
        };
        Self::combined(trials.filter_map(of_trial).collect(), most)
    }

    /// The goodput of all flows together; `None` if no trial has it.
    pub(crate) fn total<'a>(trials: impl Iterator<Item = &'a Trial>, most: usize) -> Option<Self> {
        let quantity = Quantity::Goodput;
        let of_trial = |trial: &Trial| {
            let flows = trial.evidence.object(quantity.evidence())?;
            let flows = flows.values();
            let flows = flows.filter_map(|flow| OfTrial::of(flow, quantity));
            flows.reduce(OfTrial::plus)
        };
        Self::combined(trials.filter_map(of_trial).collect(), most)
    }

    /// The starts of the intervals, and the end of the last one.
    pub(crate) fn instants(&self) -> Vec<f64> {
        let bounds = (0..=self.means.len()).map(|number| number as f64);
        // To a microsecond: 0.3 is 3 times 0.1.
        let rounded = |instant: f64| (instant * 1e6).round() / 1e6;
        bounds
            .map(|number| rounded(number * self.interval))
            .collect()
    }

    fn combined(trials: Vec<OfTrial>, most: usize) -> Option<Self> {
        let intervals = trials.iter().map(|trial| trial.interval);
        let interval = intervals.reduce(f64::max)?;
        let trials = trials.into_iter().map(|trial| trial.coarsened(interval));
        // The trials' values by interval.
        let mut values: Vec<Vec<f64>> = Vec::new();
        for trial in trials {
            values.resize_with(values.len().max(trial.len()), Vec::new);
            for (all, value) in values.iter_mut().zip(trial) {
                all.extend(value);
            }
        }
        // Merges neighbours if there are too many to distinguish.
        let together = values.len().div_ceil(most).max(1);
        let means = values.chunks(together);
        let means: Vec<Option<Mean>> = means.map(|chunk| mean(&chunk.concat())).collect();
        let interval = interval * together as f64;
        (!means.is_empty()).then_some(Self { interval, means })
    }
}

impl OfTrial {
    /// `None` if the trial does not have the quantity.
    fn of(named: &Value, quantity: Quantity) -> Option<Self> {
        let interval = named.get("interval_s")?.as_f64();
        let interval = interval.filter(|interval| *interval > 0.0)?;
        let numbers = |key: &str| -> Option<Vec<Option<f64>>> {
            let words = named.get(key)?.as_str()?.split_whitespace();
            let number = |word: &str| match word {
                UNKNOWN => None,
                word => word.parse().ok(),
            };
            Some(words.map(number).collect())
        };
        let values = match quantity {
            Quantity::Queue => numbers("queue"),
            Quantity::Average => numbers("average"),
            Quantity::Drops => {
                let rate = |(drops, arrivals): (Option<f64>, Option<f64>)| {
                    let arrivals = arrivals.filter(|arrivals| *arrivals > 0.0)?;
                    Some(100.0 * drops? / arrivals)
                };
                let pairs = numbers("drops")?.into_iter().zip(numbers("arrivals")?);
                Some(pairs.map(rate).collect())
            }
            Quantity::Goodput => {
                let octets = numbers("octets")?;
                let last = named.get("last_s").and_then(Value::as_f64);
                let last = last.filter(|last| *last > 0.0).unwrap_or(interval);
                let count = octets.len();
                let lengths = (1..=count).map(|place| if place == count { last } else { interval });
                let rates = octets.into_iter().zip(lengths);
                let rates = rates.map(|(octets, length)| Some(octets? * 8.0 / length / 1e6));
                Some(rates.collect())
            }
            Quantity::RoundTrip => numbers("rtt_ms"),
            Quantity::LongestRoundTrip => numbers("rtt_max_ms"),
            Quantity::Delay => numbers("delay_ms"),
            Quantity::LongestDelay => numbers("delay_max_ms"),
        };
        Some(Self {
            interval,
            values: values?,
        })
    }

    /// The sum with another flow of the same trial, whose intervals are the same.
    fn plus(mut self, other: Self) -> Self {
        let length = self.values.len().max(other.values.len());
        self.values.resize(length, None);
        for (sum, value) in self.values.iter_mut().zip(other.values) {
            *sum = match (*sum, value) {
                (Some(one), Some(other)) => Some(one + other),
                (one, other) => one.or(other),
            };
        }
        self
    }

    /// The values by intervals of length `interval`, a multiple of its own.
    fn coarsened(self, interval: f64) -> Vec<Option<f64>> {
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
                let known: Vec<f64> = chunk.iter().copied().flatten().collect();
                let sum: f64 = known.iter().sum();
                (!known.is_empty()).then(|| sum / known.len() as f64)
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use plan::synthetic::{factors, trial};
    use serde_json::json;

    const MOST: usize = 1_000;

    fn of_series(repeat: u32, queue: &str, drops: &str, arrivals: &str) -> Trial {
        let mut trial = trial(factors(1500), repeat, &[]);
        let series = json!({ "wire": {
            "interval_s": 0.5, "queue": queue, "drops": drops, "arrivals": arrivals,
        }});
        trial.evidence.insert("series", series);
        trial
    }

    fn of_flows(repeat: u32, flows: Value) -> Trial {
        let mut trial = trial(factors(1500), repeat, &[]);
        trial.evidence.insert("flow_series", flows);
        trial
    }

    fn means(series: &TimeSeries) -> Vec<Option<f64>> {
        let mean = |mean: &Option<Mean>| mean.map(|mean| mean.mean);
        series.means.iter().map(mean).collect()
    }

    #[test]
    fn each_interval_has_the_mean_of_the_trials_that_can_tell() {
        let trials = [
            of_series(1, "1 2 3", "0 1 0", "4 2 0"),
            of_series(2, "2 4 0.5", "1 0 0", "4 2 0"),
        ];
        let links = Quantity::Queue.names(trials.iter());
        assert_eq!(links, BTreeSet::from(["wire".to_owned()]));
        let of = |quantity| TimeSeries::of(trials.iter(), "wire", quantity, MOST);
        let queue = of(Quantity::Queue).unwrap();
        assert_eq!(means(&queue), [Some(1.5), Some(3.0), Some(1.75)]);
        assert_eq!(queue.instants(), [0.0, 0.5, 1.0, 1.5]);
        let drops = of(Quantity::Drops).unwrap();
        assert_eq!(means(&drops), [Some(12.5), Some(25.0), None]);
        assert!(of(Quantity::Average).is_none(), "drop-tail has none");
        assert!(TimeSeries::of(trials.iter(), "other", Quantity::Queue, MOST).is_none());
    }

    #[test]
    fn what_cannot_be_told_apart_is_drawn_together() {
        let long = "7 ".repeat(2 * MOST + 1);
        let trials = [of_series(1, &long, "", "")];
        let queue = TimeSeries::of(trials.iter(), "wire", Quantity::Queue, MOST).unwrap();
        assert_eq!(queue.means.len(), (2 * MOST + 1).div_ceil(3));
        assert_eq!(queue.instants()[1], 1.5);
        assert!(means(&queue).iter().all(|mean| *mean == Some(7.0)));
    }

    #[test]
    fn flows_have_rates_and_add_up() {
        let trials = [of_flows(
            1,
            json!({
                "bulk": { "interval_s": 0.1, "last_s": 0.05, "octets": "125000 0 12500",
                    "rtt_ms": "2 - 4", "rtt_max_ms": "3 - 5" },
                "talk": { "interval_s": 0.1, "last_s": 0.05, "octets": "12500 12500 0",
                    "delay_ms": "1 1.5 -", "delay_max_ms": "1 1.5 -" },
            }),
        )];
        let of = |name, quantity| TimeSeries::of(trials.iter(), name, quantity, MOST);
        let values = |name, quantity| means(&of(name, quantity).unwrap());
        let bulk = values("bulk", Quantity::Goodput);
        assert_eq!(bulk, [Some(10.0), Some(0.0), Some(2.0)]);
        let total = TimeSeries::total(trials.iter(), MOST).unwrap();
        assert_eq!(means(&total), [Some(11.0), Some(1.0), Some(2.0)]);
        let rtt = values("bulk", Quantity::RoundTrip);
        assert_eq!(rtt, [Some(2.0), None, Some(4.0)]);
        let longest = values("bulk", Quantity::LongestRoundTrip);
        assert_eq!(longest, [Some(3.0), None, Some(5.0)]);
        let delay = values("talk", Quantity::Delay);
        assert_eq!(delay, [Some(1.0), Some(1.5), None]);
        assert!(of("talk", Quantity::RoundTrip).is_none());
        assert!(of("bulk", Quantity::LongestDelay).is_none());
    }

    #[test]
    fn trials_with_other_intervals_are_averaged_over_the_longest() {
        let fine = json!({ "a": { "interval_s": 0.01, "octets": "10000 20000 30000 - 50000" }});
        let coarse = json!({ "a": { "interval_s": 0.02, "octets": "50000 60000 100000" }});
        let trials = [of_flows(1, fine), of_flows(2, coarse)];
        let goodput = TimeSeries::of(trials.iter(), "a", Quantity::Goodput, MOST).unwrap();
        assert_eq!(goodput.interval, 0.02);
        assert_eq!(means(&goodput), [Some(16.0), Some(24.0), Some(40.0)]);
    }

    #[test]
    fn hostile_series_are_not_drawn() {
        for flow in [
            json!({ "interval_s": 0, "octets": "1" }),
            json!({ "interval_s": "1", "octets": "1" }),
            json!({ "interval_s": 1, "octets": 1 }),
            json!([]),
        ] {
            let trials = [of_flows(1, json!({ "a": flow }))];
            assert!(TimeSeries::of(trials.iter(), "a", Quantity::Goodput, MOST).is_none());
        }
    }
}
