//! Evidence of the offset between the clocks of both ends.

use plan::Flag;
use proto::clock_offset::ClockLine;
use serde_json::{Value, json};
use units::Span;

use crate::measurements::Measurements;

/// The metrics that contain a difference of both clocks once: one-way delays in
/// milliseconds, and parts of a round trip in microseconds.
const ONE_WAY: [(&str, f64); 6] = [
    ("delay", 1e6),
    ("delay_p99", 1e6),
    ("latency", 1e6),
    ("latency_ditg", 1e6),
    ("there_wire", 1e3),
    ("back_wire", 1e3),
];

impl Measurements {
    /// Adds the line by which delays were corrected, if the ends have different clocks.
    /// Slews in between widen its bound.
    pub(super) fn take_clock_line(&mut self, line: Option<&ClockLine>, slewed: Span) {
        if let Some(line) = line {
            self.note("clock_drift_us", json!(micros(line.drift().unsigned_abs())));
            self.take_clock_bound(Some(line.bound()), slewed);
        }
    }

    /// Adds the bound of the clocks' offset in nanoseconds, if the ends have different
    /// clocks, widened by slews of the clocks since it was found. No one-way delay is more
    /// accurate, and one below the bound is flagged.
    pub(super) fn take_clock_bound(&mut self, bound: Option<u64>, slewed: Span) {
        let Some(bound) = bound else { return };
        let bound = bound.saturating_add(slewed.as_nanos());
        self.note("clock_slew_us", json!(micros(slewed.as_nanos())));
        self.note("clock_bound_us", json!(micros(bound)));
        let unit = |name: &str| {
            let base = name.split('/').next().unwrap_or(name);
            let found = ONE_WAY.iter().find(|(metric, _)| *metric == base);
            found.map(|(_, nanos)| *nanos)
        };
        let named = self.metrics.iter();
        let one_way: Vec<(String, f64, f64)> = named
            .filter_map(|(name, value)| Some((name.clone(), *value, bound as f64 / unit(name)?)))
            .collect();
        for (name, value, bound) in one_way {
            let key = format!("resolution_{name}");
            let known = self.evidence.get(&key).and_then(Value::as_f64);
            self.note(&key, json!(known.unwrap_or(0.0).max(bound)));
            if value.abs() < bound && !self.flags.contains(&Flag::ClocksApart) {
                self.flags.push(Flag::ClocksApart);
            }
        }
    }
}

fn micros(nanos: u64) -> f64 {
    nanos as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use proto::clock_offset::{ClockEstimate, ClockOffset};

    use super::*;

    fn line(bounds: [u64; 2]) -> ClockLine {
        let estimate = |at, nanos, bound| ClockEstimate {
            at,
            offset: ClockOffset { nanos, bound },
        };
        ClockLine {
            before: estimate(1_000, -5_000, bounds[0]),
            after: estimate(2_000, -9_000, bounds[1]),
        }
    }

    #[test]
    fn no_delay_is_finer_than_the_bound_of_the_clocks() {
        let mut measurements = Measurements::default();
        measurements.put("delay", Some(2.0));
        measurements.put("delay/small", Some(0.03));
        measurements.put("rtt", Some(0.01));
        measurements.note("resolution_delay", json!(0.5));
        measurements.take_clock_line(Some(&line([20_000, 40_000])), Span::ZERO);
        let evidence = |name: &str| measurements.evidence.get(name).and_then(Value::as_f64);
        assert_eq!(evidence("clock_bound_us"), Some(40.0));
        assert_eq!(evidence("clock_drift_us"), Some(4.0));
        assert_eq!(evidence("resolution_delay"), Some(0.5), "it was coarser");
        assert_eq!(evidence("resolution_delay/small"), Some(0.04));
        assert_eq!(evidence("resolution_rtt"), None, "of one clock");
        assert_eq!(measurements.flags, [Flag::ClocksApart]);
    }

    #[test]
    fn a_slew_widens_the_bound_and_with_it_the_resolution() {
        let mut measurements = Measurements::default();
        measurements.put("delay", Some(0.05));
        let slewed = Span::from_micros(30);
        measurements.take_clock_line(Some(&line([20_000, 40_000])), slewed);
        assert_eq!(measurements.evidence["clock_bound_us"], 70.0);
        assert_eq!(measurements.evidence["clock_slew_us"], 30.0);
        assert_eq!(measurements.evidence["resolution_delay"], 0.07);
        assert_eq!(measurements.flags, [Flag::ClocksApart]);
    }

    #[test]
    fn ends_with_one_clock_have_no_such_evidence() {
        let mut measurements = Measurements::default();
        measurements.put("delay", Some(0.0));
        measurements.take_clock_line(None, Span::from_secs(1));
        assert!(measurements.evidence.is_empty() && measurements.flags.is_empty());
    }
}
