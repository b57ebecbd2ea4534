//! The passes of a trial of transfers, and the values that each supplies.

use plan::DisturbedPass;
use plan::evidence;
use plan::metric::{self, Metric};

use super::disturbance::Disturbance;
use crate::measurements::Measurements;

/// A pass of a trial of transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pass {
    /// Bulk data through a drained bucket, for goodput.
    Throughput,
    /// The traffic on an idle path, for delays.
    Delay,
    /// The traffic with echoes, for round-trip times.
    RoundTrip,
    /// The transfer that is long enough for the CPU meters.
    Cpu,
}

/// The metrics of the pass with echoes.
const OF_ROUND_TRIP: [&str; 2] = [metric::RTT.name, metric::ECHO_TIME.name];

/// The metrics of the long transfer, besides those of CPUs.
const OF_CPU: [&str; 3] = [
    metric::THROUGHPUT_LONG.name,
    metric::RETRANSMITTED_LONG.name,
    metric::ENERGY.name,
];

/// The evidence that one pass supplies, besides that of CPUs.
const EVIDENCE: [(Pass, &[&str]); 4] = [
    (
        Pass::Throughput,
        &[
            evidence::GOODPUT_AFTER_WARMUP_MBIT.name(),
            evidence::COUNTED_BYTES.name(),
            evidence::GOODPUT_LATE_PERCENT.name(),
            evidence::FLOW_SERIES.name(),
        ],
    ),
    (
        Pass::Delay,
        &[
            evidence::CLOCK_BOUND_US.name(),
            evidence::CLOCK_DRIFT_US.name(),
            evidence::CLOCK_SLEW_US.name(),
            evidence::NEGATIVE_DELAYS.name(),
            evidence::REORDERED.name(),
            evidence::SEND_BUFFER.name(),
            evidence::RECEIVE_BUFFER.name(),
            evidence::CONGESTION.name(),
            evidence::SEGMENT_SIZE.name(),
            evidence::DELAY_QUANTILES.name(),
        ],
    ),
    (
        Pass::RoundTrip,
        &[evidence::ECHOES.name(), evidence::RTT_QUANTILES.name()],
    ),
    (Pass::Cpu, &[evidence::RUN_QUEUE_WAIT_PERCENT.name()]),
];

impl Pass {
    /// The name of the pass in journals.
    const fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Delay => "delay",
            Self::RoundTrip => "round-trip",
            Self::Cpu => "cpu",
        }
    }

    /// The pass that supplies the metric `name`.
    fn of_metric(name: &str) -> Self {
        let of_window = || Metric::named(name).is_some_and(Metric::is_of_window);
        match name {
            _ if name == metric::THROUGHPUT.name => Self::Throughput,
            _ if OF_ROUND_TRIP.contains(&name) => Self::RoundTrip,
            _ if OF_CPU.contains(&name) || name.starts_with("cpu_") => Self::Cpu,
            _ if of_window() => Self::Throughput,
            _ => Self::Delay,
        }
    }

    /// The pass that supplies the evidence `name`; `None`: all passes together,
    /// or none.
    fn of_evidence(name: &str) -> Option<Self> {
        if let Some(metric) = evidence::metric_of_resolution(name) {
            return Some(Self::of_metric(metric));
        }
        let listed = EVIDENCE.iter().find(|(_, names)| names.contains(&name));
        match listed {
            Some((pass, _)) => Some(*pass),
            None => name.starts_with("cpu_").then_some(Self::Cpu),
        }
    }

    /// The metrics and the evidence among `measurements` that the pass supplies.
    fn values(self, measurements: &Measurements) -> Vec<String> {
        let metrics = measurements.metrics.keys().copied();
        let metrics = metrics.filter(|name| Self::of_metric(name) == self);
        let evidence = measurements.evidence.names();
        let evidence = evidence.filter(|name| Self::of_evidence(name) == Some(self));
        metrics.chain(evidence).map(str::to_owned).collect()
    }
}

impl Measurements {
    /// Flags the passes that were disturbed, and leaves out the values of those
    /// that have no valid ones. Returns whether a valid metric remains.
    pub(super) fn judge_each(&mut self, each: &[(Pass, Disturbance)]) -> bool {
        let mut passes = Vec::new();
        for (pass, disturbance) in each {
            let Some(reason) = disturbance.reason() else {
                continue;
            };
            let values = pass.values(self);
            if disturbance.invalid.is_some() {
                for name in &values {
                    self.metrics.remove(name.as_str());
                    self.evidence.remove(name);
                }
            }
            passes.push(DisturbedPass {
                pass: pass.name().to_owned(),
                reason,
                values,
                replaced_by: None,
            });
        }
        self.disturbed_by(passes);
        !self.metrics.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::synthetic::{disturbance, passes};

    #[test]
    fn every_pass_is_judged_by_itself() {
        let of = |pass, change: fn(&mut Disturbance)| {
            let mut one = disturbance();
            change(&mut one);
            let mut measurements = Measurements::of(&passes());
            let remains = measurements.judge_each(&[(pass, one), (Pass::Cpu, disturbance())]);
            (measurements, remains)
        };
        let (late, remains) = of(Pass::Delay, |pass| pass.invalid = Some("late".into()));
        assert!(remains, "the throughput");
        assert!(late.metrics.contains_key("throughput") && late.metrics.contains_key("cpu_total"));
        assert!(!late.metrics.contains_key("delay") && !late.metrics.contains_key("jitter"));
        let [pass] = &late.disturbed[..] else {
            panic!("{:?}", late.disturbed);
        };
        assert_eq!(
            (pass.pass.as_str(), pass.reason.as_str()),
            ("delay", "late")
        );
        assert!(pass.values.iter().any(|name| name == "resolution_delay"));

        let (busy, _) = of(Pass::Throughput, |pass| pass.machine.running = Some(1));
        assert!(busy.metrics.contains_key("throughput"), "kept, and flagged");
        let values = &busy.disturbed[0].values;
        assert!(values.iter().any(|name| name == "throughput"));
        assert!(
            values
                .iter()
                .all(|name| name != "delay" && name != "cpu_total")
        );

        let (quiet, _) = of(Pass::Throughput, |_| {});
        assert_eq!((quiet.disturbed, quiet.flags), (Vec::new(), Vec::new()));
    }
}
