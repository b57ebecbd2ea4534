//! The quantities of a trial to which costs are fitted.

use plan::Trial;
use plan::evidence::{self, Fact};
use plan::metric::{self, Metric};

use crate::statistics::Interval;

/// A quantity of a trial, and the cost that it states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quantity {
    /// The name of the metric, or of the evidence, in trials and tables.
    pub name: &'static str,
    /// Its meaning, in words.
    pub words: &'static str,
    pub unit: &'static str,
    /// The evidence, if it is no metric.
    evidence: Option<Fact<f64>>,
    scale: Scale,
}

/// How a quantity follows from seconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Scale {
    /// Mbit/s, the inverse of the time of a byte.
    Rate,
    /// Seconds for 10^9 bytes.
    Gigabyte,
    /// Milliseconds that are no cost of a byte: of a round trip behind bytes in flight.
    Millis,
}

const fn of_metric(metric: &Metric, words: &'static str, scale: Scale) -> Quantity {
    Quantity {
        name: metric.name,
        words,
        unit: metric.unit,
        evidence: None,
        scale,
    }
}

/// CPU seconds per 10^9 bytes.
const fn of_evidence(fact: Fact<f64>, words: &'static str) -> Quantity {
    Quantity {
        name: fact.name(),
        words,
        unit: "s/GB",
        evidence: Some(fact),
        scale: Scale::Gigabyte,
    }
}

/// The goodput.
pub const THROUGHPUT: Quantity = of_metric(&metric::THROUGHPUT, "throughput", Scale::Rate);

/// All quantities, the first of which decides whether there is anything to fit.
pub const QUANTITIES: [Quantity; 7] = [
    THROUGHPUT,
    of_metric(&metric::CPU_TOTAL, "CPU, whole machine", Scale::Gigabyte),
    of_evidence(evidence::CPU_SENDER_SECONDS_PER_GIGABYTE, "CPU, sender"),
    of_evidence(evidence::CPU_RECEIVER_SECONDS_PER_GIGABYTE, "CPU, receiver"),
    of_metric(
        &metric::CPU_SOFTIRQ,
        "CPU, softirq and router",
        Scale::Gigabyte,
    ),
    of_metric(&metric::RTT_TCP, "round trip, TCP", Scale::Millis),
    of_metric(&metric::RTT, "round trip, messages", Scale::Millis),
];

impl Quantity {
    /// The quantity of this name.
    pub fn named(name: &str) -> Option<Self> {
        QUANTITIES.into_iter().find(|one| one.name == name)
    }

    /// The value of a finished trial, if it has one above zero.
    pub fn of(&self, trial: &Trial) -> Option<f64> {
        let value = match self.evidence {
            Some(fact) => trial.number(fact),
            None => trial.metrics.get(self.name).copied(),
        };
        value.filter(|value| *value > 0.0 && value.is_finite())
    }

    /// The cost in seconds that a value states.
    pub fn seconds(&self, value: f64) -> f64 {
        match self.scale {
            Scale::Rate => 8e-6 / value,
            Scale::Gigabyte => 1e-9 * value,
            Scale::Millis => 1e-3 * value,
        }
    }

    /// The value of a cost in seconds.
    pub fn value(&self, seconds: f64) -> f64 {
        match self.scale {
            // The formula is its own inverse.
            Scale::Rate => 8e-6 / seconds,
            Scale::Gigabyte => 1e9 * seconds,
            Scale::Millis => 1e3 * seconds,
        }
    }

    /// The values of an interval of costs. A rate has no upper bound where the cost may
    /// be zero.
    pub fn interval(&self, Interval { low, high }: Interval) -> Interval {
        let [one, other] = [self.value(low), self.value(high)];
        match self.scale {
            Scale::Rate if low <= 0.0 => Interval {
                low: other,
                high: f64::INFINITY,
            },
            Scale::Rate => Interval {
                low: other,
                high: one,
            },
            Scale::Gigabyte | Scale::Millis => Interval {
                low: one,
                high: other,
            },
        }
    }

    /// Whether it is the time of bytes, so that a link's time for them is part of it.
    pub fn is_rate(&self) -> bool {
        self.scale == Scale::Rate
    }

    /// Whether the fitted costs are seconds of packets and bytes.
    pub fn is_cost(&self) -> bool {
        self.scale != Scale::Millis
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_follow_from_the_costs_that_they_state() {
        for quantity in QUANTITIES {
            let value = quantity.value(quantity.seconds(750.94));
            assert!((value - 750.94).abs() < 1e-9, "{quantity:?}");
            assert_eq!(Quantity::named(quantity.name), Some(quantity));
        }
        let [rate, cpu] = [QUANTITIES[0], QUANTITIES[1]];
        assert!((rate.seconds(1000.0) - 8e-9).abs() < 1e-20);
        assert!((cpu.seconds(2.0) - 2e-9).abs() < 1e-20);
    }

    #[test]
    fn a_cost_that_may_be_zero_sets_no_upper_bound_to_the_rate() {
        let rate = QUANTITIES[0];
        let found = rate.interval(Interval {
            low: -1e-9,
            high: 8e-9,
        });
        assert!((found.low - 1000.0).abs() < 1e-9 && found.high.is_infinite());
        let found = rate.interval(Interval {
            low: 4e-9,
            high: 8e-9,
        });
        assert!((found.high - 2000.0).abs() < 1e-9);
    }
}
