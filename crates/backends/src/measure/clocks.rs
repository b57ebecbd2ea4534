//! Evidence of the offset between the clocks of both ends.

use meter::clock_offset::ClockLine;
use meter::latency_breakdown::Part;
use plan::metric::{self, Metric, part_metric};
use plan::{Flag, evidence};
use units::Span;

use crate::measurements::Measurements;

/// The metrics that contain a difference of both clocks once, with the nanoseconds of their
/// unit: one-way delays in milliseconds, and parts of a round trip in microseconds.
fn one_way() -> [(&'static Metric, f64); 6] {
    [
        (&metric::DELAY, 1e6),
        (&metric::DELAY_P99, 1e6),
        (&metric::LATENCY, 1e6),
        (&metric::LATENCY_DITG, 1e6),
        (part_metric(Part::ThereWire), 1e3),
        (part_metric(Part::BackWire), 1e3),
    ]
}

impl Measurements {
    /// Adds the line by which delays were corrected, if the ends have different clocks.
    /// Slews in between widen its bound.
    pub(super) fn take_clock_line(&mut self, line: Option<&ClockLine>, slewed: Span) {
        if let Some(line) = line {
            self.note(
                evidence::CLOCK_DRIFT_US,
                micros(line.drift().unsigned_abs()),
            );
            self.take_clock_bound(Some(line.bound()), slewed);
        }
    }

    /// Adds the bound of the clocks' offset in nanoseconds, if the ends have different
    /// clocks, widened by slews of the clocks since it was found. No one-way delay is more
    /// accurate, and one below the bound is flagged.
    pub(super) fn take_clock_bound(&mut self, bound: Option<u64>, slewed: Span) {
        let Some(bound) = bound else { return };
        let bound = bound.saturating_add(slewed.as_nanos());
        self.note(evidence::CLOCK_SLEW_US, micros(slewed.as_nanos()));
        self.note(evidence::CLOCK_BOUND_US, micros(bound));
        let one_way = one_way();
        for (name, value) in self.metrics.clone() {
            let Some(metric) = Metric::named(name) else {
                continue;
            };
            let found = one_way.iter().find(|(one, _)| one.name == metric.base());
            let Some((_, nanos)) = found else { continue };
            let bound = bound as f64 / nanos;
            let fact = evidence::resolution(metric);
            let known = self.evidence.get(fact);
            self.note(fact, known.unwrap_or(0.0).max(bound));
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
    use meter::clock_offset::{ClockEstimate, ClockOffset};

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
        measurements.put(&metric::DELAY, Some(2.0));
        measurements.put(metric::of_flow(&metric::DELAY, "small"), Some(0.03));
        measurements.put(&metric::RTT, Some(0.01));
        measurements.note(evidence::resolution(&metric::DELAY), 0.5);
        measurements.take_clock_line(Some(&line([20_000, 40_000])), Span::ZERO);
        let evidence = |name: &str| measurements.evidence[name].as_f64();
        assert_eq!(evidence("clock_bound_us"), Some(40.0));
        assert_eq!(evidence("clock_drift_us"), Some(4.0));
        assert_eq!(evidence("resolution_delay"), Some(0.5), "it was coarser");
        assert_eq!(evidence("resolution_delay/small"), Some(0.04));
        let of_one_clock = evidence::resolution(&metric::RTT);
        assert_eq!(measurements.evidence.get(of_one_clock), None);
        assert_eq!(measurements.flags, [Flag::ClocksApart]);
    }

    #[test]
    fn a_slew_widens_the_bound_and_with_it_the_resolution() {
        let mut measurements = Measurements::default();
        measurements.put(&metric::DELAY, Some(0.05));
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
        measurements.put(&metric::DELAY, Some(0.0));
        measurements.take_clock_line(None, Span::from_secs(1));
        assert!(measurements.evidence.is_empty() && measurements.flags.is_empty());
    }
}
